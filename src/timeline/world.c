/* SPDX-License-Identifier: MIT */
#include "world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bisect.h"
#include "src/index/index_blocks.h"

void ts_world_init(struct ts_world *w)
{
	*w = (struct ts_world){ 0 };
	ts_buf_init(&w->texts);
}

void ts_world_drop_arrays(struct ts_world *w)
{
	for (uint32_t i = 0; !w->file && i < w->n_threads; i++)
		free(w->threads[i].items);
	free(w->threads);
	if (w->file)
		return;
	free(w->slices);
	free(w->regions);
	free(w->with_file);
	free(w->modules);
}

void ts_world_fini(struct ts_world *w)
{
	for (unsigned i = 0; i < TS_N_EVENT_KINDS; i++)
		ts_event_list_fini(&w->events[i]);
	ts_world_drop_arrays(w);
	ts_buf_fini(&w->texts);
	ts_world_init(w);
}

/* ------------------------------------------------------------------------------------------------ threads */

/* A slice; one that is damaged is the first thread's. */
static struct ts_slice slice_at(const struct ts_world *w, size_t i)
{
	const struct ts_slice *s = &w->slices[i];

	if (!w->file)
		return *s;
	if (!ts_index_blocks_use(w->file, s, sizeof(*s)))
		return (struct ts_slice){ 0 };
	if (s->thread < w->n_threads && s->pos < w->n_steps)
		return *s;
	ts_index_blocks_note_damage(w->file);
	return (struct ts_slice){ 0 };
}

/* The ordinal of slice @i of a thread. */
static size_t ordinal_at(const struct ts_world *w, const struct ts_thread_slices *t, uint32_t i)
{
	const uint32_t *item = &t->items[i];

	if (!w->file)
		return *item;
	if (!ts_index_blocks_use(w->file, item, sizeof(*item)))
		return 0;
	if (*item < w->n_slices)
		return *item;
	ts_index_blocks_note_damage(w->file);
	return 0;
}

/* Ordinal of the slice in which @pos lies. */
static size_t slice_of(const struct ts_world *w, uint64_t pos)
{
	size_t at = 1;

	assert(w->n_slices);
	TS_BISECT(at, w->n_slices, i, slice_at(w, i).pos <= pos);
	return at - 1;
}

uint32_t ts_world_thread(const struct ts_world *w, uint64_t pos)
{
	return slice_at(w, slice_of(w, pos)).thread;
}

uint64_t ts_world_slice_end(const struct ts_world *w, uint64_t pos)
{
	size_t next = slice_of(w, pos) + 1;

	return next < w->n_slices ? slice_at(w, next).pos : UINT64_MAX;
}

/* How many of the thread's slices have an ordinal below @slice. */
static uint32_t slices_below(const struct ts_world *w, const struct ts_thread_slices *t, size_t slice)
{
	uint32_t at = 0;

	TS_BISECT(at, t->n, i, ordinal_at(w, t, i) < slice);
	return at;
}

uint64_t ts_world_next_step(const struct ts_world *w, uint32_t thread, uint64_t pos, uint64_t n_steps)
{
	uint64_t next;
	size_t slice;
	uint32_t i;

	if (thread >= w->n_threads || pos >= n_steps)
		return UINT64_MAX;
	slice = slice_of(w, pos);
	if (slice_at(w, slice).thread == thread)
		return pos;
	i = slices_below(w, &w->threads[thread], slice);
	if (i == w->threads[thread].n)
		return UINT64_MAX;
	next = slice_at(w, ordinal_at(w, &w->threads[thread], i)).pos;
	if (next <= pos) { /* only in a file that contradicts itself */
		ts_index_blocks_note_damage(w->file);
		return UINT64_MAX;
	}
	return next < n_steps ? next : UINT64_MAX; /* more may be known than can be asked about */
}

uint64_t ts_world_prev_step(const struct ts_world *w, uint32_t thread, uint64_t pos, uint64_t n_steps)
{
	uint64_t end;
	size_t slice;
	uint32_t i;

	if (thread >= w->n_threads || !n_steps)
		return UINT64_MAX;
	if (pos >= n_steps)
		pos = n_steps - 1;
	slice = slice_of(w, pos);
	if (slice_at(w, slice).thread == thread)
		return pos;
	i = slices_below(w, &w->threads[thread], slice);
	if (!i)
		return UINT64_MAX;
	slice = ordinal_at(w, &w->threads[thread], i - 1);
	end = slice + 1 < w->n_slices ? slice_at(w, slice + 1).pos
				      : 0; /* a later slice exists: @pos lies in one */
	if (!end || end > pos) {
		ts_index_blocks_note_damage(w->file);
		return UINT64_MAX;
	}
	return end - 1;
}

