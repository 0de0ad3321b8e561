/* SPDX-License-Identifier: MIT */
#include "index_blocks.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "index_pack.h"
#include "src/base/collections/bisect.h"

enum state {
	UNREAD,
	VERIFIED, /* its pages were given back */
	READY = TS_INDEX_BLOCK_IS_READY,
};

#define PIECE_BLOCKS (TS_INDEX_PIECE_LEN / TS_INDEX_BLOCK_LEN)

bool ts_index_pool_init(struct ts_index_pool *pool, const struct ts_signer *signer)
{
	*pool = (struct ts_index_pool){ .signer = signer, .zstd = ts_index_unpacker_new() };
	pthread_mutex_init(&pool->lock, NULL);
	return pool->zstd;
}

void ts_index_pool_fini(struct ts_index_pool *pool)
{
	pthread_mutex_destroy(&pool->lock);
	free(pool->unpacked);
	ts_index_unpacker_free(pool->zstd);
}

struct ts_index_blocks *ts_index_blocks_new(struct ts_index_pool *pool, const uint8_t *start, size_t first,
					    size_t end, const uint8_t *signatures)
{
	struct ts_index_blocks *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	*b = (struct ts_index_blocks){ .pool = pool, .start = start, .first = first, .end = end,
					.signatures = signatures };
	if (ts_index_blocks_set_packed(b, NULL, 0, end))
		return b;
	ts_index_blocks_free(b);
	return NULL;
}

bool ts_index_blocks_set_packed(struct ts_index_blocks *b, const struct ts_index_packed *packed, size_t n,
				size_t unpacked_end)
{
	free(b->states);
	free(b->has_piece);
	b->packed = packed;
	b->n_packed = n;
	b->n = ts_index_blocks_n(unpacked_end);
	b->unpacked = n ? (size_t)packed[0].at / TS_INDEX_BLOCK_LEN : b->n;
	b->states = calloc(b->n + 1, sizeof(*b->states));
	b->n_pieces = unpacked_end / TS_INDEX_PIECE_LEN + 1;
	b->has_piece = calloc(b->n_pieces, sizeof(*b->has_piece));
	return b->states && b->has_piece;
}

void ts_index_blocks_begin_with(struct ts_index_blocks *b, bool (*begin)(void *user), void *user)
{
	b->begin = begin;
	b->user = user;
}

/* No ring has a piece of the blocks any more. */
static void forget_pieces(const struct ts_index_blocks *b)
{
	struct ts_index_pool *pool = b->pool;

	for (unsigned i = 0; i < TS_INDEX_MAX_PIECES; i++) {
		if (pool->pieces[i].blocks == b)
			pool->pieces[i].blocks = NULL;
	}
	for (size_t i = 0; i < pool->cap_unpacked; i++) {
		if (pool->unpacked[i].blocks == b)
			pool->unpacked[i].blocks = NULL;
	}
}

