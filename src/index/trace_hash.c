/* SPDX-License-Identifier: MIT */
#include "trace_hash.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Of one read: it stays in the processor's cache until it is hashed. */
#define PIECE_LEN 65536u

struct ts_trace_hash {
	struct ts_source *src; /* owned */
	uint64_t off;
	XXH3_state_t *state; /* owned */
	uint8_t secret[XXH3_SECRET_DEFAULT_SIZE];
	uint8_t piece[PIECE_LEN];
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
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the hash of the trace");
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

enum ts_next ts_trace_hash_grow(struct ts_trace_hash *h, uint64_t end, uint64_t len, struct ts_error *err)
{
	uint64_t last = ts_source_len(h->src);

	end = end < last ? end : last;
	if (end > h->off && end - h->off > len)
		end = h->off + len;
	while (h->off < end) {
		size_t got, n = end - h->off < PIECE_LEN ? (size_t)(end - h->off) : PIECE_LEN;

		if (!ts_source_read(h->src, h->off, h->piece, n, &got, err))
			return TS_FAIL;
		XXH3_128bits_update(h->state, h->piece, got);
		h->off += got;
	}
	return h->off == last ? TS_END : TS_ITEM;
}

void ts_trace_hash_value(const struct ts_trace_hash *h, uint8_t value[TS_TRACE_HASH_LEN])
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(h->state));
	memcpy(value, canonical.digest, TS_TRACE_HASH_LEN);
}
