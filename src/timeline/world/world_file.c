/* SPDX-License-Identifier: MIT */
/*
 * The world to the index file of a complete recording, and back.  Its arrays: the threads, the texts; then
 * what grows with the recording: where the turns of each thread are, regions, the greatest end of each group of
 * them, the ordinals of those that have a file, modules.
 */
#include <stdlib.h>
#include <string.h>

#include "src/index/index_blocks.h"
#include "src/index/index_write.h"
#include "world.h"

/* ------------------------------------------------------------------------------------------------ saving */

/* Packed; nothing is saved if memory is exhausted. */
static void put_packed(struct ts_index_file *f, struct ts_buf *b, size_t item_len)
{
	ts_index_put_packed(f, b->data, b->len / item_len, item_len);
	if (!ts_buf_ok(b))
		ts_index_fail(f);
	ts_buf_fini(b);
}

static void save_latest(const struct ts_world *w, struct ts_index_file *f)
{
	struct ts_buf b;

	ts_buf_init(&b);
	for (size_t i = 0; i < w->n_regions; i += TS_REGION_GROUP) {
		uint64_t latest = 0;

		for (size_t k = i; k < w->n_regions && k < i + TS_REGION_GROUP; k++)
			latest = w->regions[k].until > latest ? w->regions[k].until : latest;
		ts_buf_put(&b, &latest, sizeof(latest));
	}
	put_packed(f, &b, sizeof(uint64_t));
}

void ts_world_save(const struct ts_world *w, struct ts_index_file *f)
{
	ts_turns_save_threads(&w->turns, f);
	ts_index_put_buf(f, &w->texts);
	ts_turns_save_places(&w->turns, f);
	ts_index_put_unread(f, w->regions, w->n_regions, sizeof(*w->regions));
	save_latest(w, f);
	ts_index_put_packed(f, w->with_file, w->n_with_file, sizeof(*w->with_file));
	ts_index_put_unread(f, w->modules, w->n_modules, sizeof(*w->modules));
}

/* ------------------------------------------------------------------------------------------------ loading */

static bool load_arrays(struct ts_world *w, struct ts_index_arrays *a, uint32_t n_threads)
{
	size_t n_latest, texts_len;
	const char *texts;

	if (!ts_turns_take_threads(&w->turns, a, n_threads))
		return false;
	texts = ts_index_take(a, 1, &texts_len);
	if (!ts_turns_take_places(&w->turns, a))
		return false;
	w->regions = ts_index_take_unread(a, sizeof(*w->regions), &w->n_regions);
	w->latest = ts_index_take_unread(a, sizeof(*w->latest), &n_latest);
	w->with_file = ts_index_take_unread(a, sizeof(*w->with_file), &w->n_with_file);
	w->modules = ts_index_take_unread(a, sizeof(*w->modules), &w->n_modules);
	if (a->is_bad || n_latest != (w->n_regions + TS_REGION_GROUP - 1) / TS_REGION_GROUP ||
	    w->n_regions > UINT32_MAX || w->n_with_file > w->n_regions || w->n_modules > UINT32_MAX ||
	    (texts_len && texts[texts_len - 1]))
		return false;
	ts_buf_put(&w->texts, texts, texts_len);
	return ts_buf_ok(&w->texts);
}

bool ts_world_use_file(struct ts_world *w, struct ts_index_arrays *a, uint32_t n_threads, uint32_t n_processes)
{
	ts_world_drop_arrays(w);
	w->file = a->blocks;
	w->n_processes = n_processes ? n_processes : 1;
	ts_buf_reset(&w->texts);
	return load_arrays(w, a, n_threads);
}
