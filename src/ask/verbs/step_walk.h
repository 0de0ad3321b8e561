/* SPDX-License-Identifier: MIT */
/*
 * The positions of the steps that a question about code selects: by address, thread, range of positions and condition.
 */
#ifndef TS_ASK_STEP_WALK_H
#define TS_ASK_STEP_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ask/grammar/machine.h"
#include "src/ask/grammar/state.h"
#include "src/ask/grammar/what.h"
#include "src/ask/verb.h"

/* Addresses of code, and the nearest step there that was found. */
struct ts_step_range {
	uint64_t first, last;
	uint64_t pos; /* TS_NO_POS: no step is left */
	bool is_asked;
};

/* Members are private. */
struct ts_step_walk {
	struct ts_rows *rows;  /* borrowed: the cursor that shows the steps */
	struct ts_query *q;    /* borrowed */
	uint32_t process;      /* of addresses */
	uint32_t thread;       /* only its steps; TS_NO_THREAD: the steps of all threads */
	bool has_addresses;    /* only steps with a pc in one of the ranges */
	bool is_of_entry;      /* of a function only its first instruction; ts_step_walk_init() does not set it */
	struct ts_what what;   /* while it is an indirect function, the ranges are not those of the function that runs */
	struct ts_step_range *ranges; /* owned */
	size_t n_ranges;
	uint64_t from, to;     /* remaining positions: from <= k < to */
	bool is_dense;         /* the last two positions were close to each other */
	struct ts_machine machine; /* only positions of this process and ring */
	struct ts_machine_at at;
	unsigned n_looked;     /* steps and look-ups not charged to the budget yet */
	uint64_t pos;          /* the step that is being judged; TS_NO_POS: none is */
	struct ts_judged judged;
};

/*
 * A walk over the steps that WHAT, in A:B, thread T and if COND of the question of @rows select, in its direction; without WHAT
 * over all steps.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).  Call ts_step_walk_fini() in both cases.
 */
bool ts_step_walk_init(struct ts_step_walk *w, struct ts_rows *rows, struct ts_error *err);
void ts_step_walk_fini(struct ts_step_walk *w);

/*
 * Set *pos to the next position in the direction of the walk.  The position of the rows follows.
 *
 * Returns TS_ITEM on success.
 * Returns TS_END after the last position.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
enum ts_next ts_step_walk_next(struct ts_step_walk *w, uint64_t *pos, struct ts_budget *budget, struct ts_error *err);

#endif
