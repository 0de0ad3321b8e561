/* SPDX-License-Identifier: MIT */
#include "index_policy.h"

#include <string.h>

#include "src/base/log.h"
#include "src/index/index_verified.h"

/* While a loader reads, at most this many bytes before its place may be missing in the hash; more are read for the hash. */
#define MAX_BEHIND (UINT64_C(4) << 20)

/* Between two pieces of this length another thread may have its bytes taken. */
#define PIECE_LEN UINT64_C(65536)

/* What is shorter may have been looked up, and says nothing of the loader's place. */
#define MIN_LONG 16384u

static void take(void *user, uint64_t off, const uint8_t *data, size_t len)
{
	struct ts_trace_check *c = user;

	pthread_mutex_lock(&c->lock);
	if (c->hash)
		ts_trace_hash_take(c->hash, off, data, len);
	if (len >= MIN_LONG && off + len > c->heard)
		c->heard = off + len;
	pthread_mutex_unlock(&c->lock);
}

void ts_trace_check_init(struct ts_trace_check *c, struct ts_timeline *tl, struct ts_source *src,
			 const struct ts_index_trace *trace)
{
	struct ts_error err = { 0 };

	*c = (struct ts_trace_check){ .src = src, .listener = { take, c }, .is_compared = trace->is_left };
	pthread_mutex_init(&c->lock, NULL);
	if (!tl->file || (ts_index_is_finished(tl->file) && !trace->is_left))
		return;
	memcpy(c->wanted, trace->hash, sizeof(c->wanted));
	c->hash = ts_trace_hash_new(c->src, &ts_index_file_key(tl->file)->signer, &err);
	if (c->hash)
		ts_source_set_listener(src, &c->listener);
	else
		ts_log(TS_LOG_INFO, "%s: %s", ts_source_name(c->src), err.text);
	tl->is_unverified = c->is_compared && c->hash;
	tl->is_foreign = c->is_compared && !c->hash;
}

static void free_hash(struct ts_trace_check *c)
{
	ts_source_set_listener(c->src, NULL);
	pthread_mutex_lock(&c->lock);
	ts_trace_hash_free(c->hash);
	c->hash = NULL;
	pthread_mutex_unlock(&c->lock);
}

void ts_trace_check_fini(struct ts_trace_check *c)
{
	if (!c->src)
		return;
	free_hash(c);
	pthread_mutex_destroy(&c->lock);
	*c = (struct ts_trace_check){ 0 };
}

/* All bytes are in the hash. */
static void finish(const struct ts_trace_check *c, struct ts_timeline *tl)
{
	uint8_t hash[TS_TRACE_HASH_LEN];

	ts_trace_hash_value(c->hash, hash);
	tl->is_unverified = false;
	tl->is_foreign = c->is_compared && memcmp(hash, c->wanted, sizeof(hash)) != 0;
	if (!tl->is_foreign) {
		ts_index_note_file(tl->file, c->src, hash);
		return;
	}
	ts_log(TS_LOG_WARN, "%s: the trace has changed since it was made; removed", ts_index_path(tl->file));
	ts_index_remove(tl->file);
}

/* How far may it be read for the hash now? */
static uint64_t end_of_reading(struct ts_trace_check *c, bool is_read)
{
	uint64_t off, heard;

	if (is_read)
		return UINT64_MAX;
	pthread_mutex_lock(&c->lock);
	off = ts_trace_hash_off(c->hash);
	heard = c->heard;
	pthread_mutex_unlock(&c->lock);
	return heard > off && heard - off > MAX_BEHIND ? heard : off;
}

static enum ts_next read_on(struct ts_trace_check *c, uint64_t end, uint64_t len, struct ts_error *err)
{
	enum ts_next next;
	uint64_t off;

	do {
		uint64_t n = len < PIECE_LEN ? len : PIECE_LEN;

		pthread_mutex_lock(&c->lock);
		next = ts_trace_hash_grow(c->hash, end, n, err);
		off = ts_trace_hash_off(c->hash);
		pthread_mutex_unlock(&c->lock);
		len -= n;
	} while (next == TS_ITEM && off < end && len);
	return next;
}

bool ts_trace_check_grow(struct ts_trace_check *c, struct ts_timeline *tl, uint64_t len)
{
	bool is_read = !tl->builder;
	struct ts_error err = { 0 };
	enum ts_next next;

	if (!c->hash)
		return false;
	next = read_on(c, end_of_reading(c, is_read), len, &err);
	if (next == TS_ITEM || (next == TS_END && !is_read))
		return true;
	if (next == TS_END && ts_index_is_finished(tl->file))
		finish(c, tl);
	tl->is_foreign |= tl->is_unverified; /* it could not be compared */
	free_hash(c);
	return false;
}
