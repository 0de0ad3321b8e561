/* SPDX-License-Identifier: MIT */
#include "world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void ts_world_init(struct ts_world *w)
{
	*w = (struct ts_world){ 0 };
	ts_buf_init(&w->texts);
}

void ts_world_fini(struct ts_world *w)
{
	for (uint32_t i = 0; i < w->n_threads; i++)
		free(w->threads[i].items);
	for (unsigned i = 0; i < TS_N_EVENT_KINDS; i++)
		free(w->events[i].items);
	free(w->threads);
	free(w->slices);
	free(w->regions);
	free(w->live);
	free(w->modules);
	ts_buf_fini(&w->texts);
	ts_world_init(w);
}

/* Make room for item number @n of an array whose capacity doubles. */
static void *room(struct ts_world *w, void *array, size_t n, size_t *cap, size_t item_len)
{
	size_t want = *cap ? *cap * 2 : 16;
	void *p;

	if (n < *cap)
		return array;
	p = realloc(array, want * item_len);
	if (!p) {
		w->is_failed = true;
		return NULL;
	}
	*cap = want;
	return p;
}

/* ------------------------------------------------------------------------------------------------ threads */

static struct ts_thread_slices *thread_slices(struct ts_world *w, uint32_t thread)
{
	struct ts_thread_slices *p;

	if (thread < w->n_threads)
		return &w->threads[thread];
	p = realloc(w->threads, ((size_t)thread + 1) * sizeof(*p));
	if (!p) {
		w->is_failed = true;
		return NULL;
	}
	w->threads = p;
	for (; w->n_threads <= thread; w->n_threads++)
		p[w->n_threads] = (struct ts_thread_slices){ .end_step = UINT64_MAX };
	return &p[thread];
}

void ts_world_run(struct ts_world *w, uint64_t pos, uint32_t thread)
{
	struct ts_thread_slices *t;
	struct ts_slice *slices;

	if (w->n_slices && w->slices[w->n_slices - 1].thread == thread)
		return;
	t = thread_slices(w, thread);
	if (!t)
		return;
	slices = room(w, w->slices, w->n_slices, &w->cap_slices, sizeof(*slices));
	if (!slices)
		return;
	w->slices = slices;
	if (t->n == t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 4;
		uint32_t *items = realloc(t->items, cap * sizeof(*items));

		if (!items) {
			w->is_failed = true;
			return;
		}
		t->items = items;
		t->cap = cap;
	}
	t->items[t->n++] = (uint32_t)w->n_slices;
	slices[w->n_slices++] = (struct ts_slice){ pos, thread };
}

/* Ordinal of the slice in which @pos lies. */
static size_t slice_of(const struct ts_world *w, uint64_t pos)
{
	size_t lo = 0, n = w->n_slices;

	assert(n);
	while (n > 1) {
		size_t half = n / 2;

		if (w->slices[lo + half].pos <= pos) {
			lo += half;
			n -= half;
		} else {
			n = half;
		}
	}
	return lo;
}

uint32_t ts_world_thread(const struct ts_world *w, uint64_t pos)
{
	return w->slices[slice_of(w, pos)].thread;
}

uint64_t ts_world_slice_end(const struct ts_world *w, uint64_t pos)
{
	size_t next = slice_of(w, pos) + 1;

	return next < w->n_slices ? w->slices[next].pos : UINT64_MAX;
}

