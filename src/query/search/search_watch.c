/* SPDX-License-Identifier: MIT */
/* Watchpoints: which chunks may touch their places, and what the steps of a chunk do there. */
#include <stdlib.h>

#include "src/query/chunks.h"
#include "src/query/code/insn_reads.h"
#include "src/query/code/insns.h"
#include "read_chunks.h"
#include "search_parts.h"

bool ts_watch_make_views(struct ts_search *s, struct ts_error *err)
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

static struct ts_read_search read_search(const struct ts_search *s, const struct ts_watch *w)
{
	return (struct ts_read_search){ .process = w->process,
					.first = w->addr,
					.last = w->addr + (w->len - 1),
					.is_reverse = s->is_reverse,
					.finds_open = !s->has_open_reads };
}

uint64_t ts_watch_touched_chunk(const struct ts_search *s, uint64_t chunk)
{
	static const unsigned accesses[] = {
		[TS_WATCH_WRITE] = TS_ACCESS_CHANGE,
		[TS_WATCH_READ] = TS_ACCESS_READ,
		[TS_WATCH_ACCESS] = TS_ACCESS_WRITE | TS_ACCESS_READ,
	};
	uint64_t best = TS_NO_CHUNK;

	for (size_t i = 0; i < s->places.n; i++) {
		const struct ts_watch *w = &s->places.items[i].at;
		uint64_t found = ts_query_find_access(s->q, accesses[w->kind], w->process, w->addr, w->addr + (w->len - 1), chunk,
						      s->is_reverse);

		best = ts_nearer(best, found, s->is_reverse);
	}
	for (size_t i = 0; s->infers_reads && i < s->places.n; i++) {
		struct ts_read_search r = read_search(s, &s->places.items[i].at);

		if (wants_reads(&s->places.items[i].at))
			best = ts_nearer(best, ts_query_find_read(s->q, &r, chunk, best), s->is_reverse);
	}
	return best;
}

/*
 * May steps of the chunk have read a place, by reads that the recording lacks?  *is_touched is false if nothing touches one.
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
static bool learn_reads(struct ts_search *s, uint64_t chunk, bool *may_read, bool *is_touched, struct ts_error *err)
{
	*may_read = false;
	*is_touched = true;
	if (!s->infers_reads)
		return true;
	if (!ts_query_learn_reads(s->q, chunk, s->n_watched++, err))
		return false;
	for (size_t i = 0; i < s->places.n; i++) {
		struct ts_read_search r = read_search(s, &s->places.items[i].at);

		*may_read |= wants_reads(&s->places.items[i].at) && ts_query_may_read(s->q, &r, chunk);
	}
	*is_touched = *may_read || ts_watch_touched_chunk(s, chunk) == chunk;
	return true;
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
	bool is_write = e->kind == TS_FX_WRITE;

	if (!is_write && e->kind != TS_FX_READ)
		return false;
	if ((is_write ? w->kind == TS_WATCH_ACCESS : wants_reads(w)) && ts_effect_is_access(e, is_write))
		return true;
	return wants_writes(w) && (value ? is_change(v, e, value, lo, hi) : is_write);
}

/* The ways in which a step, or the steps of a chunk, touched the places. */
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

/*
 * The places that the instruction of step @step read, of a recording without these reads.  *touch is as of watch_step().
 * *last_open becomes the step if it may have read others.
 */
static bool watch_reads(struct ts_search *s, uint64_t step, unsigned *touch, struct ts_found *found, uint64_t *last_open,
			struct ts_error *err)
{
	uint32_t thread = ts_query_thread(s->q, step);
	struct ts_insn_reads r;

	if (!ts_query_unrecorded_reads(s->q, step, &r, err))
		return false;
	if (r.is_open)
		*last_open = step;
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
static unsigned watch_inferred(struct ts_search *s, const struct ts_steps *b, const struct ts_step *next,
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
	if (touch & TOUCH_WATCH && ts_search_is_admitted(s, step) &&
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

enum ts_next ts_watch_chunk(struct ts_search *s, uint64_t chunk, struct ts_found *found,
			    struct ts_error *err)
{
	uint64_t start = chunk * TS_CHUNK_STEPS;
	struct chunk_watch w = {
		.first = s->is_reverse && s->best.pos > s->first ? s->best.pos : s->first,
		.end = !s->is_reverse && s->best.pos < s->end ? s->best.pos : s->end,
		.found = found,
	};
	uint32_t n = w.end - start < TS_CHUNK_STEPS ? (uint32_t)(w.end - start) + 1 : TS_CHUNK_STEPS;
	uint64_t last_open = TS_NO_POS;
	const struct ts_steps *b;
	bool may_read, is_touched;

	if (!learn_reads(s, chunk, &may_read, &is_touched, err))
		return TS_FAIL;
	if (!is_touched)
		return TS_END;
	b = ts_query_chunk(s->q, chunk, s->is_reverse ? n : 1, err);
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
		touch = watch_inferred(s, b, &b->steps[i], step - 1, &hit);
		if (step)
			take_touch(s, &w, step - 1, touch, &hit);
		if (!s->is_reverse && w.is_found)
			break;
		touch = watch_step(s, b, &b->steps[i], step, &hit);
		if (may_read && step >= w.first && step < w.end &&
		    !ts_query_reads_are_recorded(s->q, chunk, b, &b->steps[i]) &&
		    (!watch_reads(s, step, &touch, &hit, &last_open, err) || !(b = ts_query_chunk(s->q, chunk, i + 1, err))))
			return TS_FAIL;
		take_touch(s, &w, step, touch, &hit);
	}
	if (!b)
		return TS_FAIL;
	s->has_open_reads |= last_open != TS_NO_POS && (!s->is_reverse || !w.is_found || last_open > found->pos);
	return w.is_found ? TS_ITEM : TS_END;
}

bool ts_search_is_admitted(const struct ts_search *s, uint64_t pos)
{
	const struct ts_filter *f = s->stops->filter;

	return !f || ts_filter_admits(f, ts_modes_at(&s->q->tl->modes, pos));
}
