/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "src/query/chunks.h"
#include "src/query/forks.h"
#include "src/query/code/insn_reads.h"
#include "search_parts.h"

/* Breakpoints that can be looked up in the time that a chunk takes. */
#define LOOKS_A_CHUNK 64

/* ------------------------------------------------------------------------------------ breakpoints, events */

/* Take a stop that is nearer than the best one, or as near and more important (in the order of the calls). */
static void offer(struct ts_search *s, uint64_t pos, enum ts_stop_kind kind, uint32_t thread, uint64_t number)
{
	struct ts_found *b = &s->best;

	if (s->is_reverse ? pos >= s->from : pos <= s->from)
		return;
	if (s->is_reverse ? pos < b->pos : pos > b->pos)
		return;
	if ((pos == b->pos && b->kind != TS_STOP_END) || !ts_search_is_admitted(s, pos))
		return;
	*b = (struct ts_found){ .pos = pos, .kind = kind, .thread = thread, .number = number };
}

/*
 * The nearest position from @pos on that the filter admits, in the direction of the search; TS_NO_POS if
 * none is found.
 */
static uint64_t nearest_admitted(const struct ts_search *s, uint64_t pos)
{
	return ts_query_find_admitted(s->q, s->stops->filter, pos, s->is_reverse);
}

/*
 * Look for the nearest execution of a breakpoint's address that counts.  Returns false if there may be one
 * after s->break_from.
 */
