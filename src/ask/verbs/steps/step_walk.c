/* SPDX-License-Identifier: MIT */
#include "step_walk.h"

#include <stdlib.h>
#include <string.h>

#include "src/ask/calls/ifunc.h"
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

/* The places of a line of the source, or WHAT. */
static bool take_ranges(struct ts_step_walk *w, const struct ts_ask *ask, const struct ts_question *qn)
{
	size_t len = strlen(qn->operand), cap, n;
	uint64_t *places = NULL;

	w->has_addresses = len || qn->what.kind == TS_WHAT_MEM;
	w->n_ranges = len ? ts_what_line_ranges(qn->operand, len, ask->symbols, NULL, NULL, 0) : w->has_addresses;
	w->ranges = calloc(w->n_ranges + 1, sizeof(*w->ranges));
	if (len)
		places = calloc(2 * w->n_ranges + 1, sizeof(*places));
	if (!w->ranges || (len && !places)) {
		free(places);
		return false;
	}
	w->ranges->first = qn->what.addr;
	w->ranges->last = qn->what.last;
	cap = w->n_ranges;
	if (len) {
		n = ts_what_line_ranges(qn->operand, len, ask->symbols, places, places + cap, cap);
		w->n_ranges = n < cap ? n : cap; /* those that meet were counted one by one before */
	}
	for (size_t i = 0; len && i < w->n_ranges; i++) {
		w->ranges[i].first = places[i];
		w->ranges[i].last = places[i] + places[cap + i] - 1;
	}
	free(places);
	return true;
}

void ts_step_walk_fini(struct ts_step_walk *w)
{
	free(w->ranges);
	w->ranges = NULL;
}

bool ts_step_walk_init(struct ts_step_walk *w, struct ts_rows *rows, struct ts_error *err)
{
	const struct ts_ask *ask = rows->ask;
	const struct ts_question *qn = rows->qn;

	*w = (struct ts_step_walk){ .rows = rows, .q = ask->q, .thread = qn->thread, .pos = TS_NO_POS };
	w->machine = qn->machine;
	w->what = qn->what;
	w->process = ts_ask_process(ask, qn);
	w->from = qn->from;
	w->to = qn->to < ask->n_steps ? qn->to : ask->n_steps;
	return take_ranges(w, ask, qn) || ts_no_memory(err, "steps");
}

static bool is_wanted(const struct ts_step_walk *w, uint64_t pc)
{
	for (size_t i = 0; i < w->n_ranges && pc != TS_NO_PC; i++) {
		if (pc >= w->ranges[i].first && pc <= w->ranges[i].last)
			return true;
	}
	return false;
}

/* Returns the nearest hit among the next few steps; TS_NO_POS: the index must be searched. */
static uint64_t find_near(const struct ts_step_walk *w)
{
	uint64_t n = w->to - w->from < NEAR_STEPS ? w->to - w->from : NEAR_STEPS;
	const struct ts_steps *batch;
	struct ts_error ignored;

	ts_error_reset(&ignored);
	for (uint64_t i = 0; w->is_dense && i < n; i++) {
		uint64_t pos = w->rows->is_reverse ? w->to - 1 - i : w->from + i;
		const struct ts_step *s = ts_query_step(w->q, pos, &batch, &ignored);

		if (!s)
			return TS_NO_POS;
		if (is_wanted(w, s->pc) && ts_query_process(w->q, s->thread) == w->process)
			return pos;
	}
	return TS_NO_POS;
}

/* The nearest step in the range. */
static uint64_t find_in_range(struct ts_step_walk *w, struct ts_step_range *r)
{
	if (r->is_asked && (r->pos == TS_NO_POS || (w->rows->is_reverse ? r->pos < w->to : r->pos >= w->from)))
		return r->pos;
	w->n_looked += STEPS_A_CHUNK / LOOKUPS_A_CHUNK;
	r->is_asked = true;
	r->pos = ts_query_find_execution(w->q, w->process, r->first, r->last,
					 w->rows->is_reverse ? w->to - 1 : w->from, w->rows->is_reverse);
	return r->pos;
}

/* The nearest step with a wanted address, TS_NO_POS if none is found. */
static uint64_t find_execution(struct ts_step_walk *w)
{
	uint64_t pos = find_near(w);

	if (pos != TS_NO_POS)
		return pos;
	for (size_t i = 0; i < w->n_ranges; i++) {
		uint64_t found = find_in_range(w, &w->ranges[i]);

		if (found != TS_NO_POS && (pos == TS_NO_POS || (w->rows->is_reverse ? found > pos : found < pos)))
			pos = found;
	}
	if (pos == TS_NO_POS || pos < w->from || pos >= w->to)
		return TS_NO_POS;
	w->is_dense = w->rows->is_reverse ? w->to - pos <= NEAR_STEPS : pos - w->from < NEAR_STEPS;
	return pos;
}

/* The nearest step of the thread, TS_NO_POS if none is found. */
static uint64_t find_step(struct ts_step_walk *w)
{
	uint64_t pos = w->rows->is_reverse ? w->to - 1 : w->from;

	if (w->thread == TS_NO_THREAD)
		return pos;
	w->n_looked += STEPS_A_CHUNK / LOOKUPS_A_CHUNK;
	pos = (w->rows->is_reverse ? ts_query_prev_step : ts_query_next_step)(w->q, w->thread, pos);
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

/* The next position that is to be judged. */
static enum ts_next find(struct ts_step_walk *w, struct ts_budget *budget, struct ts_error *err)
{
	uint64_t pos;
	bool is_it;

	while (w->from < w->to) {
		if (!charge(w, budget))
			return TS_MORE;
		pos = w->has_addresses ? find_execution(w) : find_step(w);
		if (pos == TS_NO_POS)
			break;
		w->rows->at = pos;
		*(w->rows->is_reverse ? &w->to : &w->from) = w->rows->is_reverse ? pos : pos + 1;
		if (w->thread != TS_NO_THREAD && w->has_addresses && ts_query_thread(w->q, pos) != w->thread)
			continue;
		if (!is_of_machine(w, pos, &is_it, err))
			return TS_FAIL;
		if (!is_it)
			continue;
		w->pos = pos;
		return TS_ITEM;
	}
	w->from = w->to;
	return TS_END;
}

/* The steps of an indirect function are those of the function that runs. */
static enum ts_next resolve(struct ts_step_walk *w, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got = ts_ifunc_resolve(w->rows, &w->what, budget, err);

	if (got != TS_ITEM)
		return got;
	w->ranges->first = w->what.addr;
	w->ranges->last = w->is_of_entry ? w->what.addr : w->what.last;
	return TS_ITEM;
}

enum ts_next ts_step_walk_next(struct ts_step_walk *w, uint64_t *pos, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_cond *cond = &w->rows->qn->cond;
	struct ts_ask *ask = w->rows->ask;
	enum ts_next got = w->what.is_indirect ? resolve(w, budget, err) : TS_ITEM;
	bool holds = false;

	if (got == TS_ITEM && cond->has_addresses)
		got = ts_ask_need_calls(ask, budget, err);
	while (got == TS_ITEM && !holds) {
		if (w->pos == TS_NO_POS)
			got = find(w, budget, err);
		holds = got == TS_ITEM && !cond->n;
		if (got == TS_ITEM && cond->n)
			got = ts_state_holds(ask, cond, w->pos, ts_query_thread(w->q, w->pos), &w->judged, &holds, budget, err);
		if (got != TS_ITEM)
			return got;
		*pos = w->pos;
		w->pos = TS_NO_POS;
	}
	return got;
}
