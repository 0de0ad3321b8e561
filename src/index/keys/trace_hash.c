/* SPDX-License-Identifier: MIT */
#include "trace_hash.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "src/index/index_header.h"

/* A block, and the most of one read: it stays in the processor's cache until it is hashed.  FORMAT has the length. */
#define BLOCK_LEN 65536u

struct ts_trace_hash {
	struct ts_source *src; /* owned */
	uint64_t off;
	uint64_t data_end;     /* what is before it is data, as far as it is known */
	XXH3_state_t *state;   /* owned */
	bool is_begun;	       /* the block at off: the state has its first bytes */
	uint8_t secret[XXH3_SECRET_DEFAULT_SIZE];
	uint8_t block[BLOCK_LEN];
};

static void derive_secret(const struct ts_signer *signer, uint8_t secret[XXH3_SECRET_DEFAULT_SIZE])
{
	char text[] = "hash of the whole trace";
	const struct iovec part = { text, sizeof(text) };
	uint8_t seed[TS_SIGNATURE_LEN];

	ts_signer_sign(signer, &part, 1, seed);
	XXH3_generateSecret(secret, XXH3_SECRET_DEFAULT_SIZE, seed, sizeof(seed));
}

struct ts_trace_hash *ts_trace_hash_new(const struct ts_source *src, const struct ts_signer *signer, struct ts_error *err)
{
	struct ts_trace_hash *h = calloc(1, sizeof(*h));

	if (h)
		h->state = XXH3_createState();
	if (!h || !h->state) {
		ts_trace_hash_free(h);
		ts_no_memory(err, "the hash of the trace");
		return NULL;
	}
	derive_secret(signer, h->secret);
	XXH3_128bits_reset_withSecret(h->state, h->secret, sizeof(h->secret));
	h->src = ts_source_dup(src, err);
	if (h->src)
		return h;
	ts_trace_hash_free(h);
	return NULL;
}

void ts_trace_hash_free(struct ts_trace_hash *h)
{
	if (!h)
		return;
	ts_source_close(h->src);
	XXH3_freeState(h->state);
	free(h);
}

static void put_number(XXH3_state_t *state, uint64_t n)
{
	uint8_t bytes[8];

	ts_put64(bytes, n);
	XXH3_128bits_update(state, bytes, sizeof(bytes));
}

static bool has_only_zeros(const uint8_t *p, size_t len)
{
	return !*p && !memcmp(p, p + 1, len - 1);
}

/* The block at off has a byte other than 0: its offset, and the zeros before off. */
static void begin_block(struct ts_trace_hash *h)
{
	static const uint8_t zeros[BLOCK_LEN];

	put_number(h->state, h->off - h->off % BLOCK_LEN);
	XXH3_128bits_update(h->state, zeros, h->off % BLOCK_LEN);
	h->is_begun = true;
}

/* The @len bytes at off, more than 0, which are all in one block. */
static void take_part(struct ts_trace_hash *h, const uint8_t *data, size_t len)
{
	if (!h->is_begun && !has_only_zeros(data, len))
		begin_block(h);
	if (h->is_begun)
		XXH3_128bits_update(h->state, data, len);
	h->off += len;
	h->is_begun = h->is_begun && h->off % BLOCK_LEN;
}

/* Where the block at @off ends, or @end if that is before. */
static uint64_t end_of_block(uint64_t off, uint64_t end)
{
	uint64_t left = BLOCK_LEN - off % BLOCK_LEN;

	return end - off < left ? end : off + left;
}

uint64_t ts_trace_hash_off(const struct ts_trace_hash *h)
{
	return h->off;
}

/* Go to the block that has the next data, not beyond @end: the blocks before it were never written. */
static void skip_holes(struct ts_trace_hash *h, uint64_t end)
{
	uint64_t first;

	if (h->off < h->data_end || h->off % BLOCK_LEN)
		return;
	if (!ts_source_next_data(h->src, h->off, &first, &h->data_end))
		first = ts_source_len(h->src);
	if (first >= end) {
		h->off = end;
		h->data_end = 0;
	} else if (first > h->off) {
		h->off = first - first % BLOCK_LEN;
	}
}

static bool read_part(struct ts_trace_hash *h, uint64_t end, struct ts_error *err)
{
	size_t got, n = (size_t)(end_of_block(h->off, end) - h->off);

	if (!ts_source_read(h->src, h->off, h->block, n, &got, err))
		return false;
	take_part(h, h->block, got);
	return true;
}

enum ts_next ts_trace_hash_grow(struct ts_trace_hash *h, uint64_t end, uint64_t len, struct ts_error *err)
{
	uint64_t last = ts_source_len(h->src), from;

	end = end < last ? end : last;
	while (h->off < end && len) {
		skip_holes(h, end);
		from = h->off;
		if (from < end && !read_part(h, end - from > len ? from + len : end, err))
			return TS_FAIL;
		len -= h->off - from;
	}
	return h->off == last ? TS_END : TS_ITEM;
}

/* Have all in the hash that is before @off, if that is little. */
static bool catch_up(struct ts_trace_hash *h, uint64_t off)
{
	struct ts_error ignored;

	if (h->off >= off)
		return true;
	skip_holes(h, off);
	ts_error_reset(&ignored);
	return off - h->off <= BLOCK_LEN && ts_trace_hash_grow(h, off, UINT64_MAX, &ignored) != TS_FAIL;
}

void ts_trace_hash_take(struct ts_trace_hash *h, uint64_t off, const uint8_t *data, size_t len)
{
	uint64_t end = off + len;

	if (!catch_up(h, off))
		return;
	while (h->off < end)
		take_part(h, data + (h->off - off), (size_t)(end_of_block(h->off, end) - h->off));
}

void ts_trace_hash_value(struct ts_trace_hash *h, uint8_t value[TS_TRACE_HASH_LEN])
{
	XXH128_canonical_t canonical;

	put_number(h->state, h->off);
	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(h->state));
	memcpy(value, canonical.digest, TS_TRACE_HASH_LEN);
}
