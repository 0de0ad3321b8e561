/* SPDX-License-Identifier: MIT */
#include "walk.h"

#include "src/query/code/handlers.h"

/* The work of a slice: chunks that are decoded, or steps that are walked. */
#define CHUNKS_A_SLICE 1
#define STEPS_A_SLICE  64

void ts_walk_fini(struct ts_walk *w)
{
	if (w->state == TS_WALK_SEARCHING) {
		w->has_open_reads |= w->search.has_open_reads;
		ts_search_fini(&w->search);
	}
	w->state = TS_WALK_STANDING;
}

static void start(struct ts_walk *w, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		  uint32_t thread, bool is_reverse)
{
	ts_walk_fini(w);
	*w = (struct ts_walk){
		.state = TS_WALK_AIMING,
		.q = q,
		.stops = *stops,
		.is_reverse = is_reverse,
		.thread = thread,
		.from = pos,
		.pos = pos,
	};
}

void ts_walk_continue(struct ts_walk *w, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		      bool is_reverse)
{
	start(w, q, stops, pos, TS_NO_THREAD, is_reverse);
}

void ts_walk_step(struct ts_walk *w, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		  uint32_t thread, bool is_reverse)
{
	start(w, q, stops, pos, thread, is_reverse);
}

void ts_walk_range(struct ts_walk *w, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		   uint32_t thread, uint64_t range_start, uint64_t range_end)
{
	start(w, q, stops, pos, thread, false);
	w->is_range = true;
	w->range_start = range_start;
	w->range_end = range_end;
}

/* ---------------------------------------------------------------------------------------------- targets */

/* May positions after those that are published change what is found? */
static bool is_growing(const struct ts_walk *w)
{
	return !w->is_reverse && !ts_query_is_complete(w->q);
}

/* Are all signals that came to the thread at step @pos, one at least, of those that do not stop? */
static bool are_passed(const struct ts_walk *w, uint64_t pos)
{
	const uint64_t *passed = w->stops.passed_signals;
	const struct ts_event_at *h;
	bool are = false;

	for (uint64_t i = ts_query_n_events_below(w->q, TS_EV_SIGNAL, pos);
	     passed && (h = ts_query_event(w->q, TS_EV_SIGNAL, i)) && h->step == pos; i++) {
		uint64_t signal = ts_event_signal(h);

		if (h->thread != w->thread)
			continue;
		if (signal >= TS_N_SIGNALS || !(passed[signal / 64] >> (signal % 64) & 1))
			return false;
		are = true;
	}
	return are;
}

/*
 * Handlers of signals that do not stop are part of the instruction that they interrupt: the next position of the thread
 * after its step @step, or, in reverse, the one to which undoing it leads.
 */
static uint64_t pass_handlers(const struct ts_walk *w, uint64_t step)
{
	struct ts_handler h;
	struct ts_error err;

	ts_error_reset(&err);
	if (w->is_reverse) {
		while (ts_query_handler_at(w->q, w->thread, step, &h, &err) && h.end == step + 1 && are_passed(w, h.pos))
			step = h.pos;
		return step;
	}
	while (are_passed(w, step) && ts_query_handler_after(w->q, w->thread, step, &h, &err) && h.end != TS_NO_POS)
		step = h.end - 1;
	return step + 1;
}

/*
 * The position at which one instruction of the thread has run, or been undone, and from there on to one that
 * the filter admits; TS_NO_POS if none is found that is published.
 */
static uint64_t step_target(const struct ts_walk *w, uint64_t pos)
{
	uint64_t step = TS_NO_POS;

	if (!w->is_reverse)
		step = ts_query_next_step(w->q, w->thread, pos);
	else if (pos)
		step = ts_query_prev_step(w->q, w->thread, pos - 1);
	if (step == TS_NO_POS)
		return TS_NO_POS;
	step = pass_handlers(w, step);
	return ts_query_find_admitted(w->q, w->stops.filter, step, w->is_reverse);
}

