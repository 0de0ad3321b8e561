/* SPDX-License-Identifier: MIT */
#include "search.h"

#include <stdlib.h>
#include <string.h>

#include "chunks.h"
#include "forks.h"
#include "insn_reads.h"
#include "replay.h"

/* Breakpoints that can be looked up in the time that a chunk takes. */
#define LOOKS_A_CHUNK 64

/* ------------------------------------------------------------------------------------ breakpoints, events */

static bool is_admitted(const struct ts_search *s, uint64_t pos)
{
	const struct ts_filter *f = s->stops->filter;

	return !f || ts_filter_admits(f, ts_modes_at(&s->q->tl->modes, pos));
}

/* Take a stop that is nearer than the best one, or as near and more important (in the order of the calls). */
static void offer(struct ts_search *s, uint64_t pos, enum ts_stop_kind kind, uint32_t thread, uint64_t number)
{
	struct ts_found *b = &s->best;

	if (s->is_reverse ? pos >= s->from : pos <= s->from)
		return;
	if (s->is_reverse ? pos < b->pos : pos > b->pos)
		return;
	if ((pos == b->pos && b->kind != TS_STOP_END) || !is_admitted(s, pos))
		return;
	*b = (struct ts_found){ .pos = pos, .kind = kind, .thread = thread, .number = number };
}

/*
 * The nearest position from @pos on that the filter admits, in the direction of the search; TS_NO_POS if
 * there is none.
 */
static uint64_t nearest_admitted(const struct ts_search *s, uint64_t pos)
{
	return s->is_reverse ? ts_query_prev_admitted(s->q, s->stops->filter, pos)
			     : ts_query_next_admitted(s->q, s->stops->filter, pos);
}

