/* SPDX-License-Identifier: MIT */
#include "index_blocks.h"

#include <stdlib.h>
#include <sys/mman.h>

enum state {
	UNREAD,
	VERIFIED, /* its pages were given back */
	READY = TS_INDEX_BLOCK_IS_READY,
};

#define PIECE_BLOCKS (TS_INDEX_PIECE_LEN / TS_INDEX_BLOCK_LEN)

void ts_index_pool_init(struct ts_index_pool *pool, const struct ts_signer *signer)
{
	*pool = (struct ts_index_pool){ .signer = signer };
	pthread_mutex_init(&pool->lock, NULL);
}

void ts_index_pool_fini(struct ts_index_pool *pool)
{
	pthread_mutex_destroy(&pool->lock);
}

struct ts_index_blocks *ts_index_blocks_new(struct ts_index_pool *pool, const uint8_t *start, size_t first,
					    size_t end, const uint8_t *signatures)
{
	struct ts_index_blocks *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	*b = (struct ts_index_blocks){ .pool = pool, .start = start, .first = first, .end = end,
					.signatures = signatures };
	b->states = calloc(ts_index_blocks_n(end) + 1, sizeof(*b->states));
	b->has_piece = calloc(end / TS_INDEX_PIECE_LEN + 1, sizeof(*b->has_piece));
	if (b->states && b->has_piece)
		return b;
	ts_index_blocks_free(b);
	return NULL;
}

void ts_index_blocks_free(struct ts_index_blocks *b)
{
	if (!b)
		return;
	for (unsigned i = 0; b->has_piece && i < TS_INDEX_MAX_PIECES; i++) {
		if (b->pool->pieces[i].blocks == b)
			b->pool->pieces[i].blocks = NULL;
	}
	free(b->states);
	free(b->has_piece);
	free(b);
}

/* The bytes of block @i. */
static struct iovec bytes_of(const uint8_t *start, size_t first, size_t end, size_t i)
{
	size_t from = i * TS_INDEX_BLOCK_LEN, to = from + TS_INDEX_BLOCK_LEN;

	from = from > first ? from : first;
	to = to < end ? to : end;
	return (struct iovec){ (uint8_t *)start + from, to > from ? to - from : 0 };
}

void ts_index_blocks_sign(const struct ts_signer *signer, const uint8_t *start, size_t first, size_t end,
		    uint8_t *signatures)
{
	for (size_t i = 0, n = ts_index_blocks_n(end); i < n; i++) {
		struct iovec bytes = bytes_of(start, first, end, i);

		ts_signer_sign(signer, &bytes, 1, signatures + i * TS_SIGNATURE_LEN);
	}
}

/* Give the pages of a piece back; its blocks stay verified. */
static void give_back(struct ts_index_blocks *b, size_t piece)
{
	size_t from = piece * TS_INDEX_PIECE_LEN, len = b->end - from;

	for (size_t i = piece * PIECE_BLOCKS; i < (piece + 1) * PIECE_BLOCKS && i < ts_index_blocks_n(b->end);
	     i++) {
		if (b->states[i] == READY)
			b->states[i] = VERIFIED;
	}
	b->has_piece[piece] = false;
	madvise((uint8_t *)b->start + from, len < TS_INDEX_PIECE_LEN ? len : TS_INDEX_PIECE_LEN, MADV_DONTNEED);
}

/* The piece of block @i is in memory now; the oldest one leaves if there are too many. */
static void keep(struct ts_index_blocks *b, size_t i)
{
	struct ts_index_pool *pool = b->pool;
	size_t piece = i / PIECE_BLOCKS;

	if (b->has_piece[piece])
		return;
	if (pool->pieces[pool->next].blocks)
		give_back(pool->pieces[pool->next].blocks, pool->pieces[pool->next].piece);
	b->has_piece[piece] = true;
	pool->pieces[pool->next].blocks = b;
	pool->pieces[pool->next].piece = piece;
	pool->next = (pool->next + 1) % TS_INDEX_MAX_PIECES;
}

static bool is_good(const struct ts_index_blocks *b, size_t i)
{
	struct iovec bytes = bytes_of(b->start, b->first, b->end, i);

	return ts_signer_check(b->pool->signer, &bytes, 1, b->signatures + i * TS_SIGNATURE_LEN);
}

static bool fetch(struct ts_index_blocks *b, size_t i)
{
	if (b->states[i] == READY)
		return true;
	if (b->states[i] == UNREAD && !is_good(b, i)) {
		b->is_damaged = true;
		return false;
	}
	keep(b, i);
	atomic_store_explicit(&b->states[i], READY, memory_order_release);
	return true;
}

static bool fetch_all(struct ts_index_blocks *b, size_t first, size_t last)
{
	bool done = true;

	pthread_mutex_lock(&b->pool->lock);
	for (size_t i = first; i <= last; i++)
		done &= fetch(b, i);
	pthread_mutex_unlock(&b->pool->lock);
	return done;
}

bool ts_index_blocks_fetch(struct ts_index_blocks *b, size_t first, size_t last)
{
	struct ts_index_pool *pool = b->pool;

	if (fetch_all(b, first, last) ||
	    (!pool->is_damaged && pool->mend && pool->mend(pool->user) && fetch_all(b, first, last)))
		return true;
	pool->is_damaged = true;
	return false;
}

void ts_index_blocks_renew(struct ts_index_blocks *b)
{
	pthread_mutex_lock(&b->pool->lock);
	for (size_t i = 0; i < ts_index_blocks_n(b->end); i++)
		b->states[i] = UNREAD;
	b->is_damaged = false;
	pthread_mutex_unlock(&b->pool->lock);
}
