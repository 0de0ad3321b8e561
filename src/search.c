/* SPDX-License-Identifier: MIT */
#include "search.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ breakpoints, events */

/* Take a stop that is nearer than the best one, or as near and more important (in the order of the calls). */
static void offer(struct ts_search *s, uint64_t pos, enum ts_stop_kind kind, uint32_t thread, uint64_t number)
{
	struct ts_found *b = &s->best;

	if (s->is_reverse ? pos >= s->from : pos <= s->from)
		return;
	if (s->is_reverse ? pos < b->pos : pos > b->pos)
		return;
	if (pos == b->pos && b->kind != TS_STOP_END)
		return;
	*b = (struct ts_found){ .pos = pos, .kind = kind, .thread = thread, .number = number };
}

static void offer_break(struct ts_search *s, const struct ts_break *br)
{
	const struct ts_timeline *tl = ts_query_timeline(s->q);
	uint64_t pos = TS_NO_POS;

	if (!s->is_reverse)
		pos = ts_runs_next(tl->runs, br->process, br->addr, br->addr, s->from + 1);
	else if (s->from)
		pos = ts_runs_prev(tl->runs, br->process, br->addr, br->addr, s->from - 1);
	if (pos == TS_NO_POS && !s->is_reverse && br->addr == tl->end_pc &&
	    ts_timeline_process(tl, ts_query_thread(s->q, tl->n_steps)) == br->process)
		pos = tl->n_steps;
	if (pos != TS_NO_POS)
		offer(s, pos, TS_STOP_BREAK, ts_query_thread(s->q, pos), 0);
}

static bool is_caught(const struct ts_stops *stops, uint64_t number)
{
	for (size_t i = 0; i < stops->n_syscalls; i++) {
		if (stops->syscalls[i] == number)
			return true;
	}
	return !stops->n_syscalls;
}

/* Step e is a system call: it is entered at position e and has returned at position e + 1. */
static void offer_syscall(struct ts_search *s, const struct ts_happening *h)
{
	uint64_t nearer = s->is_reverse ? h->step + 1 : h->step;
	uint64_t farther = s->is_reverse ? h->step : h->step + 1;
	bool has_returned = h->event.has_ret;

	if (!s->is_reverse || has_returned)
		offer(s, nearer, s->is_reverse ? TS_STOP_SYSCALL_RETURN : TS_STOP_SYSCALL_ENTRY, h->thread,
		      h->event.number);
	if (s->is_reverse || has_returned)
		offer(s, farther, s->is_reverse ? TS_STOP_SYSCALL_ENTRY : TS_STOP_SYSCALL_RETURN, h->thread,
		      h->event.number);
}

/* Can no event of @step or farther come before the best stop?  In the direction of the search its first arrival is the nearest. */
static bool is_beaten(const struct ts_search *s, uint64_t step)
{
	uint64_t arrival = s->is_reverse ? step + 1 : step;

	if (arrival == s->best.pos)
		return s->best.kind != TS_STOP_END;
	return (arrival < s->best.pos) == s->is_reverse;
}

static void offer_syscalls(struct ts_search *s)
{
	const struct ts_world *w = &ts_query_timeline(s->q)->world;
	const struct ts_happenings *list = &w->events[TS_EV_SYSCALL];
	const struct ts_happening *h = s->is_reverse ? ts_world_prev_event(w, TS_EV_SYSCALL, s->from) :
						       ts_world_next_event(w, TS_EV_SYSCALL, s->from);

	for (size_t i = h ? (size_t)(h - list->items) : list->n; i < list->n; i += s->is_reverse ? -1 : 1) {
		h = &list->items[i];
		if (is_beaten(s, h->step))
			return;
		if (is_caught(s->stops, h->event.number))
			offer_syscall(s, h);
	}
}

/* ------------------------------------------------------------------------------------------------ watchpoints */

/* Steps that are decoded together when a search goes forwards. */
#define STEPS_AHEAD 64

static bool wants_writes(const struct ts_watch *w)
{
	return w->kind != TS_WATCH_READ;
}

static bool wants_reads(const struct ts_watch *w)
{
	return w->kind != TS_WATCH_WRITE;
}

/* The nearest of two chunks in the direction of the search. */
static uint64_t nearer_chunk(const struct ts_search *s, uint64_t a, uint64_t b)
{
	if (a == TS_NO_CHUNK || b == TS_NO_CHUNK)
		return a == TS_NO_CHUNK ? b : a;
	return (a < b) == s->is_reverse ? b : a;
}