static bool offer_break(struct ts_search *s, const struct ts_break *br)
{
	uint64_t from = s->break_from, pos;

	if (from == TS_NO_POS)
		from = s->is_reverse ? s->from - 1 : s->from + 1;
	pos = ts_query_find_arrival(s->q, br->process, br->addr, br->addr, from, s->is_reverse);
	s->break_from = TS_NO_POS;
	if (pos == TS_NO_POS || (s->is_reverse ? pos < s->best.pos : pos > s->best.pos))
		return true;
	if (!ts_search_is_admitted(s, pos)) {
		s->break_from = nearest_admitted(s, pos);
		return s->break_from == TS_NO_POS;
	}
	offer(s, pos, TS_STOP_BREAK, ts_query_thread(s->q, pos), 0);
	return true;
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
static void offer_syscall(struct ts_search *s, const struct ts_event_at *h)
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

/*
 * Are all events of @step and farther ones later than the best stop?  The first arrival in the direction of
 * the search is the nearest.
 */
static bool is_beaten(const struct ts_search *s, uint64_t step)
{
	uint64_t arrival = s->is_reverse ? step + 1 : step;

	if (arrival == s->best.pos)
		return s->best.kind != TS_STOP_END;
	return (arrival < s->best.pos) == s->is_reverse;
}

/*
 * In the direction of the search, the first event of the kind at step @from or farther; beyond the last one if
 * none is found, and so is what comes before the first.
 */
static uint64_t first_event(const struct ts_search *s, enum ts_event_kind kind, uint64_t from)
{
	if (!s->is_reverse)
		return ts_query_n_events_below(s->q, kind, from);
	return ts_query_n_events_below(s->q, kind, from < UINT64_MAX ? from + 1 : from) - 1;
}

/*
 * Examine events of the kind from the @first one on, in the direction of the search, while @look returns true.
 * Each takes one off *left.  Returns false if nothing was left.
 */
static bool look_at_events(struct ts_search *s, enum ts_event_kind kind, uint64_t first,
			   bool (*look)(struct ts_search *s, const struct ts_event_at *h), uint64_t *left)
{
	uint64_t n = ts_query_n_events(s->q, kind);

	if (!s->is_walking)
		s->event = first;
	s->is_walking = true;
	for (; s->event < n; s->event += s->is_reverse ? -1 : 1, --*left) {
		if (!*left)
			return false;
		if (!look(s, ts_query_event(s->q, kind, s->event)))
			break;
	}
	s->is_walking = false;
	return true;
}

static bool look_at_syscall(struct ts_search *s, const struct ts_event_at *h)
{
	if (is_beaten(s, h->step))
		return false;
	if (is_caught(s->stops, h->event.number))
		offer_syscall(s, h);
	return true;
}

static bool is_passed(const struct ts_stops *stops, uint64_t signal)
{
	const uint64_t *passed = stops->passed_signals;

	return passed && signal < TS_N_SIGNALS && (passed[signal / 64] >> (signal % 64) & 1);
}

/* The nearest event of the kind whose position may lie on the way, as first_event(). */
static uint64_t first_arrival(const struct ts_search *s, enum ts_event_kind kind)
{
	uint64_t delta = kind != TS_EV_SIGNAL;

	if (!s->is_reverse)
		return first_event(s, kind, s->from);
	return s->from > delta ? first_event(s, kind, s->from - 1 - delta) : UINT64_MAX;
}

/* A signal, a fault or the exit. */
static bool look_at_event(struct ts_search *s, const struct ts_event_at *h)
{
	uint64_t pos = ts_event_position(h);

	if (s->is_reverse ? pos < s->best.pos : pos > s->best.pos)
		return false;
	if (s->is_reverse ? pos >= s->from : pos <= s->from)
		return true;
	if (h->event.kind == TS_EV_EXIT)
		offer(s, pos, TS_STOP_EXIT, h->thread, 0);
	else if (!is_passed(s->stops, ts_event_signal(h)))
		offer(s, pos, TS_STOP_SIGNAL, h->thread, ts_event_signal(h));
	return true;
}

static bool offer_events(struct ts_search *s, enum ts_event_kind kind, uint64_t *left)
{
	return !s->stops->has_signals ||
	       look_at_events(s, kind, first_arrival(s, kind), look_at_event, left);
}

static bool offer_faults(struct ts_search *s, uint64_t *left)
{
	return offer_events(s, TS_EV_FAULT, left);
}

static bool offer_signals(struct ts_search *s, uint64_t *left)
{
	return offer_events(s, TS_EV_SIGNAL, left);
}

static bool offer_exits(struct ts_search *s, uint64_t *left)
{
	return offer_events(s, TS_EV_EXIT, left);
}

static bool offer_breaks(struct ts_search *s, uint64_t *left)
{
	for (; s->n_offered < s->stops->n_breaks; --*left) {
		if (!*left)
			return false;
		s->n_offered += offer_break(s, &s->stops->breaks[s->n_offered]);
	}
	return true;
}

static bool offer_syscalls(struct ts_search *s, uint64_t *left)
{
	return !s->stops->has_syscalls ||
	       look_at_events(s, TS_EV_SYSCALL, first_event(s, TS_EV_SYSCALL, s->from),
			      look_at_syscall, left);
}

static bool offer_forks(struct ts_search *s, uint64_t *left)
{
	const struct ts_fork *f;
	enum ts_next looked;

	if (!s->stops->has_forks || (s->is_reverse && !s->from))
		return true;
	looked = ts_query_look_for_forks(s->q, left);
	s->has_no_memory = looked == TS_FAIL;
	if (looked != TS_ITEM)
		return false;
	f = ts_query_fork(s->q, s->is_reverse ? s->from - 1 : s->from, s->is_reverse);
	if (f)
		offer(s, s->is_reverse ? f->step : f->step + 1, f->is_vfork ? TS_STOP_VFORK : TS_STOP_FORK, f->thread,
		      f->child);
	return true;
}

static bool passes_module(const struct ts_stops *stops, uint64_t i)
{
	return i < stops->n_passed_modules && (stops->passed_modules[i / 8] >> i % 8 & 1);
}

/*
 * Look for the nearest position at which other modules are there; what else is at that position comes first.
 */
static bool offer_modules(struct ts_search *s, uint64_t *left)
{
	struct ts_module_info m;

	if (!s->is_walking)
		s->event = 0;
	s->is_walking = true;
	for (; s->stops->has_modules && ts_query_module(s->q, (size_t)s->event, &m); s->event++, --*left) {
		uint64_t edges[] = { m.from, m.until };

		if (!*left)
			return false;
		if (m.process != s->stops->process || passes_module(s->stops, s->event))
			continue;
		for (unsigned k = 0; k < 2; k++) {
			uint64_t pos = edges[k] - s->is_reverse;

			if (edges[k] && edges[k] != TS_NO_POS)
				offer(s, pos, TS_STOP_MODULES, ts_query_thread(s->q, pos), 0);
		}
	}
	s->is_walking = false;
	return true;
}

/* The part of a region that is watched: the first watchpoint that overlaps it, NULL for none. */
static const struct ts_watch *find_watch(const struct ts_stops *stops, const struct ts_region_info *r)
{
	for (size_t i = 0; i < stops->n_watches; i++) {
		const struct ts_watch *w = &stops->watches[i];

		if (w->process == r->process && w->kind != TS_WATCH_READ && w->addr <= r->last &&
		    w->addr + (w->len - 1) >= r->first)
			return w;
	}
	return NULL;
}

static bool is_same_file(const struct ts_region_info *a, const struct ts_region_info *b)
{
	return a->file && b->file ? !strcmp(a->file, b->file) && a->file_off - a->first == b->file_off - b->first
				  : !a->file && !b->file;
}

/* Is the region only given other rights at @edge, where it ends (@is_end) or begins?  Its bytes stay there. */
static bool is_protection(const struct ts_search *s, const struct ts_region_info *r, uint64_t edge, bool is_end,
			  const struct ts_watch *w)
{
	struct ts_region_info other;

	for (size_t i = 0; ts_query_region(s->q, i, &other); i++) {
		if (other.process == r->process && (is_end ? other.from : other.until) == edge &&
		    other.prot != r->prot && is_same_file(&other, r) && other.first <= w->addr &&
		    w->addr + (w->len - 1) <= other.last)
			return true;
	}
	return false;
}

/* The maximum number of edges for which regions are compared with all others. */
#define MAX_COMPARED 64u

/* What one edge of region @r, at which the watched bytes go away or come, is worth as a stop. */
static void offer_edge(struct ts_search *s, const struct ts_region_info *r, const struct ts_watch *w, uint64_t edge)
{
	uint64_t pos = edge - s->is_reverse;

	if (!edge || edge == TS_NO_POS ||
	    (s->is_reverse ? pos >= s->from || pos < s->best.pos : pos <= s->from || pos > s->best.pos) ||
	    (s->n_compared++ < MAX_COMPARED && is_protection(s, r, edge, edge == r->until, w)))
		return;
	offer(s, pos, TS_STOP_WATCH, ts_query_thread(s->q, edge - 1), 0);
	if (s->best.pos == pos && s->best.kind == TS_STOP_WATCH) {
		s->best.watch = (size_t)(w - s->stops->watches);
		s->best.addr = w->addr > r->first ? w->addr : r->first;
	}
}

/* The value of a watched range goes away where it is unmapped or mapped over, and comes where it is mapped. */
static bool offer_maps(struct ts_search *s, uint64_t *left)
{
	bool has_maps = s->stops->has_maps && !s->stops->is_virtual;
	struct ts_region_info r;

	if (!s->is_walking)
		s->event = 0;
	s->is_walking = true;
	for (; has_maps && ts_query_region(s->q, (size_t)s->event, &r); s->event++, --*left) {
		const struct ts_watch *w = find_watch(s->stops, &r);

		if (!*left)
			return false;
		if (!w)
			continue;
		offer_edge(s, &r, w, r.from);
		offer_edge(s, &r, w, r.until);
	}
	s->is_walking = false;
	return true;
}

/* Signals come before what else is at their position: it is still there when the program goes on. */
static bool (*const stages[])(struct ts_search *s, uint64_t *left) = {
	offer_faults, offer_signals, offer_breaks, offer_syscalls, offer_forks, offer_exits, offer_modules, offer_maps,
};
#define N_STAGES (sizeof(stages) / sizeof(stages[0]))

/*
 * Look for the nearest stop that is not a watchpoint.  Returns false if that takes longer than @n_chunks
 * chunks and has not ended.
 */
static bool offer_all(struct ts_search *s, unsigned n_chunks)
{
	uint64_t left = (uint64_t)n_chunks * LOOKS_A_CHUNK;

	for (; !s->is_offered && s->stage < N_STAGES; s->stage++) {
		if (!stages[s->stage](s, &left))
			return false;
	}
	s->is_offered = true;
	return true;
}

/* --------------------------------------------------------------------------------------------- the search */

/* Can watchpoints in steps that have not been looked through still come before the best other stop? */
static bool has_more(const struct ts_search *s)
{
	return s->stops->n_watches && (s->is_reverse ? s->at > s->best.pos : s->at < s->best.pos);
}

/*
 * Continue with the next chunk that touches a watched place: @chunk, or one after it.  If no such chunk follows in the
 * span, or @chunk is TS_NO_CHUNK, the whole span has been searched.
 */
static void aim(struct ts_search *s, uint64_t chunk)
{
	uint64_t start, end;

	s->chunk = chunk == TS_NO_CHUNK ? chunk : ts_watch_touched_chunk(s, chunk);
	start = s->chunk * TS_CHUNK_STEPS;
	end = start + TS_CHUNK_STEPS;
	start -= start > 0; /* its first step may see a change of the step before */
	if (s->chunk == TS_NO_CHUNK || s->chunk * TS_CHUNK_STEPS >= s->q->snap.n_indexed ||
	    (s->is_reverse ? end <= s->first : start >= s->end)) {
		s->chunk = TS_NO_CHUNK;
		s->at = s->is_reverse ? s->first : s->end;
	} else if (s->is_reverse ? end < s->at : start > s->at) {
		s->at = s->is_reverse ? end : start;
	}
}

/* Find the places of the watchpoints in the next span of steps. */
static bool start_span(struct ts_search *s, struct ts_error *err)
{
	uint64_t step = nearest_admitted(s, s->is_reverse ? s->at - 1 : s->at);

	if (step == TS_NO_POS || (s->is_reverse ? step < s->best.pos : step >= s->best.pos)) {
		s->at = s->best.pos;
		return true;
	}
	if (!ts_places_find(&s->places, s->q, s->stops->watches, s->stops->n_watches, s->stops->is_virtual,
			    step, err) ||
	    !ts_watch_make_views(s, err))
		return false;
	s->first = s->is_reverse ? s->places.first : step;
	s->end = s->is_reverse ? step + 1 : s->places.end;
	s->at = s->is_reverse ? s->end : s->first;
	/* what the last step of a span changed may show in the one after it */
	aim(s, (s->is_reverse && s->end < s->q->snap.n_indexed ? s->end : step) / TS_CHUNK_STEPS);
	return true;
}

bool ts_search_init(struct ts_search *s, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		    uint64_t limit, struct ts_error *err)
{
	*s = (struct ts_search){ .q = q, .stops = stops, .from = pos, .is_reverse = limit < pos, .at = pos };
	s->best = (struct ts_found){ .pos = limit, .kind = TS_STOP_END, .thread = ts_query_thread(q, limit) };
	s->chunk = TS_NO_CHUNK;
	s->break_from = TS_NO_POS;
	s->is_offered = pos == limit;
	for (size_t i = 0; i < stops->n_watches; i++)
		s->infers_reads |= stops->watches[i].kind != TS_WATCH_WRITE && ts_query_infers_reads(q);
	if (!has_more(s) || start_span(s, err))
		return true;
	ts_search_fini(s);
	return false;
}

void ts_search_fini(struct ts_search *s)
{
	ts_places_fini(&s->places);
	free(s->views);
	free(s->bytes);
	s->views = NULL;
	s->bytes = NULL;
}

uint64_t ts_search_reached(const struct ts_search *s)
{
	return s->is_offered ? s->at : s->from;
}

/*
 * A watchpoint was found that is as near as any other stop, or nearer.  The filter may not admit the position
 * after its step.
 */
static void take_hit(struct ts_search *s, const struct ts_found *hit)
{
	uint64_t pos = s->is_reverse ? hit->pos : nearest_admitted(s, hit->pos);
	uint64_t limit = s->best.pos;

	s->best = *hit;
	s->best.pos = !s->is_reverse && pos > limit ? limit : pos;
	s->at = s->best.pos;
}

/*
 * Going back, a change that a chunk's first step saw was found before the step @step, the last one of the
 * chunk before, which it belongs to, was examined: what that step itself did comes first.
 */
static void look_again(struct ts_search *s, uint64_t step)
{
	s->at = step + 1;
	aim(s, step / TS_CHUNK_STEPS);
}

enum ts_next ts_search_run(struct ts_search *s, unsigned n_chunks, struct ts_found *found,
			   struct ts_error *err)
{
	if (!offer_all(s, n_chunks)) {
		if (!s->has_no_memory)
			return TS_MORE;
		ts_no_memory(err, "the list of forks");
		return TS_FAIL;
	}
	while (has_more(s)) {
		struct ts_found hit;
		enum ts_next got;

		if (!n_chunks--)
			return TS_MORE;
		if (s->chunk == TS_NO_CHUNK) {
			if (!start_span(s, err))
				return TS_FAIL;
			continue;
		}
		got = ts_watch_chunk(s, s->chunk, &hit, err);
		if (got == TS_FAIL)
			return TS_FAIL;
		if (got == TS_END) {
			aim(s, s->is_reverse ? s->chunk - 1 : s->chunk + 1); /* before the first: none */
			continue;
		}
		take_hit(s, &hit);
		if (s->is_reverse && hit.pos < s->chunk * TS_CHUNK_STEPS)
			look_again(s, hit.pos);
	}
	*found = s->best;
	return ts_query_finish_question(s->q, err) ? TS_ITEM : TS_FAIL;
}
