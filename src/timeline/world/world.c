/* SPDX-License-Identifier: MIT */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "src/index/index_blocks.h"

void ts_world_init(struct ts_world *w)
{
	*w = (struct ts_world){ 0 };
	ts_buf_init(&w->texts);
}

void ts_world_drop_arrays(struct ts_world *w)
{
	if (w->file)
		return;
	free(w->regions);
	free(w->with_file);
	free(w->modules);
}

void ts_world_fini(struct ts_world *w)
{
	for (unsigned i = 0; i < TS_N_EVENT_KINDS; i++)
		ts_event_list_fini(&w->events[i]);
	ts_world_drop_arrays(w);
	ts_turns_fini(&w->turns);
	ts_buf_fini(&w->texts);
	ts_world_init(w);
}

/* ------------------------------------------------------------------------------------------------ threads */

static bool has_run(const struct ts_world *w, uint32_t thread)
{
	return thread < w->turns.n_threads && w->turns.threads[thread].n;
}

uint32_t ts_world_thread(const struct ts_world *w, uint64_t pos)
{
	return ts_turns_thread(&w->turns, pos);
}

uint64_t ts_world_slice_end(const struct ts_world *w, uint64_t pos)
{
	return ts_turns_end(&w->turns, pos);
}

uint64_t ts_world_next_step(const struct ts_world *w, uint32_t thread, uint64_t pos, uint64_t n_steps)
{
	uint64_t next = has_run(w, thread) && pos < n_steps ? ts_turns_next(&w->turns, thread, pos) : UINT64_MAX;

	return next < n_steps ? next : UINT64_MAX; /* more may be known than can be asked about */
}

uint64_t ts_world_prev_step(const struct ts_world *w, uint32_t thread, uint64_t pos, uint64_t n_steps)
{
	if (!has_run(w, thread) || !n_steps)
		return UINT64_MAX;
	if (pos >= n_steps)
		pos = n_steps - 1;
	return w->turns.n_threads == 1 ? pos : ts_turns_prev(&w->turns, thread, pos);
}

uint64_t ts_world_n_steps(const struct ts_world *w, uint32_t thread, uint64_t n_steps)
{
	return has_run(w, thread) && n_steps ? ts_turns_n_steps(&w->turns, thread, n_steps) : 0;
}

bool ts_world_is_alive(const struct ts_world *w, uint32_t thread, uint64_t pos)
{
	const struct ts_thread_turns *t;

	if (!has_run(w, thread))
		return false;
	t = &w->turns.threads[thread];
	return t->first <= pos && (t->end_step == UINT64_MAX || pos <= t->end_step || t->end_step < t->end - 1);
}

/* ------------------------------------------------------------------------------------------------ events */

const struct ts_event_at *ts_world_find_event(const struct ts_world *w, enum ts_event_kind kind, uint64_t step,
					      bool is_reverse)
{
	const struct ts_event_list *list = &w->events[kind];
	uint64_t i = is_reverse && step == UINT64_MAX ? list->n : ts_event_list_below(list, step + is_reverse);

	i -= is_reverse; /* before the first: none */
	return i < list->n ? ts_event_list_at(list, i) : NULL;
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