/* The first chunk from @chunk on, in the direction of the search, in which a watchpoint may trigger. */
static uint64_t touched_chunk(const struct ts_search *s, uint64_t chunk)
{
	const struct ts_timeline *tl = ts_query_timeline(s->q);
	uint64_t best = TS_NO_CHUNK;

	for (size_t i = 0; i < s->stops->n_watches; i++) {
		const struct ts_watch *w = &s->stops->watches[i];
		uint64_t last = w->addr + (w->len - 1);
		const struct ts_space *sp;

		if (w->process >= tl->n_memory)
			continue;
		sp = tl->memory[w->process];
		if (w->kind == TS_WATCH_WRITE)
			best = nearer_chunk(s, best,
					    s->is_reverse ? ts_space_prev_change(sp, chunk, w->addr, last) :
							    ts_space_next_change(sp, chunk, w->addr, last));
		if (w->kind == TS_WATCH_ACCESS)
			best = nearer_chunk(s, best,
					    s->is_reverse ? ts_space_prev_write(sp, chunk, w->addr, last) :
							    ts_space_next_write(sp, chunk, w->addr, last));
		if (wants_reads(w))
			best = nearer_chunk(s, best,
					    s->is_reverse ? ts_space_prev_read(sp, chunk, w->addr, last) :
							    ts_space_next_read(sp, chunk, w->addr, last));
	}
	return best;
}

/*
 * Does the value of the effect differ from what the window holds?  Over an unknown byte a write may, a read does not: it shows
 * what was there.
 */
static bool is_change(const struct ts_view *v, const struct ts_effect *e, const uint8_t *value, uint64_t lo, uint64_t hi)
{
	for (uint64_t a = lo;; a++) {
		bool is_known = v->known[a - v->addr] == 1;

		if (is_known ? v->data[a - v->addr] != value[a - e->addr] : e->kind == TS_FX_WRITE)
			return true;
		if (a == hi)
			return false;
	}
}

/* An access that instructions see, or a change, which may be hidden or show only in a later read. */
static bool is_trigger(const struct ts_watch *w, const struct ts_view *v, const struct ts_steps *b,
		       const struct ts_effect *e, uint64_t lo, uint64_t hi)
{
	const uint8_t *value = ts_effect_data(b, e);

	if (e->kind != TS_FX_WRITE && e->kind != TS_FX_READ)
		return false;
	if (!e->is_hidden && (e->kind == TS_FX_READ ? wants_reads(w) : w->kind == TS_WATCH_ACCESS))
		return true;
	return wants_writes(w) && (value ? is_change(v, e, value, lo, hi) : e->kind == TS_FX_WRITE);
}

/* Carry the windows through one step; @found, if not NULL, gets a trigger. */
static bool watch_step(struct ts_search *s, const struct ts_steps *b, const struct ts_step *st, uint64_t step,
		       struct ts_found *found)
{
	const struct ts_timeline *tl = ts_query_timeline(s->q);
	uint32_t thread = st->thread;
	bool is_hit = false;

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];

		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		for (size_t j = 0; j < s->stops->n_watches; j++) {
			struct ts_view *v = &s->views[j];
			uint64_t lo, hi;

			if (ts_timeline_process(tl, thread) != v->process)
				continue;
			if (!is_hit && found && ts_view_overlap(v, e, &lo, &hi) &&
			    is_trigger(&s->stops->watches[j], v, b, e, lo, hi)) {
				*found = (struct ts_found){ .kind = TS_STOP_WATCH, .watch = j, .addr = lo, .thread = thread };
				found->pos = s->is_reverse ? step : step + 1;
				is_hit = true;
			}
			ts_view_replay(v, b, e);
		}
	}
	return is_hit;
}

/* How many of a chunk's steps may have a trigger that is nearer than the best other stop. */
static uint32_t steps_to_watch(const struct ts_search *s, uint64_t start)
{
	uint64_t end = s->is_reverse ? s->from : s->best.pos;

	return end - start < TS_CHUNK_STEPS ? (uint32_t)(end - start) : TS_CHUNK_STEPS;
}

/* Look through a chunk for the trigger that is nearest in the direction of the search. */
static enum ts_next watch_chunk(struct ts_search *s, uint64_t chunk, struct ts_found *found, struct ts_error *err)
{
	const struct ts_timeline *tl = ts_query_timeline(s->q);
	uint64_t start = chunk * TS_CHUNK_STEPS;
	uint32_t n = steps_to_watch(s, start);
	const struct ts_steps *b = ts_query_chunk(s->q, chunk, s->is_reverse ? n : 1, err);
	bool is_found = false;

