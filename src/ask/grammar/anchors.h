/* SPDX-License-Identifier: MIT */
/*
 * The search for the positions that a question names: its `at`, and the ends of its range.
 *
 * A place such as `previous write X` may be far away, so the search works in slices.
 */
#ifndef TS_ASK_ANCHORS_H
#define TS_ASK_ANCHORS_H

#include <stdbool.h>

#include "seek.h"
#include "src/ask/verb.h"

struct ts_anchors {
	struct ts_question *qn; /* borrowed */
	struct ts_ask *ask;     /* borrowed */
	unsigned at;            /* the next one to find */
	bool is_seeking;
	struct ts_seek seek;
};

void ts_anchors_init(struct ts_anchors *a, struct ts_ask *ask, struct ts_question *qn);
void ts_anchors_fini(struct ts_anchors *a);

/*
 * Continue the search.  If @budget is NULL, only places that need no search are resolved.
 *
 * Returns TS_ITEM when the question's at, from and to are positions.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if a place does not exist, or the range is empty (TS_EUSAGE).
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_anchors_find(struct ts_anchors *a, struct ts_budget *budget, struct ts_error *err);

/* The position up to which has been searched, and the number of positions that were read in preparation. */
uint64_t ts_anchors_at(const struct ts_anchors *a);
uint64_t ts_anchors_prepared(const struct ts_anchors *a);

/*
 * Parse @text, a range A:B outside a question, to the positions [*from, *to).  The ends are PLACEs without blanks; either may be missing, as in
 * questions.
 *
 * Returns false if the range is not understood, or empty (TS_EUSAGE), if the trace cannot be read, or if memory is
 * exhausted.
 */
bool ts_range_find(struct ts_ask *ask, const char *text, uint64_t *from, uint64_t *to, struct ts_error *err);

#endif
