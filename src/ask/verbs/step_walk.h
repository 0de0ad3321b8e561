/* SPDX-License-Identifier: MIT */
/*
 * The positions of the steps that a question about code selects: by address, thread and range of positions.
 */
#ifndef TS_ASK_STEP_WALK_H
#define TS_ASK_STEP_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ask/grammar/machine.h"
#include "src/query/query.h"
#include "src/search/budget.h"

struct ts_ask;
struct ts_question;

/* Members are private. */
struct ts_step_walk {
	struct ts_query *q;    /* borrowed */
	uint32_t process;      /* of addresses */
	uint32_t thread;       /* only its steps; TS_NO_THREAD: the steps of all threads */
	bool has_addresses;    /* only steps with a pc in [first, last] */
	uint64_t first, last;
	uint64_t from, to;     /* remaining positions: from <= k < to */
	bool is_reverse;
	bool is_dense;         /* the last two positions were close to each other */
	struct ts_machine machine; /* only positions of this process and ring */
	struct ts_machine_at at;
	unsigned n_looked;     /* steps and look-ups not charged to the budget yet */
};

/* A walk over the steps that WHAT, in A:B and thread T of @qn select; without WHAT over all steps. */
void ts_step_walk_init(struct ts_step_walk *w, const struct ts_ask *ask, const struct ts_question *qn,
		       bool is_reverse);

/*
 * Set *pos to the next position in the direction of the walk.
 *
 * Returns TS_ITEM on success.
 * Returns TS_END after the last position.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
enum ts_next ts_step_walk_next(struct ts_step_walk *w, uint64_t *pos, struct ts_budget *budget, struct ts_error *err);

#endif