/* How many of the thread's slices have an ordinal below @slice. */
static uint32_t slices_below(const struct ts_thread_slices *t, size_t slice)
{
	uint32_t lo = 0, n = t->n;

	while (n) {
		uint32_t half = n / 2;

		if (t->items[lo + half] < slice) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo;
}

uint64_t ts_world_next_step(const struct ts_world *w, uint32_t thread, uint64_t pos, uint64_t n_steps)
{
	size_t slice;
	uint32_t i;

	if (thread >= w->n_threads || pos >= n_steps)
		return UINT64_MAX;
	slice = slice_of(w, pos);
	if (w->slices[slice].thread == thread)
		return pos;
	i = slices_below(&w->threads[thread], slice);
	if (i == w->threads[thread].n)
		return UINT64_MAX;
	pos = w->slices[w->threads[thread].items[i]].pos;
	return pos < n_steps ? pos : UINT64_MAX; /* more may be known than can be asked about */
}

uint64_t ts_world_prev_step(const struct ts_world *w, uint32_t thread, uint64_t pos, uint64_t n_steps)
{
	size_t slice;
	uint32_t i;

	if (thread >= w->n_threads || !n_steps)
		return UINT64_MAX;
	if (pos >= n_steps)
		pos = n_steps - 1;
	slice = slice_of(w, pos);
	if (w->slices[slice].thread == thread)
		return pos;
	i = slices_below(&w->threads[thread], slice);
	if (!i)
		return UINT64_MAX;
	slice = w->threads[thread].items[i - 1];
	return w->slices[slice + 1].pos - 1; /* a later slice exists: @pos lies in one */
}

/* The last step of a thread that has run, as far as @n_steps steps tell. */
static uint64_t last_step(const struct ts_world *w, const struct ts_thread_slices *t, uint64_t n_steps)
{
	size_t slice = t->items[t->n - 1];

	return (slice + 1 < w->n_slices ? w->slices[slice + 1].pos : n_steps) - 1;
}

void ts_world_end_thread(struct ts_world *w, uint64_t step, uint32_t thread)
{
	struct ts_thread_slices *t;

	if (thread >= w->n_threads || !w->threads[thread].n)
		return;
	t = &w->threads[thread];
	if (t->end_step == UINT64_MAX || t->end_step < last_step(w, t, step + 1))
		t->end_step = step;
}

bool ts_world_is_alive(const struct ts_world *w, uint32_t thread, uint64_t pos)
{
	const struct ts_thread_slices *t;

	if (thread >= w->n_threads || !w->threads[thread].n)
		return false;
	t = &w->threads[thread];
	if (w->slices[t->items[0]].pos > pos)
		return false;
	return t->end_step == UINT64_MAX || pos <= t->end_step || ts_world_thread(w, pos) == thread ||
	       t->end_step < last_step(w, t, UINT64_MAX);
}

/* ------------------------------------------------------------------------------------------------ events */

void ts_world_event(struct ts_world *w, uint64_t step, uint32_t thread, const struct ts_event *ev)
{
	struct ts_happenings *h = &w->events[ev->kind];
	struct ts_happening *items = room(w, h->items, h->n, &h->cap, sizeof(*items));

	if (!items)
		return;
	h->items = items;
	items[h->n++] = (struct ts_happening){ step, thread, *ev };
}

/* How many events of the list are at steps below @step. */
static size_t events_below(const struct ts_happenings *h, uint64_t step)
{
	size_t lo = 0, n = h->n;

	while (n) {
		size_t half = n / 2;

		if (h->items[lo + half].step < step) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo;
}

const struct ts_happening *ts_world_next_event(const struct ts_world *w, enum ts_event_kind kind,
					       uint64_t step)
{
	const struct ts_happenings *h = &w->events[kind];
	size_t i = events_below(h, step);

	return i < h->n ? &h->items[i] : NULL;
}

const struct ts_happening *ts_world_prev_event(const struct ts_world *w, enum ts_event_kind kind,
					       uint64_t step)
{
	const struct ts_happenings *h = &w->events[kind];
	size_t i = step == UINT64_MAX ? h->n : events_below(h, step + 1);

	return i ? &h->items[i - 1] : NULL;
}

/* ------------------------------------------------------------------------------------------------ regions */

/*
 * The first live region of @process that ends at @addr or later, as an ordinal of live; those of later processes
 * follow.
 */
static size_t live_at(const struct ts_world *w, uint32_t process, uint64_t addr)
{
	size_t lo = 0, n = w->n_live;

	while (n) {
		const struct ts_region *r = &w->regions[w->live[lo + n / 2]];
		bool is_before = r->process < process || (r->process == process && r->last < addr);

		lo += is_before ? n / 2 + 1 : 0;
		n = is_before ? n - n / 2 - 1 : n / 2;
	}
	return lo;
}

static void add_region(struct ts_world *w, const struct ts_region *r)
{
	struct ts_region *regions = room(w, w->regions, w->n_regions, &w->cap_regions, sizeof(*regions));
	uint32_t *live;
	size_t at;

	if (!regions)
		return;
	w->regions = regions;
	live = room(w, w->live, w->n_live, &w->cap_live, sizeof(*live));
	if (!live)
		return;
	w->live = live;
	at = live_at(w, r->process, r->first);
	memmove(live + at + 1, live + at, (w->n_live++ - at) * sizeof(*live));
	live[at] = (uint32_t)w->n_regions;
	regions[w->n_regions++] = *r;
}

/* The part [first, last] of @r goes on as a region of its own from @pos. */
static void keep_part(struct ts_world *w, struct ts_region r, uint64_t pos, uint64_t first, uint64_t last)
{
	r.file_off += first - r.first;
	r.from = pos;
	r.first = first;
	r.last = last;
	add_region(w, &r);
}

/*
 * Take [first, last] out of the live regions of a process; with @prot >= 0 the part goes on with that
 * protection.
 */
static void cut(struct ts_world *w, uint64_t pos, uint32_t process, uint64_t first, uint64_t last, int prot)
{
	size_t i;

	while ((i = live_at(w, process, first)) < w->n_live && !w->is_failed) {
		uint32_t id = w->live[i];
		struct ts_region r = w->regions[id];
		uint64_t lo = first > r.first ? first : r.first, hi = last < r.last ? last : r.last;

		if (r.process != process || r.first > last)
			return;
		memmove(w->live + i, w->live + i + 1, (--w->n_live - i) * sizeof(*w->live));
		w->regions[id].until = pos;
		if (r.first < lo)
			keep_part(w, r, pos, r.first, lo - 1);
		if (hi < r.last)
			keep_part(w, r, pos, hi + 1, r.last);
		if (prot >= 0) {
			r.prot = (uint32_t)prot;
			keep_part(w, r, pos, lo, hi);
		}
		if (hi == last)
			return;
		first = hi + 1;
	}
}

static uint32_t add_text(struct ts_world *w, const char *text)
{
	size_t off = w->texts.len;

	if (!text)
		return TS_NO_DATA;
	ts_buf_put(&w->texts, text, strlen(text) + 1);
	if (!ts_buf_ok(&w->texts) || off >= TS_NO_DATA) {
		w->is_failed = true;
		return TS_NO_DATA;
	}
	return (uint32_t)off;
}

void ts_world_map(struct ts_world *w, uint64_t pos, uint32_t process, const struct ts_steps *b,
		  const struct ts_map *m)
{
	struct ts_region r = {
		.from = pos,
		.until = UINT64_MAX,
		.first = m->addr,
		.last = m->addr + (m->len - 1),
		.file_off = m->file_off,
		.process = process,
		.prot = m->prot,
		.desc = add_text(w, ts_steps_text(b, m->desc)),
		.file = add_text(w, ts_steps_text(b, m->file)),
	};

	cut(w, pos, process, r.first, r.last, -1);
	add_region(w, &r);
}

void ts_world_unmap(struct ts_world *w, uint64_t pos, uint32_t process, uint64_t addr, uint64_t len)
{
	if (len)
		cut(w, pos, process, addr, addr + (len - 1), -1);
}

void ts_world_protect(struct ts_world *w, uint64_t pos, uint32_t process, uint64_t addr, uint64_t len,
		      uint32_t prot)
{
	if (len)
		cut(w, pos, process, addr, addr + (len - 1), (int)prot);
}

static int compare_regions(const void *a, const void *b)
{
	const struct ts_region *x = *(const struct ts_region *const *)a,
			       *y = *(const struct ts_region *const *)b;

	return (x->first > y->first) - (x->first < y->first);
}

size_t ts_world_regions(const struct ts_world *w, uint32_t process, uint64_t pos,
			const struct ts_region **out, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_regions; i++) {
		const struct ts_region *r = &w->regions[i];

		if (r->process != process || r->from > pos || pos >= r->until)
			continue;
		if (n < max)
			out[n] = r;
		n++;
	}
	if (max)
		qsort(out, n < max ? n : max, sizeof(const struct ts_region *), compare_regions);
	return n;
}

/* ------------------------------------------------------------------------------------------------ modules */

void ts_world_unload(struct ts_world *w, uint64_t pos, uint32_t process, uint64_t addr, uint64_t len)
{
	uint64_t last = addr + (len - 1);

	for (size_t i = 0; len && i < w->n_modules; i++) {
		struct ts_loaded *m = &w->modules[i];

		if (m->process == process && m->until == UINT64_MAX && m->first <= last && addr <= m->last)
			m->until = pos;
	}
}

void ts_world_load(struct ts_world *w, uint64_t pos, uint32_t process, const struct ts_steps *b,
		   const struct ts_module *m)
{
	struct ts_loaded *modules;

	ts_world_unload(w, pos, process, m->addr, m->len);
	modules = room(w, w->modules, w->n_modules, &w->cap_modules, sizeof(*modules));
	if (!modules)
		return;
	w->modules = modules;
	modules[w->n_modules++] = (struct ts_loaded){
		.from = pos,
		.until = UINT64_MAX,
		.first = m->addr,
		.last = m->addr + (m->len - 1),
		.process = process,
		.file = add_text(w, ts_steps_text(b, m->file)),
	};
}

const struct ts_loaded *ts_world_next_module(const struct ts_world *w, uint32_t process, uint64_t pos,
					     size_t *at)
{
	while (*at < w->n_modules) {
		const struct ts_loaded *m = &w->modules[(*at)++];

		if (m->process == process && m->from <= pos && pos < m->until)
			return m;
	}
	return NULL;
}

const char *ts_world_text(const struct ts_world *w, uint32_t off)
{
	return off == TS_NO_DATA ? NULL : (const char *)w->texts.data + off;
}