void ts_index_blocks_free(struct ts_index_blocks *b)
{
	if (!b)
		return;
	if (!b->begin)
		forget_pieces(b);
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

/* These bytes are not read before they are fetched again. */
static void forget(uint8_t *p, size_t len, bool is_unpacked)
{
	if (!TS_INDEX_POISON)
		madvise(p, len, MADV_DONTNEED);
	else if (is_unpacked)
		memset(p, TS_INDEX_POISON, len);
}

/* Give the pages of a piece back.  Its blocks stay verified; what was unpacked to it is gone. */
static void give_back(struct ts_index_blocks *b, size_t piece)
{
	size_t first = piece * PIECE_BLOCKS, end = first + PIECE_BLOCKS < b->n ? first + PIECE_BLOCKS : b->n;

	for (size_t i = first; i < end; i++) {
		if (b->states[i] == READY)
			b->states[i] = i < b->unpacked ? VERIFIED : UNREAD;
	}
	b->has_piece[piece] = false;
	forget((uint8_t *)b->start + first * TS_INDEX_BLOCK_LEN, (end - first) * TS_INDEX_BLOCK_LEN,
	       first >= b->unpacked);
}

/* A piece of the file is in memory now; the oldest one leaves if there are too many. */
static void keep(struct ts_index_blocks *b, size_t piece)
{
	struct ts_index_pool *pool = b->pool;

	if (b->has_piece[piece])
		return;
	if (pool->pieces[pool->next].blocks)
		give_back(pool->pieces[pool->next].blocks, pool->pieces[pool->next].piece);
	b->has_piece[piece] = true;
	pool->pieces[pool->next] = (struct ts_index_piece){ b, piece };
	pool->next = (pool->next + 1) % TS_INDEX_MAX_PIECES;
}

static bool grow_ring(struct ts_index_pool *pool)
{
	size_t cap = pool->cap_unpacked ? pool->cap_unpacked * 2 : 2 * TS_INDEX_MAX_UNPACKED;
	struct ts_index_piece *ring = calloc(cap, sizeof(*ring));

	if (!ring)
		return false;
	for (size_t i = 0; i < pool->n_unpacked; i++)
		ring[i] = pool->unpacked[(pool->first_unpacked + i) % pool->cap_unpacked];
	free(pool->unpacked);
	pool->unpacked = ring;
	pool->cap_unpacked = cap;
	pool->first_unpacked = 0;
	return true;
}

/* The piece of unpacked block @i is in memory now.  Without memory to note it, it stays there. */
static void keep_unpacked(struct ts_index_blocks *b, size_t i)
{
	struct ts_index_pool *pool = b->pool;
	size_t piece = i / PIECE_BLOCKS;

	if (b->has_piece[piece] || (pool->n_unpacked == pool->cap_unpacked && !grow_ring(pool)))
		return;
	b->has_piece[piece] = true;
	pool->unpacked[(pool->first_unpacked + pool->n_unpacked) % pool->cap_unpacked] =
		(struct ts_index_piece){ b, piece };
	pool->n_unpacked++;
}

static void give_oldest_back(struct ts_index_pool *pool)
{
	struct ts_index_piece *oldest = &pool->unpacked[pool->first_unpacked];

	if (oldest->blocks)
		give_back(oldest->blocks, oldest->piece);
	oldest->blocks = NULL;
	pool->first_unpacked = (pool->first_unpacked + 1) % pool->cap_unpacked;
	pool->n_unpacked--;
}

void ts_index_pool_give_back(struct ts_index_pool *pool)
{
	if (pool->n_unpacked <= TS_INDEX_MAX_UNPACKED)
		return;
	pthread_mutex_lock(&pool->lock);
	while (pool->n_unpacked > TS_INDEX_MAX_UNPACKED)
		give_oldest_back(pool);
	pthread_mutex_unlock(&pool->lock);
}

/* Is block @i as it was written?  Its signature comes to memory, too. */
static bool verify(struct ts_index_blocks *b, size_t i)
{
	struct iovec bytes = bytes_of(b->start, b->first, b->end, i);
	const uint8_t *signature = b->signatures + i * TS_SIGNATURE_LEN;
	size_t piece = ((uintptr_t)signature - (uintptr_t)b->start) / TS_INDEX_PIECE_LEN;

	if (piece < b->n_pieces)
		keep(b, piece);
	return ts_signer_check(b->pool->signer, &bytes, 1, signature);
}

/*
 * The record is about to be used for the first time: its head and its tables come to memory.  A damaged one is not
 * mapped again.
 */
static bool begin(struct ts_index_blocks *b)
{
	size_t tables_end = (size_t)(b->signatures - b->start) + ts_index_blocks_n(b->end) * TS_SIGNATURE_LEN;

	if (b->is_damaged)
		return false;
	if (!b->begin(b->user)) {
		b->is_damaged = !b->pool->is_exhausted;
		return false;
	}
	b->begin = NULL;
	keep(b, 0);
	for (size_t i = b->end / TS_INDEX_PIECE_LEN; i * TS_INDEX_PIECE_LEN < tables_end && i < b->n_pieces; i++)
		keep(b, i);
	return true;
}

/* A block of the file. */
static bool fetch(struct ts_index_blocks *b, size_t i)
{
	if (b->states[i] == READY)
		return true;
	if (b->begin && !begin(b))
		return false;
	if (b->states[i] == UNREAD && !verify(b, i))
		return false;
	keep(b, i / PIECE_BLOCKS);
	atomic_store_explicit(&b->states[i], READY, memory_order_release);
	return true;
}

/* @len bytes of the record, which come from the file; NULL if they are damaged. */
static const uint8_t *fetch_bytes(struct ts_index_blocks *b, uint64_t off, size_t len)
{
	for (size_t i = (size_t)off / TS_INDEX_BLOCK_LEN; i * TS_INDEX_BLOCK_LEN < off + len; i++) {
		if (!fetch(b, i))
			return NULL;
	}
	return b->start + off;
}

/* The packed array to which unpacked block @i belongs; NULL: none. */
static const struct ts_index_packed *packed_at(const struct ts_index_blocks *b, size_t i)
{
	size_t at = 1;
	const struct ts_index_packed *p;

	TS_BISECT(at, b->n_packed, k, b->packed[k].at <= i * TS_INDEX_BLOCK_LEN);
	p = &b->packed[at - 1];
	return i * TS_INDEX_BLOCK_LEN - p->at < p->unpacked_len ? p : NULL;
}

/* Where block @i of a packed array is; false if it is damaged. */
static bool find_block(struct ts_index_blocks *b, const struct ts_index_packed *p, size_t i, uint32_t *from,
		       uint32_t *to)
{
	const uint8_t *bytes = fetch_bytes(b, p->off + i * sizeof(*from), 2 * sizeof(*from));

	if (!bytes)
		return false;
	memcpy(from, bytes, sizeof(*from));
	memcpy(to, bytes + sizeof(*from), sizeof(*to));
	*from = le32toh(*from);
	*to = le32toh(*to);
	if (*from <= *to && *to <= p->len)
		return true;
	ts_index_blocks_note_damage(b);
	return false;
}

static bool fetch_unpacked(struct ts_index_blocks *b, size_t i)
{
	const struct ts_index_packed *p = packed_at(b, i);
	uint8_t *to = (uint8_t *)b->start + i * TS_INDEX_BLOCK_LEN;
	const uint8_t *bytes;
	uint32_t first, end;
	size_t at, left;

	if (!p || b->states[i] == READY)
		return true;
	at = i * TS_INDEX_BLOCK_LEN - (size_t)p->at;
	left = (size_t)p->unpacked_len - at;
	if (!find_block(b, p, at / TS_INDEX_BLOCK_LEN, &first, &end))
		return false;
	bytes = fetch_bytes(b, p->off + first, end - first);
	if (!bytes)
		return false;
	keep_unpacked(b, i);
	if (!ts_index_unpack(b->pool->zstd, bytes, end - first, p->item_len, to,
			     left < TS_INDEX_BLOCK_LEN ? left : TS_INDEX_BLOCK_LEN)) {
		ts_index_blocks_note_damage(b);
		return false;
	}
	atomic_store_explicit(&b->states[i], READY, memory_order_release);
	return true;
}

static bool fetch_all(struct ts_index_blocks *b, size_t first, size_t last)
{
	bool done = true;

	pthread_mutex_lock(&b->pool->lock);
	for (size_t i = first; i <= last; i++)
		done &= i < b->unpacked ? fetch(b, i) : fetch_unpacked(b, i);
	pthread_mutex_unlock(&b->pool->lock);
	return done;
}

bool ts_index_blocks_fetch(struct ts_index_blocks *b, size_t first, size_t last)
{
	struct ts_index_pool *pool = b->pool;

	if (fetch_all(b, first, last))
		return true;
	pool->is_damaged = true;
	return false;
}
