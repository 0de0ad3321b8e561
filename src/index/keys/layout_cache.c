/* SPDX-License-Identifier: MIT */
#include "layout_cache.h"

#include <stdio.h>
#include <stdlib.h>

#include "src/index/index_blocks.h"
#include "src/index/index_write.h"
#include "src/base/log.h"

/* The only section of the file. */
#define KIND ((uint32_t)'L' | (uint32_t)'A' << 8 | (uint32_t)'Y' << 16 | (uint32_t)'O' << 24)

static bool has_key(struct ts_layout_cache *k, struct ts_error *err)
{
	if (!k->has_key)
		k->has_key = ts_index_key(k->src, ts_index_sources, "layout", &k->key, err) &&
			     ts_index_signer(&k->key.signer, k->trace, err);
	return k->has_key;
}

/* The bytes of a file that is finished and fits. */
static bool take(const struct ts_index_file *f, struct ts_buf *out)
{
	struct ts_index_arrays a;
	const void *bytes;
	size_t n;

	if (ts_index_n_records(f) != 1)
		return false;
	a = ts_index_find(f, 0, KIND, 0);
	bytes = ts_index_take_unread(&a, 1, &n);
	if (a.is_bad || !n || !ts_index_blocks_use(a.blocks, bytes, n))
		return false;
	ts_buf_put(out, bytes, n);
	return ts_buf_ok(out);
}

static bool recall(void *user, struct ts_buf *out)
{
	struct ts_layout_cache *k = user;
	struct ts_error err = { 0 };
	bool done = false;

	if (!ts_index_places_have_any(&k->places) || !has_key(k, &err))
		return false;
	for (unsigned i = 0; i < k->places.n && !done; i++) {
		struct ts_index_file *f = ts_index_open(k->places.paths[i], &k->key, &err);

		done = f && take(f, out);
		if (!f && err.code != TS_OK)
			ts_log(TS_LOG_INFO, "%s: %s; ignored", k->places.paths[i], err.text);
		ts_index_close(f);
		ts_error_reset(&err);
	}
	return done;
}

static bool write_file(struct ts_index_file *f, const struct ts_buf *bytes, struct ts_error *err)
{
	ts_index_begin(f, 1);
	ts_index_section(f, KIND, 0);
	ts_index_put_unread(f, bytes->data, bytes->len, 1);
	return ts_index_commit(f, 0, true, err) && ts_index_publish(f, err);
}

static void keep(void *user, const struct ts_buf *bytes)
{
	struct ts_layout_cache *k = user;
	struct ts_error err = { 0 };
	struct ts_index_file *f = NULL;

	if (ts_source_len(k->src) < TS_INDEX_MIN_TRACE)
		return;
	if (has_key(k, &err))
		f = ts_index_places_create(&k->places, &k->key, &err);
	if (f && !ts_index_n_records(f) && !write_file(f, bytes, &err))
		ts_index_remove(f);
	if (err.code != TS_OK)
		ts_log(TS_LOG_INFO, "%s; the next run will scan the whole trace again", err.text);
	ts_index_close(f);
}

/* The file of each place is beside the index there. */
static bool name_places(struct ts_index_places *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		char *path;

		if (asprintf(&path, "%s.layout", p->paths[i]) < 0)
			return false;
		free(p->paths[i]);
		p->paths[i] = path;
	}
	return true;
}

void ts_layout_cache_init(struct ts_layout_cache *k, struct ts_source *src, const char *trace,
			  const char *index)
{
	*k = (struct ts_layout_cache){ .base = { recall, keep, k }, .src = src, .trace = trace };
	if (ts_source_is_fleeting(src) && !index)
		return;
	if (ts_index_places_init(&k->places, trace, index) && name_places(&k->places))
		ts_source_set_keeper(src, &k->base);
}

void ts_layout_cache_fini(struct ts_layout_cache *k)
{
	if (k->src)
		ts_source_set_keeper(k->src, NULL);
	ts_index_places_fini(&k->places);
	*k = (struct ts_layout_cache){ 0 };
}