uint64_t ts_world_n_steps(const struct ts_world *w, uint32_t thread, uint64_t n_steps)
{
	const struct ts_thread_slices *t;
	struct ts_slice s;
	size_t ordinal;
	uint64_t end;
	uint32_t i;

	if (thread >= w->n_threads || !n_steps)
		return 0;
	t = &w->threads[thread];
	i = slices_below(w, t, slice_of(w, n_steps - 1) + 1);
	if (!i)
		return 0;
	ordinal = ordinal_at(w, t, i - 1);
	s = slice_at(w, ordinal);
	end = ordinal + 1 < w->n_slices ? slice_at(w, ordinal + 1).pos : n_steps;
	return s.n_before + ((end < n_steps ? end : n_steps) - s.pos);
}

uint64_t ts_world_last_step(const struct ts_world *w, const struct ts_thread_slices *t, uint64_t n_steps)
{
	size_t slice = ordinal_at(w, t, t->n - 1);

	return (slice + 1 < w->n_slices ? slice_at(w, slice + 1).pos : n_steps) - 1;
}

bool ts_world_is_alive(const struct ts_world *w, uint32_t thread, uint64_t pos)
{
	const struct ts_thread_slices *t;

	if (thread >= w->n_threads || !w->threads[thread].n)
		return false;
	t = &w->threads[thread];
	if (slice_at(w, ordinal_at(w, t, 0)).pos > pos)
		return false;
	return t->end_step == UINT64_MAX || pos <= t->end_step || ts_world_thread(w, pos) == thread ||
	       t->end_step < ts_world_last_step(w, t, UINT64_MAX);
}

/* ------------------------------------------------------------------------------------------------ events */

const struct ts_event_at *ts_world_next_event(const struct ts_world *w, enum ts_event_kind kind,
					       uint64_t step)
{
	const struct ts_event_list *list = &w->events[kind];
	uint64_t i = ts_event_list_below(list, step);

	return i < list->n ? ts_event_list_at(list, i) : NULL;
}

const struct ts_event_at *ts_world_prev_event(const struct ts_world *w, enum ts_event_kind kind,
					       uint64_t step)
{
	const struct ts_event_list *list = &w->events[kind];
	uint64_t n = step == UINT64_MAX ? list->n : ts_event_list_below(list, step + 1);

	return n ? ts_event_list_at(list, n - 1) : NULL;
}

/* ------------------------------------------------------------------------------------------------ regions */

static bool is_text(const struct ts_world *w, uint32_t off)
{
	return off == TS_NO_DATA || off < w->texts.len;
}

const struct ts_region *ts_world_region(const struct ts_world *w, size_t i)
{
	static const struct ts_region nothing = { .from = UINT64_MAX,
						  .desc = TS_NO_DATA,
						  .file = TS_NO_DATA };
	const struct ts_region *r = &w->regions[i];

	if (!w->file)
		return r;
	if (!ts_index_blocks_use(w->file, r, sizeof(*r)))
		return &nothing;
	if (r->first <= r->last && r->process < w->n_processes && is_text(w, r->desc) && is_text(w, r->file))
		return r;
	ts_index_blocks_note_damage(w->file);
	return &nothing;
}

size_t ts_world_pass_regions(const struct ts_world *w, size_t i, uint64_t pos)
{
	const uint64_t *latest = w->latest ? &w->latest[i / TS_REGION_GROUP] : NULL;

	if (!latest || i % TS_REGION_GROUP)
		return i;
	for (; i < w->n_regions; i += TS_REGION_GROUP, latest++) {
		if (!ts_index_blocks_use(w->file, latest, sizeof(*latest)) || *latest > pos)
			return i;
	}
	return w->n_regions;
}

const struct ts_region *ts_world_next_with_file(const struct ts_world *w, size_t n, size_t *at)
{
	const struct ts_region *r;
	const uint32_t *i;

	if (*at == w->n_with_file)
		return NULL;
	i = &w->with_file[(*at)++];
	if (!ts_index_blocks_use(w->file, i, sizeof(*i)) || *i >= n)
		return NULL;
	r = ts_world_region(w, *i);
	if (r->file != TS_NO_DATA)
		return r;
	ts_index_blocks_note_damage(w->file);
	return NULL;
}

/* ------------------------------------------------------------------------------------------------ modules */

const struct ts_module_span *ts_world_module(const struct ts_world *w, size_t i)
{
	static const struct ts_module_span nothing = { .from = UINT64_MAX, .file = TS_NO_DATA };
	const struct ts_module_span *m = &w->modules[i];

	if (!w->file)
		return m;
	if (!ts_index_blocks_use(w->file, m, sizeof(*m)))
		return &nothing;
	if (m->first <= m->last && m->process < w->n_processes && is_text(w, m->file))
		return m;
	ts_index_blocks_note_damage(w->file);
	return &nothing;
}

const char *ts_world_text(const struct ts_world *w, uint32_t off)
{
	return off == TS_NO_DATA ? NULL : (const char *)w->texts.data + off;
}
