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
		ts_event_list_fini(&w->events[i]);
	free(w->threads);
	free(w->slices);
	free(w->regions);
	free(w->modules);
	ts_buf_fini(&w->texts);
	ts_world_init(w);
}

/* ------------------------------------------------------------------------------------------------ threads */

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

uint64_t ts_world_n_steps(const struct ts_world *w, uint32_t thread, uint64_t n_steps)
{
	const struct ts_thread_slices *t;
	uint64_t end;
	uint32_t i;

	if (thread >= w->n_threads || !n_steps)
		return 0;
	t = &w->threads[thread];
	i = slices_below(t, slice_of(w, n_steps - 1) + 1);
	if (!i)
		return 0;
	i = t->items[i - 1];
	end = i + 1 < w->n_slices && w->slices[i + 1].pos < n_steps ? w->slices[i + 1].pos : n_steps;
	return w->slices[i].n_before + (end - w->slices[i].pos);
}

uint64_t ts_world_last_step(const struct ts_world *w, const struct ts_thread_slices *t, uint64_t n_steps)
{
	size_t slice = t->items[t->n - 1];

	return (slice + 1 < w->n_slices ? w->slices[slice + 1].pos : n_steps) - 1;
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
	       t->end_step < ts_world_last_step(w, t, UINT64_MAX);
}

/* ------------------------------------------------------------------------------------------------ events */

const struct ts_happening *ts_world_next_event(const struct ts_world *w, enum ts_event_kind kind,
					       uint64_t step)
{
	const struct ts_event_list *list = &w->events[kind];
	uint64_t i = ts_event_list_below(list, step);

	return i < list->n ? ts_event_list_at(list, i) : NULL;
}

const struct ts_happening *ts_world_prev_event(const struct ts_world *w, enum ts_event_kind kind,
					       uint64_t step)
{
	const struct ts_event_list *list = &w->events[kind];
	uint64_t n = step == UINT64_MAX ? list->n : ts_event_list_below(list, step + 1);

	return n ? ts_event_list_at(list, n - 1) : NULL;
}

/* ------------------------------------------------------------------------------------------------ regions */

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