	for (size_t i = 0; i < s->stops->n_watches; i++) {
		if (s->views[i].process < tl->n_memory)
			ts_view_start(&s->views[i], chunk);
	}
	for (uint32_t i = 0; b && i < n && (s->is_reverse || !is_found); i++) {
		bool is_admitted = s->is_reverse || start + i >= s->from;

		if (i == b->n_steps)
			b = ts_query_chunk(s->q, chunk, i + STEPS_AHEAD, err);
		if (b && i < b->n_steps)
			is_found |= watch_step(s, b, &b->steps[i], start + i, is_admitted ? found : NULL);
	}
	if (!b)
		return TS_FAIL;
	return is_found ? TS_ITEM : TS_END;
}

/* Can a watchpoint in @chunk still come before the best other stop? */
static bool is_within(const struct ts_search *s, uint64_t chunk)
{
	uint64_t start = chunk * TS_CHUNK_STEPS;

	if (chunk == TS_NO_CHUNK)
		return false;
	return s->is_reverse ? start + TS_CHUNK_STEPS > s->best.pos : start < s->best.pos;
}

/* ------------------------------------------------------------------------------------------------ the search */

/* A window a watchpoint, all their bytes in one piece. */
static bool make_views(struct ts_search *s, struct ts_error *err)
{
	size_t len = 0, n = s->stops->n_watches;

	for (size_t i = 0; i < n; i++)
		len += (size_t)s->stops->watches[i].len;
	s->views = calloc(n + 1, sizeof(*s->views));
	s->bytes = malloc(2 * len + 1);
	if (!s->views || !s->bytes) {
		ts_search_fini(s);
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to watch %zu bytes", len);
	}
	for (size_t i = 0, off = 0; i < n; off += s->views[i++].len) {
		const struct ts_watch *w = &s->stops->watches[i];

		s->views[i] = (struct ts_view){ .tl = ts_query_timeline(s->q), .process = w->process, .addr = w->addr };
		s->views[i].len = (size_t)w->len;
		s->views[i].data = s->bytes + off;
		s->views[i].known = s->bytes + len + off;
	}
	return true;
}

bool ts_search_init(struct ts_search *s, struct ts_query *q, const struct ts_stops *stops, uint64_t pos, uint64_t limit,
		    struct ts_error *err)
{
	bool is_reverse = limit < pos;

	*s = (struct ts_search){ .q = q, .stops = stops, .from = pos, .is_reverse = is_reverse, .chunk = TS_NO_CHUNK };
	s->best = (struct ts_found){ .pos = limit, .kind = TS_STOP_END, .thread = ts_query_thread(q, limit) };
	if (!make_views(s, err))
		return false;
	if (pos == limit)
		return true;
	for (size_t i = 0; i < stops->n_breaks; i++)
		offer_break(s, &stops->breaks[i]);
	if (stops->has_syscalls)
		offer_syscalls(s);
	if (stops->n_watches)
		s->chunk = touched_chunk(s, (is_reverse ? pos - 1 : pos) / TS_CHUNK_STEPS);
	return true;
}

void ts_search_fini(struct ts_search *s)
{
	free(s->views);
	free(s->bytes);
	s->views = NULL;
	s->bytes = NULL;
}

uint64_t ts_search_reached(const struct ts_search *s)
{
	uint64_t start = s->chunk * TS_CHUNK_STEPS, end = start + TS_CHUNK_STEPS;

	if (s->chunk == TS_NO_CHUNK)
		return s->from;
	if (s->is_reverse)
		return end < s->from ? end : s->from;
	return start > s->from ? start : s->from;
}

enum ts_next ts_search_run(struct ts_search *s, unsigned n_chunks, struct ts_found *found, struct ts_error *err)
{
	while (is_within(s, s->chunk)) {
		struct ts_found hit;

		if (!n_chunks--)
			return TS_END;
		switch (watch_chunk(s, s->chunk, &hit, err)) {
		case TS_FAIL:
			return TS_FAIL;
		case TS_ITEM:
			if (s->is_reverse ? hit.pos >= s->best.pos : hit.pos <= s->best.pos)
				s->best = hit;
			s->chunk = TS_NO_CHUNK;
			break;
		case TS_END:
			if (s->is_reverse && !s->chunk)
				s->chunk = TS_NO_CHUNK;
			else
				s->chunk = touched_chunk(s, s->is_reverse ? s->chunk - 1 : s->chunk + 1);
			break;
		}
	}
	*found = s->best;
	return TS_ITEM;
}
