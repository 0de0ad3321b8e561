/* SPDX-License-Identifier: MIT */
#include "snappy.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/buf.h"
#include "src/base/cursor.h"

/*
 * A kept chunk, all numbers little-endian:
 *
 *      off len
 *        0   4  bytes between its header and the chunk (at first: the identifier) before
 *        4   4  length of its body; bit 31: it is stored
 *        8   4  length of what it decodes to
 */
#define CHUNK_LEN 12
#define STORED    (UINT32_C(1) << 31)

static bool copy(struct snappy_frames *f, const struct snappy_frames *like, struct ts_error *err)
{
	const size_t len = like->n * sizeof(*like->chunks);

	*f = *like;
	f->chunks = malloc(len ? len : 1);
	f->cap = f->n;
	if (!f->chunks)
		return ts_no_memory(err, "the table of snappy chunks");
	if (len)
		memcpy(f->chunks, like->chunks, len);
	return true;
}

/* ------------------------------------------------------------------------------------------------ keeping */

static void put_u32(struct ts_buf *b, uint32_t x)
{
	const uint8_t bytes[4] = { (uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16), (uint8_t)(x >> 24) };

	ts_buf_put(b, bytes, sizeof(bytes));
}

/* A table that ends with damage is not stored, because only a scan can describe the damage. */
static bool is_worth_keeping(const struct snappy_frames *f)
{
	return f->n >= SNAPPY_TABLE_MIN_KEPT && f->end.code == TS_OK;
}

static void keep(const struct snappy_frames *f, uint64_t start)
{
	uint64_t end = start;
	struct ts_buf b;

	ts_buf_init(&b);
	for (size_t i = 0; i < f->n; i++) {
		const struct snappy_chunk *c = &f->chunks[i];

		b.is_failed |= c->file_off - end > UINT32_MAX;
		put_u32(&b, (uint32_t)(c->file_off - end));
		put_u32(&b, c->body_len | (c->is_stored ? STORED : 0));
		put_u32(&b, snappy_frames_decoded_len(f, i));
		end = c->file_off + SNAPPY_HEADER_LEN + c->body_len;
	}
	ts_source_keep(f->src, &b);
	ts_buf_fini(&b);
}

/* ---------------------------------------------------------------------------------------------- recalling */

/* Enter the chunk that is kept at @c; *end is the end of the one before, then its own. */
static bool take_chunk(struct snappy_frames *f, struct ts_cursor *c, uint64_t *end)
{
	const uint64_t gap = ts_u32le(c);
	const uint32_t body = ts_u32le(c), body_len = body & ~STORED, len = ts_u32le(c);
	const uint64_t left = ts_source_len(f->src) - *end;

	if (len > SNAPPY_MAX_DECODED || !len || body_len > SNAPPY_MAX_BODY || body_len < SNAPPY_CRC_LEN ||
	    (body & STORED && len != body_len - SNAPPY_CRC_LEN) || gap > left ||
	    SNAPPY_HEADER_LEN + (uint64_t)body_len > left - gap)
		return false;
	f->chunks[f->n++] = (struct snappy_chunk){
		.file_off = *end + gap,
		.off = f->len,
		.body_len = body_len,
		.is_stored = (body & STORED) != 0,
	};
	f->len += len;
	*end += gap + SNAPPY_HEADER_LEN + body_len;
	return true;
}

static bool take_all(struct snappy_frames *f, const struct ts_buf *b, uint64_t start)
{
	struct ts_error err = { 0 };
	struct ts_cursor c = ts_cursor(b->data, b->len, 0, "snappy chunks", &err);
	uint64_t end = start;

	while (c.left >= CHUNK_LEN) {
		if (!take_chunk(f, &c, &end))
			return false;
	}
	return !c.left && f->n;
}

/* Returns false if nothing is kept that can be used. */
static bool recall(struct snappy_frames *f, const struct ts_source *src, uint64_t off)
{
	uint8_t identifier[SNAPPY_IDENTIFIER_LEN];
	struct ts_error err = { 0 };
	struct ts_buf b;
	bool done = false;

	*f = (struct snappy_frames){ .src = src };
	ts_error_reset(&f->end);
	if (!ts_source_read_all(src, off, identifier, sizeof(identifier), &err) ||
	    memcmp(identifier, SNAPPY_IDENTIFIER, sizeof(identifier)))
		return false;
	ts_buf_init(&b);
	if (ts_source_recall(src, &b)) {
		f->cap = b.len / CHUNK_LEN;
		f->chunks = malloc(f->cap * sizeof(*f->chunks) + 1);
		done = f->chunks && take_all(f, &b, off + SNAPPY_IDENTIFIER_LEN);
	}
	ts_buf_fini(&b);
	if (!done)
		snappy_frames_fini(f);
	return done;
}

bool snappy_table_open(struct snappy_frames *f, const struct ts_source *src, uint64_t off,
		       const struct snappy_frames *like, struct ts_error *err)
{
	if (like && like->src == src)
		return copy(f, like, err);
	if (recall(f, src, off))
		return true;
	if (!snappy_frames_scan(f, src, off, err))
		return false;
	if (is_worth_keeping(f))
		keep(f, off + SNAPPY_IDENTIFIER_LEN);
	return true;
}