static enum ts_walked aim_at(struct ts_walk *w, uint64_t target, bool has_target)
{
	w->target = target;
	w->has_target = has_target;
	w->is_open = !has_target && is_growing(w);
	w->state = TS_WALK_STARTING;
	return TS_WALK_ON;
}

static enum ts_walked stop_at(struct ts_walk *w, uint64_t pos, enum ts_stop_kind kind, struct ts_found *found)
{
	*found = (struct ts_found){ .pos = pos, .kind = kind, .thread = ts_query_thread(w->q, pos) };
	ts_walk_fini(w);
	return TS_WALK_STOP;
}

/*
 * Is @pos the begin of the thread?  Other threads may have run before, but this thread has no earlier step.
 */
static bool is_thread_begin(const struct ts_walk *w, uint64_t pos)
{
	return pos && ts_query_thread(w->q, pos) == w->thread &&
	       ts_query_prev_step(w->q, w->thread, pos - 1) == TS_NO_POS;
}

static uint64_t last_position(const struct ts_walk *w)
{
	return w->is_reverse ? 0 : ts_query_end(w->q);
}

static enum ts_walked aim(struct ts_walk *w, struct ts_found *found)
{
	uint64_t target;

	if (w->thread == TS_NO_THREAD) {
		if (is_growing(w) && w->from >= ts_query_end(w->q))
			return TS_WALK_WAIT;
		return aim_at(w, last_position(w), false);
	}
	target = step_target(w, w->from);
	if (target == TS_NO_POS && is_growing(w))
		return TS_WALK_WAIT;
	if (w->is_reverse && is_thread_begin(w, w->from))
		return stop_at(w, w->from, TS_STOP_END, found);
	if (target == TS_NO_POS) /* from an end, or the thread runs no more */
		return aim_at(w, last_position(w), false);
	if (!w->is_range)
		return aim_at(w, target, true);
	w->state = TS_WALK_LEAVING;
	return TS_WALK_ON;
}

/* Follow the thread's instructions until one lies outside the range. */
static enum ts_walked leave(struct ts_walk *w, struct ts_error *err)
{
	for (unsigned i = 0; i < STEPS_A_SLICE; i++) {
		uint64_t pc, to = step_target(w, w->pos);
		bool has_pc;

		if (to == TS_NO_POS && is_growing(w))
			return TS_WALK_WAIT;
		if (to == TS_NO_POS)
			return aim_at(w, last_position(w), true);
		if (!ts_query_pc(w->q, to, w->thread, &pc, &has_pc, err))
			return TS_WALK_FAIL;
		if (!has_pc && is_growing(w)) /* where the thread goes on is not published */
			return TS_WALK_WAIT;
		if (!has_pc || pc < w->range_start || pc >= w->range_end)
			return aim_at(w, to, true);
		w->pos = to;
	}
	return TS_WALK_ON;
}

/* --------------------------------------------------------------------------------------------- the search */

static enum ts_walked start_search(struct ts_walk *w, struct ts_error *err)
{
	if (!ts_search_init(&w->search, w->q, &w->stops, w->from, w->target, err))
		return TS_WALK_FAIL;
	w->state = TS_WALK_SEARCHING;
	return TS_WALK_ON;
}

/* The position up to which nothing is a stop. */
static uint64_t reached(const struct ts_walk *w)
{
	return w->state == TS_WALK_SEARCHING ? ts_search_reached(&w->search) : w->from;
}

/*
 * Where an interrupted walk stops: at the position searched so far, or the next one at which the filter
 * permits a stop.
 */
static enum ts_walked give_up(struct ts_walk *w, struct ts_found *found)
{
	uint64_t pos = ts_query_find_admitted(w->q, w->stops.filter, reached(w), w->is_reverse);

	if (pos == TS_NO_POS || (w->is_reverse ? pos < w->target : pos > w->target))
		pos = w->target;
	return stop_at(w, pos, TS_STOP_INTERRUPT, found);
}