/* The nearest arrival at a breakpoint's address from @from on. */
static uint64_t next_arrival(const struct ts_search *s, const struct ts_break *br, uint64_t from)
{
	return s->is_reverse ? ts_query_prev_arrival(s->q, br->process, br->addr, br->addr, from)
			     : ts_query_next_arrival(s->q, br->process, br->addr, br->addr, from);
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
	pos = next_arrival(s, br, from);
	s->break_from = TS_NO_POS;
	if (pos == TS_NO_POS || (s->is_reverse ? pos < s->best.pos : pos > s->best.pos))
		return true;
	if (!is_admitted(s, pos)) {
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
 * there is none, and so is what comes before the first.
 */
static uint64_t first_event(const struct ts_search *s, enum ts_event_kind kind, uint64_t from)
{
	if (!s->is_reverse)
		return ts_query_n_events_below(s->q, kind, from);
	return ts_query_n_events_below(s->q, kind, from < UINT64_MAX ? from + 1 : from) - 1;
}

/*
 * Look at events of the kind from the @first one on, in the direction of the search, while @look returns true.
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

/* Regions are compared with all others only for so many edges. */
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

/* -------------------------------------------------------------------------------------------- watchpoints */

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

static uint64_t next_access(const struct ts_search *s, enum ts_access access, const struct ts_watch *w,
			    uint64_t chunk)
{
	uint64_t last = w->addr + (w->len - 1);

	return s->is_reverse ? ts_query_prev_access(s->q, access, w->process, w->addr, last, chunk)
			     : ts_query_next_access(s->q, access, w->process, w->addr, last, chunk);
}

/*
 * The first chunk from @chunk on, in the direction of the search, in which one of the places may be touched.
 */
static uint64_t touched_chunk(const struct ts_search *s, uint64_t chunk)
{
	uint64_t best = TS_NO_CHUNK;

	if (s->infers_reads)
		return chunk;
	for (size_t i = 0; i < s->places.n; i++) {
		const struct ts_watch *w = &s->places.items[i].at;

		if (w->kind == TS_WATCH_WRITE)
			best = nearer_chunk(s, best, next_access(s, TS_ACCESS_CHANGE, w, chunk));
		if (w->kind == TS_WATCH_ACCESS)
			best = nearer_chunk(s, best, next_access(s, TS_ACCESS_WRITE, w, chunk));
		if (wants_reads(w))
			best = nearer_chunk(s, best, next_access(s, TS_ACCESS_READ, w, chunk));
	}
	return best;
}

/*
 * Does the value of the effect differ from what the window holds?  A write to an unknown byte may, and so may
 * what is first seen after a gap; a read of a lost one does not, since it shows what was there.
 */
static bool is_change(const struct ts_replay *v, const struct ts_effect *e, const uint8_t *value, uint64_t lo,
		      uint64_t hi)
{
	for (uint64_t a = lo;; a++) {
		uint8_t known = v->known[a - v->addr];

		if (known == 1 ? v->data[a - v->addr] != value[a - e->addr] : !known || e->kind == TS_FX_WRITE)
			return true;
		if (a == hi)
			return false;
	}
}

/* An access that instructions see, or a change, which may be hidden or show only in a later read. */
static bool is_trigger(const struct ts_watch *w, const struct ts_replay *v, const struct ts_steps *b,
		       const struct ts_effect *e, uint64_t lo, uint64_t hi)
{
	const uint8_t *value = ts_effect_data(b, e);

	if (e->kind != TS_FX_WRITE && e->kind != TS_FX_READ)
		return false;
	if (!e->is_hidden && (e->kind == TS_FX_READ ? wants_reads(w) : w->kind == TS_WATCH_ACCESS))
		return true;
	return wants_writes(w) && (value ? is_change(v, e, value, lo, hi) : e->kind == TS_FX_WRITE);
}

/* What one step, or the steps of a chunk, did to the places. */
enum touch {
	TOUCH_NONE = 0,
	TOUCH_WATCH = 1, /* a watchpoint triggered */
	TOUCH_ENTRY = 2, /* a table entry changed: the places differ after the step */
};

/* What a step did to a place: *found gets the first trigger of a watchpoint.  Returns the kind of touch. */
static unsigned touch_place(const struct ts_search *s, size_t place, uint64_t step, uint64_t addr,
			    uint32_t thread, unsigned before, struct ts_found *found)
{
	const struct ts_place *p = &s->places.items[place];

	if (p->watch == TS_NO_WATCH)
		return TOUCH_ENTRY;
	if (!(before & TOUCH_WATCH)) {
		*found = (struct ts_found){ .kind = TS_STOP_WATCH, .watch = p->watch, .thread = thread };
		found->addr = p->addr + (addr - p->at.addr);
		found->pos = s->is_reverse ? step : step + 1;
	}
	return TOUCH_WATCH;
}

/* Carry the windows through step @step.  Returns a mask of enum touch; @found gets the first trigger. */
static unsigned watch_step(struct ts_search *s, const struct ts_steps *b, const struct ts_step *st,
			   uint64_t step, struct ts_found *found)
{
	struct ts_step_effects all = ts_step_effects(b, st);
	unsigned touch = TOUCH_NONE;
	const struct ts_effect *e;

	while ((e = ts_step_effects_next(&all))) {
		for (size_t j = 0; j < s->places.n; j++) {
			struct ts_replay *v = &s->views[j];
			uint64_t lo, hi;
			bool is_inside;

			if (ts_query_process_of(s->q, all.thread) != v->process)
				continue;
			is_inside = ts_replay_overlap(v, e, &lo, &hi);
			if (is_inside && is_trigger(&s->places.items[j].at, v, b, e, lo, hi))
				touch |= touch_place(s, j, step, lo, all.thread, touch, found);
			if (is_inside || e->kind > TS_FX_READ) /* maps outside count as layers */
				ts_replay_take(v, b, e);
		}
	}
	return touch;
}

/* The places that the instruction of step @step read, of a recording without reads.  *touch is as of watch_step(). */
static bool watch_reads(struct ts_search *s, uint64_t step, unsigned *touch, struct ts_found *found, struct ts_error *err)
{
	uint32_t thread = ts_query_thread(s->q, step);
	struct ts_insn_reads r;

	if (!ts_query_insn_reads(s->q, step, &r, err))
		return false;
	for (size_t j = 0; j < s->places.n; j++) {
		const struct ts_watch *w = &s->places.items[j].at;

		for (unsigned i = 0; i < r.n; i++) {
			uint64_t lo = r.items[i].first > w->addr ? r.items[i].first : w->addr;

			if (wants_reads(w) && w->process == ts_query_process_of(s->q, thread) && lo <= r.items[i].last &&
			    lo <= w->addr + (w->len - 1))
				*touch |= touch_place(s, j, step, lo, thread, *touch, found);
		}
	}
	return true;
}

/*
 * What step @step + 1 saw when it began: a contradiction is a change that happened unseen before it, and is
 * attributed to step @step as if that had written it.  Returns the same as watch_step().
 */
static unsigned watch_sight(struct ts_search *s, const struct ts_steps *b, const struct ts_step *next,
			    uint64_t step, struct ts_found *found)
{
	const struct ts_effect *first = NULL;
	unsigned touch = TOUCH_NONE;

	for (size_t j = 0; j < s->places.n; j++) {
		struct ts_replay *v = &s->views[j];
		uint32_t thread;
		const struct ts_effect *e = ts_replay_is_touched(v, b, next) ? ts_replay_see(v, b, next, &thread) : NULL;
		uint64_t lo, hi;

		if (!e || !wants_writes(&s->places.items[j].at) || !ts_replay_overlap(v, e, &lo, &hi))
			continue;
		touch |= touch_place(s, j, step, lo, thread, first && first <= e ? TOUCH_WATCH : TOUCH_NONE,
				     found);
		if (s->places.items[j].watch != TS_NO_WATCH && (!first || e < first))
			first = e;
	}
	return touch;
}

/* The steps of a span that lie in a chunk, and what was found so far. */
struct chunk_watch {
	uint64_t first, end; /* only a trigger of a step in [first, end) counts */
	struct ts_found *found;
	bool is_found;
};

/*
 * Take what step @step did.  Of several triggers the nearest one in the direction of the search counts; a
 * change of a table entry, after which the places differ, ends the span there.
 */
static void take_touch(struct ts_search *s, struct chunk_watch *w, uint64_t step, unsigned touch,
		       const struct ts_found *hit)
{
	if (!touch || step < w->first || step >= w->end)
		return;
	if (touch & TOUCH_WATCH && is_admitted(s, step) &&
	    (s->is_reverse ? !w->is_found || hit->pos > w->found->pos : !w->is_found)) {
		*w->found = *hit;
		w->is_found = true;
	}
	if (touch & TOUCH_ENTRY && !s->is_reverse) {
		s->end = w->end = step + 1;
	} else if (touch & TOUCH_ENTRY && step + 1 < s->end) {
		s->first = w->first = step + 1;
		w->is_found = false;
	}
}

/*
 * Look through a chunk for the trigger that is nearest in the direction of the search: of its steps, and of
 * the one before, whose changes the first one may see.  What the last step's successor sees belongs to the
 * next chunk.
 *
 * Returns TS_ITEM with @found.  Returns TS_END if the part of the span in the chunk has none.  What the
 * last step of a span going back does to the tables counts for what comes after it, which has been looked
 * through.
 */
static enum ts_next watch_chunk(struct ts_search *s, uint64_t chunk, struct ts_found *found,
				struct ts_error *err)
{
	uint64_t start = chunk * TS_CHUNK_STEPS;
	struct chunk_watch w = {
		.first = s->is_reverse && s->best.pos > s->first ? s->best.pos : s->first,
		.end = !s->is_reverse && s->best.pos < s->end ? s->best.pos : s->end,
		.found = found,
	};
	uint32_t n = w.end - start < TS_CHUNK_STEPS ? (uint32_t)(w.end - start) + 1 : TS_CHUNK_STEPS;
	const struct ts_steps *b = ts_query_chunk(s->q, chunk, s->is_reverse ? n : 1, err);

	for (size_t i = 0; i < s->places.n; i++) {
		if (s->views[i].process < s->q->tl->n_memory)
			ts_replay_start(&s->views[i], chunk);
	}
	for (uint32_t i = 0; b && i < n && (s->is_reverse || (!w.is_found && start + i <= w.end)); i++) {
		uint64_t step = start + i;
		struct ts_found hit;
		unsigned touch;

		if (i == b->n_steps)
			b = ts_query_chunk(s->q, chunk, i + STEPS_AHEAD, err);
		if (!b || i >= b->n_steps)
			break;
		touch = watch_sight(s, b, &b->steps[i], step - 1, &hit);
		if (step)
			take_touch(s, &w, step - 1, touch, &hit);
		if (!s->is_reverse && w.is_found)
			break;
		touch = watch_step(s, b, &b->steps[i], step, &hit);
		if (s->infers_reads && (!watch_reads(s, step, &touch, &hit, err) ||
					!(b = ts_query_chunk(s->q, chunk, i + 1, err))))
			return TS_FAIL;
		take_touch(s, &w, step, touch, &hit);
	}
	if (!b)
		return TS_FAIL;
	return w.is_found ? TS_ITEM : TS_END;
}

/* --------------------------------------------------------------------------------------------- the search */

/* Make one window for each place, with all their bytes in one allocation. */
static bool make_views(struct ts_search *s, struct ts_error *err)
{
	size_t len = 0, n = s->places.n;

	free(s->views);
	free(s->bytes);
	for (size_t i = 0; i < n; i++)
		len += (size_t)s->places.items[i].at.len;
	s->views = calloc(n + 1, sizeof(*s->views));
	s->bytes = malloc(2 * len + 1);
	if (!s->views || !s->bytes)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to watch %zu bytes", len);
	for (size_t i = 0, off = 0; i < n; off += s->views[i++].len) {
		const struct ts_watch *w = &s->places.items[i].at;

		s->views[i] = (struct ts_replay){ .tl = s->q->tl,
						.process = w->process,
						.addr = w->addr };
		s->views[i].len = (size_t)w->len;
		s->views[i].data = s->bytes + off;
		s->views[i].known = s->bytes + len + off;
	}
	return true;
}

/* Can watchpoints in steps that have not been looked through still come before the best other stop? */
static bool has_more(const struct ts_search *s)
{
	return s->stops->n_watches && (s->is_reverse ? s->at > s->best.pos : s->at < s->best.pos);
}

/*
 * The next chunk of the span to look into is @chunk, or one after it; TS_NO_CHUNK: none.  If there is none,
 * the whole span has been searched.
 */
static void aim(struct ts_search *s, uint64_t chunk)
{
	uint64_t start, end;

	s->chunk = chunk == TS_NO_CHUNK ? chunk : touched_chunk(s, chunk);
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
	    !make_views(s, err))
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
 * chunk before, which it belongs to, was looked at: what that step itself did comes first.
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
			return TS_END;
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the list of forks");
		return TS_FAIL;
	}
	while (has_more(s)) {
		struct ts_found hit;

		if (!n_chunks--)
			return TS_END;
		if (s->chunk == TS_NO_CHUNK) {
			if (!start_span(s, err))
				return TS_FAIL;
			continue;
		}
		switch (watch_chunk(s, s->chunk, &hit, err)) {
		case TS_FAIL:
			return TS_FAIL;
		case TS_ITEM:
			take_hit(s, &hit);
			if (s->is_reverse && hit.pos < s->chunk * TS_CHUNK_STEPS)
				look_again(s, hit.pos);
			break;
		case TS_END:
			aim(s, s->is_reverse ? s->chunk - 1 : s->chunk + 1); /* before the first: none */
			break;
		}
	}
	*found = s->best;
	return ts_query_finish_question(s->q, err) ? TS_ITEM : TS_FAIL;
}
