/* SPDX-License-Identifier: MIT */
/*
 * The state at a position for questions: conditions, the question's process and thread.
 */
#ifndef TS_ASK_STATE_H
#define TS_ASK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cond.h"
#include "src/ask/verb.h"

/*
 * The process of the question: the process of its thread, or else of the thread that runs at the question's
 * position.
 */
uint32_t ts_ask_process(const struct ts_ask *ask, const struct ts_question *qn);

/* The thread of the question, whose registers it concerns. */
uint32_t ts_ask_thread(const struct ts_ask *ask, const struct ts_question *qn);

/* A search in slices; zero at first. */
struct ts_activation_search {
	uint64_t from;  /* positions before it have been searched */
	bool has_begun; /* the thread has executed the instruction of the search's position */
};

/* The positions at which the terms of a condition are evaluated; searched in slices, for one position at a time. */
struct ts_judged {
	uint64_t at[TS_MAX_TERMS]; /* TS_NO_POS: none, so the term does not hold */
	unsigned n;                /* terms whose position is known */
	uint64_t result_at;        /* of a condition about a call: the position of its return, TS_NO_POS: it has none; */
	struct ts_what result;     /* and the place of its result, TS_WHAT_NONE: not known */
	struct ts_activation_search search; /* for the next term */
	unsigned work;             /* of expressions, not charged to the budget yet */
	bool is_overdrawn;         /* the last position used more than the budget: the next one waits for a new slice */
};

/*
 * Does the condition about registers of @thread and memory hold at @pos?  A comparison with an unknown value does not
 * hold, nor does an expression that cannot be evaluated.  A term with an address is evaluated at the position at which
 * the thread's activation reaches it; ts_ask_need_calls() must have succeeded before.
 *
 * @judged is zero at first, and ready for the next position after TS_ITEM.  The work of expressions is charged to
 * the budget.
 *
 * Returns TS_ITEM and *holds.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
enum ts_next ts_state_holds(struct ts_ask *ask, const struct ts_cond *cond, uint64_t pos, uint32_t thread,
			    struct ts_judged *judged, bool *holds, struct ts_budget *budget,
			    struct ts_error *err);

/* Does a condition about the row's value hold?  The value has @len bytes; of a flag (@is_bit) the lowest bit counts. */
bool ts_value_holds(const struct ts_ask *ask, const struct ts_cond *cond, const uint8_t *data,
		    const uint8_t *known, size_t len, bool is_bit);

/*
 * Prepare the calls.  A cursor must call this before it uses calls: an index of an older version has none, and they are
 * built now.
 *
 * Returns TS_ITEM when the calls can be used.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT), or if memory is exhausted.
 */
enum ts_next ts_ask_need_calls(struct ts_ask *ask, struct ts_budget *budget, struct ts_error *err);

/*
 * The cell is the call instruction of the innermost open call at @pos; null if no call is open.  ts_ask_need_calls() must
 * have succeeded before.
 */
void ts_cell_caller(struct ts_row *row, unsigned i, struct ts_ask *ask, uint64_t pos);

#endif