/* The search has come to an end of its way without another stop. */
static enum ts_walked arrive(struct ts_walk *w, struct ts_found *found)
{
	if (w->has_target)
		return stop_at(w, w->target, TS_STOP_STEP, found);
	if (!w->is_open)
		return stop_at(w, w->target, TS_STOP_END, found);
	ts_walk_fini(w);
	w->from = w->target;
	w->state = TS_WALK_AIMING;
	return TS_WALK_ON;
}

static enum ts_walked look(struct ts_walk *w, struct ts_found *found, struct ts_error *err)
{
	enum ts_next got = ts_search_run(&w->search, CHUNKS_A_SLICE, found, err);

	if (got == TS_FAIL)
		return TS_WALK_FAIL;
	if (got == TS_MORE)
		return w->is_interrupted ? give_up(w, found) : TS_WALK_ON;
	if (found->kind == TS_STOP_END)
		return arrive(w, found);
	if ((found->kind == TS_STOP_BREAK || found->kind == TS_STOP_EXIT || found->kind == TS_STOP_MODULES) &&
	    w->has_target && found->pos == w->target)
		found->kind = TS_STOP_STEP; /* a step has arrived, wherever that is */
	ts_walk_fini(w);
	return TS_WALK_STOP;
}

/* Is there something less important to stop at, at the position of a breakpoint that did not hold? */
static enum ts_walked find_other(struct ts_walk *w, struct ts_found *found, struct ts_error *err)
{
	struct ts_stops stops = w->stops;
	struct ts_search search;
	enum ts_next next;

	w->is_passing = false;
	stops.n_breaks = stops.n_watches = 0;
	if (!ts_search_init(&search, w->q, &stops, w->is_reverse ? w->from + 1 : w->from - 1, w->from, err))
		return TS_WALK_FAIL;
	next = ts_search_run(&search, CHUNKS_A_SLICE, found, err);
	ts_search_fini(&search);
	if (next == TS_FAIL)
		return TS_WALK_FAIL;
	if (next == TS_MORE || found->kind == TS_STOP_END)
		return TS_WALK_ON;
	ts_walk_fini(w);
	return TS_WALK_STOP;
}

void ts_walk_pass(struct ts_walk *w, const struct ts_found *found)
{
	w->from = found->pos;
	w->has_passed = true;
	w->is_passing = w->stops.has_syscalls || w->stops.has_signals || w->stops.has_forks;
	w->state = TS_WALK_STARTING;
}

/* --------------------------------------------------------------------------------------------- slices */

void ts_walk_interrupt(struct ts_walk *w)
{
	w->is_interrupted = true;
}

/* A walk that is interrupted before it has a target: what lies on the way so far is looked through. */
static enum ts_walked end_aiming(struct ts_walk *w, struct ts_found *found)
{
	if (w->pos == w->from || w->state == TS_WALK_AIMING)
		return stop_at(w, w->from, TS_STOP_INTERRUPT, found);
	aim_at(w, w->pos, false);
	w->is_open = true; /* not the end of the recording */
	return TS_WALK_ON;
}

enum ts_walked ts_walk_run(struct ts_walk *w, struct ts_found *found, struct ts_error *err)
{
	enum ts_walked walked = TS_WALK_FAIL;

	if (w->is_interrupted && (w->state == TS_WALK_AIMING || w->state == TS_WALK_LEAVING))
		return end_aiming(w, found);
	switch (w->state) {
	case TS_WALK_STANDING:
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "no walk is under way");
		break;
	case TS_WALK_AIMING:
		walked = aim(w, found);
		break;
	case TS_WALK_LEAVING:
		walked = leave(w, err);
		break;
	case TS_WALK_STARTING:
		if (w->is_passing)
			walked = find_other(w, found, err);
		else if (w->has_passed && w->is_interrupted)
			walked = stop_at(w, w->from, TS_STOP_INTERRUPT, found);
		else
			walked = start_search(w, err);
		break;
	case TS_WALK_SEARCHING:
		walked = look(w, found, err);
		break;
	}
	if (walked == TS_WALK_FAIL)
		ts_walk_fini(w);
	return walked;
}
