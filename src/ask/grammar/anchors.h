/* SPDX-License-Identifier: MIT */
/*
 * The search for the places that a question names: where it is asked from, and the ends of its range.
 *
 * A place like `previous write X` may be as far away as anything that is asked for, so it is found in slices,
 * too.
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
 * Go on.  Without a budget, only those are found that need no search.
 *
 * Returns TS_GOT_ROW when the question's at, from and to are positions.  Returns TS_GOT_PENDING if the budget
 * was used up. Returns TS_GOT_FAIL if a place does not exist, or the range is empty (TS_EUSAGE), the trace cannot
 * be read, or memory is exhausted.
 */
enum ts_got ts_anchors_find(struct ts_anchors *a, struct ts_budget *budget, struct ts_error *err);

/* As a cursor's: up to where has been searched, and how many positions were read to prepare that. */
uint64_t ts_anchors_at(const struct ts_anchors *a);
uint64_t ts_anchors_prepared(const struct ts_anchors *a);

#endif
