/* SPDX-License-Identifier: MIT */
/*
 * The world to the index file of a complete recording, and back.  Its arrays: the threads, the texts; then
 * what grows with the recording: slices, their ordinals by thread, regions, the greatest end of each group of
 * them, the ordinals of those that have a file, modules.
 */
#include <stdlib.h>
#include <string.h>

#include "src/index/index_blocks.h"
#include "src/index/index_write.h"
#include "world.h"

struct saved_thread {
	uint64_t end_step;
	uint32_t n; /* its slices */
	uint32_t zero;
};

/* ------------------------------------------------------------------------------------------------ saving */

static void save_threads(const struct ts_world *w, struct ts_index_file *f)
{
	struct ts_buf b;

	ts_buf_init(&b);
	for (uint32_t i = 0; i < w->n_threads; i++) {
		struct saved_thread t = { .end_step = w->threads[i].end_step, .n = w->threads[i].n };

		ts_buf_put(&b, &t, sizeof(t));
	}
	ts_index_put_buf(f, &b);
	ts_buf_fini(&b);
}

/* Packed; nothing is saved if memory is exhausted. */
static void put_packed(struct ts_index_file *f, struct ts_buf *b, size_t item_len)
{
	ts_index_put_packed(f, b->data, b->len / item_len, item_len);
	if (!ts_buf_ok(b))
		ts_index_fail(f);
	ts_buf_fini(b);
}

static void save_ordinals(const struct ts_world *w, struct ts_index_file *f)
{
	struct ts_buf b;

	ts_buf_init(&b);
	for (uint32_t i = 0; i < w->n_threads; i++)
		ts_buf_put(&b, w->threads[i].items, w->threads[i].n * sizeof(uint32_t));
	put_packed(f, &b, sizeof(uint32_t));
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
	save_threads(w, f);
	ts_index_put_buf(f, &w->texts);
	ts_index_put_packed(f, w->slices, w->n_slices, sizeof(*w->slices));
	save_ordinals(w, f);
	ts_index_put_unread(f, w->regions, w->n_regions, sizeof(*w->regions));
	save_latest(w, f);
	ts_index_put_packed(f, w->with_file, w->n_with_file, sizeof(*w->with_file));
	ts_index_put_unread(f, w->modules, w->n_modules, sizeof(*w->modules));
}

/* ------------------------------------------------------------------------------------------------ loading */

/* The threads, whose slices are the @n ordinals at @ordinals.  Returns false if they have others. */
static bool load_threads(struct ts_world *w, const struct saved_thread *threads, uint32_t n_threads,
			 uint32_t *ordinals, size_t n)
{
	w->threads = calloc(n_threads + 1u, sizeof(*w->threads));
	w->n_threads = w->threads ? n_threads : 0;
	for (uint32_t i = 0; i < w->n_threads; i++) {
		if (threads[i].n > n)
			return false;
		w->threads[i] = (struct ts_thread_slices){ .items = ordinals,
							   .n = threads[i].n,
							   .end_step = threads[i].end_step };
		ordinals += threads[i].n;
		n -= threads[i].n;
	}
	return w->threads && !n;
}

static bool load_arrays(struct ts_world *w, struct ts_index_arrays *a, uint32_t n_threads)
{
	size_t n_saved, n_ordinals, n_latest, texts_len;
	const struct saved_thread *threads = ts_index_take(a, sizeof(*threads), &n_saved);
	const char *texts = ts_index_take(a, 1, &texts_len);
	uint32_t *ordinals;

	w->slices = ts_index_take_unread(a, sizeof(*w->slices), &w->n_slices);
	ordinals = ts_index_take_unread(a, sizeof(*ordinals), &n_ordinals);
	w->regions = ts_index_take_unread(a, sizeof(*w->regions), &w->n_regions);
	w->latest = ts_index_take_unread(a, sizeof(*w->latest), &n_latest);
	w->with_file = ts_index_take_unread(a, sizeof(*w->with_file), &w->n_with_file);
	w->modules = ts_index_take_unread(a, sizeof(*w->modules), &w->n_modules);
	if (a->is_bad || n_saved > n_threads || !w->n_slices || w->n_slices > UINT32_MAX ||
	    n_ordinals != w->n_slices || n_latest != (w->n_regions + TS_REGION_GROUP - 1) / TS_REGION_GROUP ||
	    w->n_regions > UINT32_MAX || w->n_with_file > w->n_regions || w->n_modules > UINT32_MAX ||
	    (texts_len && texts[texts_len - 1]))
		return false;
	ts_buf_put(&w->texts, texts, texts_len);
	return ts_buf_ok(&w->texts) && load_threads(w, threads, (uint32_t)n_saved, ordinals, n_ordinals);
}

bool ts_world_use_file(struct ts_world *w, struct ts_index_arrays *a, uint64_t n_steps, uint32_t n_threads,
		       uint32_t n_processes)
{
	ts_world_drop_arrays(w);
	w->threads = NULL;
	w->n_threads = 0;
	w->file = a->blocks;
	w->n_steps = n_steps;
	w->n_processes = n_processes ? n_processes : 1;
	ts_buf_reset(&w->texts);
	return load_arrays(w, a, n_threads);
}
