/* SPDX-License-Identifier: MIT */
/*
 * A recording that a test makes up and has compared with another one.
 */
#ifndef TESTS_DIFF_CASE_H
#define TESTS_DIFF_CASE_H

#include <stdbool.h>

#include "script.h"
#include "src/ask/verb.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

struct opened {
	struct script *s;
	struct ts_timeline *tl;
	struct ts_query *q;
	bool has_digests; /* of its chunks */
};

/* Read the script, which is there, to its end. */
void open_script(struct opened *o);
void fini(struct opened *o);

/* The cursor of all differences, those by nature, too.  @a and @b must outlive it; one at a time. */
struct ts_rows *open_diff(struct ts_query *a, struct ts_query *b, bool is_rebased, struct ts_error *err);

/* The next row to @row, which is empty; false after the last. */
bool next_row(struct ts_rows *d, struct ts_row *row);

#endif
