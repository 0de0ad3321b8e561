/* SPDX-License-Identifier: MIT */
#include "step_walk.h"

#include "src/ask/grammar/question.h"
#include "src/ask/grammar/state.h"

/*
 * The number of steps that are inspected after a hit, before the index is searched again: most steps of a
 * wide range of addresses are hits.
 */
#define NEAR_STEPS 16u

/* Look-ups in the index, and steps that are inspected, that take as long as a chunk that is decoded. */
#define LOOKUPS_A_CHUNK 32u
#define STEPS_A_CHUNK   512u

void ts_step_walk_init(struct ts_step_walk *w, const struct ts_ask *ask, const struct ts_question *qn,
		       bool is_reverse)
{
	*w = (struct ts_step_walk){ .q = ask->q, .thread = qn->thread, .is_reverse = is_reverse };
	w->machine = qn->machine;
	w->process = ts_ask_process(ask, qn);
	w->has_addresses = qn->what.kind == TS_WHAT_MEM;
	w->first = qn->what.addr;
	w->last = qn->what.last;
	w->from = qn->from;
	w->to = qn->to < ask->n_steps ? qn->to : ask->n_steps;
}

/* Returns the nearest hit among the next few steps; TS_NO_POS: the index must be searched. */
static uint64_t find_near(const struct ts_step_walk *w)
{
	uint64_t n = w->to - w->from < NEAR_STEPS ? w->to - w->from : NEAR_STEPS;
	const struct ts_steps *batch;
	struct ts_error ignored;

	ts_error_reset(&ignored);
	for (uint64_t i = 0; w->is_dense && i < n; i++) {
		uint64_t pos = w->is_reverse ? w->to - 1 - i : w->from + i;
		const struct ts_step *s = ts_query_step(w->q, pos, &batch, &ignored);

		if (!s)
			return TS_NO_POS;
		if (s->pc != TS_NO_PC && s->pc >= w->first && s->pc <= w->last &&
		    ts_query_process(w->q, s->thread) == w->process)
			return pos;
	}
	return TS_NO_POS;
}

/* The nearest step at one of the addresses, TS_NO_POS if there is none. */
static uint64_t find_execution(struct ts_step_walk *w)
{
	uint64_t pos = find_near(w);

	if (pos != TS_NO_POS)
		return pos;
	w->n_looked += STEPS_A_CHUNK / LOOKUPS_A_CHUNK;
	pos = w->is_reverse ? w->to - 1 : w->from;
	pos = ts_query_find_execution(w->q, w->process, w->first, w->last, pos, w->is_reverse);
	if (pos == TS_NO_POS || pos < w->from || pos >= w->to)
		return TS_NO_POS;
	w->is_dense = w->is_reverse ? w->to - pos <= NEAR_STEPS : pos - w->from < NEAR_STEPS;
	return pos;
}

/* The nearest step of the thread, TS_NO_POS if there is none. */
static uint64_t find_step(struct ts_step_walk *w)
{
	uint64_t pos = w->is_reverse ? w->to - 1 : w->from;

	if (w->thread == TS_NO_THREAD)
		return pos;
	w->n_looked += STEPS_A_CHUNK / LOOKUPS_A_CHUNK;
	pos = (w->is_reverse ? ts_query_prev_step : ts_query_next_step)(w->q, w->thread, pos);
	return pos == TS_NO_POS || pos < w->from || pos >= w->to ? TS_NO_POS : pos;
}

/* Charge the budget for the inspected steps.  Returns false if it is used up. */
static bool charge(struct ts_step_walk *w, struct ts_budget *budget)
{
	if (w->n_looked++ < STEPS_A_CHUNK)
		return true;
	w->n_looked = 0;
	return ts_budget_take(budget);
}

static bool is_of_machine(struct ts_step_walk *w, uint64_t pos, bool *is_it, struct ts_error *err)
{
	*is_it = true;
	return (!w->machine.has_process && !w->machine.has_ring) ||
	       ts_machine_holds(&w->machine, w->q, &w->at, pos, is_it, err);
}

enum ts_next ts_step_walk_next(struct ts_step_walk *w, uint64_t *pos, struct ts_budget *budget, struct ts_error *err)
{
	bool is_it;

	while (w->from < w->to) {
		if (!charge(w, budget))
			return TS_MORE;
		*pos = w->has_addresses ? find_execution(w) : find_step(w);
		if (*pos == TS_NO_POS)
			break;
		*(w->is_reverse ? &w->to : &w->from) = w->is_reverse ? *pos : *pos + 1;
		if (w->thread != TS_NO_THREAD && w->has_addresses && ts_query_thread(w->q, *pos) != w->thread)
			continue;
		if (!is_of_machine(w, *pos, &is_it, err))
			return TS_FAIL;
		if (is_it)
			return TS_ITEM;
	}
	w->from = w->to;
	return TS_END;
}
