/* SPDX-License-Identifier: MIT */
/*
 * The blocks of a record: each has a signature of its own and is verified when it is used for the first time.
 * Packed arrays (index_pack.h) are unpacked to blocks of memory that follow the record; such a block, too,
 * when it is used for the first time.
 *
 * So opening an index costs no more for a long recording, and what is never asked is never read.  Whoever
 * reads bytes that ts_index_take_unread() gave calls ts_index_blocks_use() before.  A block that is not as it
 * was written marks its file as damaged: from then on no question is answered from it (ts_query_finish_question()), and
 * the next start rebuilds it.
 *
 * Blocks that were used are also what stays in memory, up to a limit for each file: then the pages that were
 * fetched first are given back.  Nothing in a record's memory is ever changed, so that they are read again
 * from the file.  What was unpacked is not there any more then, so that it is given back only where
 * ts_index_pool_give_back() is called, by somebody who knows that nobody reads it.
 *
 * Any number of threads may use the blocks of a file.
 */
#ifndef TS_INDEX_BLOCKS_H
#define TS_INDEX_BLOCKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index_block.h"
#include "signer.h"

struct ts_index_blocks;

/* A packed array. */
struct ts_index_packed {
	uint64_t off, len; /* in the record: of what is packed */
	uint64_t at;       /* from the record's start: where it is unpacked, a multiple of a block */
	uint64_t unpacked_len;
	uint32_t item_len;
};

/* A piece of a record in memory. */
struct ts_index_piece {
	struct ts_index_blocks *blocks; /* NULL: its record is gone */
	size_t piece;
};

/* What the blocks of all records of a file have in common. */
struct ts_index_pool {
	const struct ts_signer *signer; /* borrowed */
	_Atomic bool is_damaged;        /* a block was not as it was written, or something in it is wrong */
	_Atomic bool is_exhausted;      /* a record could not be mapped, which says nothing about the file */
	pthread_mutex_t lock;           /* of what follows, and of changes of blocks' states */
	struct ts_index_piece pieces[TS_INDEX_MAX_PIECES]; /* of the file, in memory; a ring */
	unsigned next;                  /* the place of the oldest piece */
	struct ts_index_piece *unpacked; /* owned; unpacked pieces, a ring too, which grows */
	size_t first_unpacked, cap_unpacked;
	_Atomic size_t n_unpacked;
	struct ZSTD_DCtx_s *zstd; /* owned */
};

struct ts_index_blocks {
	struct ts_index_pool *pool; /* borrowed */
	const uint8_t *start;       /* borrowed; the record, which begins at a page */
	size_t first, end;          /* the bytes of the record that are signed in blocks */
	const struct ts_index_packed *packed; /* borrowed; by where they are unpacked */
	size_t n_packed;
	size_t unpacked, n;         /* blocks: the first unpacked one, all */
	const uint8_t *signatures;  /* borrowed; one a block */
	_Atomic uint8_t *states;    /* owned; enum state of index_blocks.c, one a block */
	uint8_t *has_piece;         /* owned; is the piece in a ring of the pool? */
	size_t n_pieces;
	bool is_damaged;            /* its head or tables are not as they were written */
	bool (*begin)(void *user);  /* NULL: it was called, or nothing is to be done */
	void *user;
};

/* Returns false if memory is exhausted; the pool is to be finished all the same. */
bool ts_index_pool_init(struct ts_index_pool *pool, const struct ts_signer *signer);
void ts_index_pool_fini(struct ts_index_pool *pool);

/*
 * Give back what was unpacked, the oldest pieces, until the limit is kept.  No thread may hold a pointer to
 * unpacked bytes that it reads without another ts_index_blocks_use().
 */
void ts_index_pool_give_back(struct ts_index_pool *pool);

/*
 * The blocks of bytes [@first, @end) of the record at @start; @signatures are theirs.
 *
 * Returns NULL if memory is exhausted.
 */
struct ts_index_blocks *ts_index_blocks_new(struct ts_index_pool *pool, const uint8_t *start, size_t first,
					    size_t end, const uint8_t *signatures);

/*
 * The record's @n packed arrays, borrowed and in the order of where they are unpacked: in memory, all zeros,
 * from a piece on that has none of the record's bytes, up to @unpacked_end.  What is packed lies in the
 * blocks; in what it says any number may be wrong.
 *
 * Returns false if memory is exhausted.
 */
bool ts_index_blocks_set_packed(struct ts_index_blocks *b, const struct ts_index_packed *packed, size_t n,
				size_t unpacked_end);
void ts_index_blocks_free(struct ts_index_blocks *b);

/*
 * Call @begin before the first block is used; if it returns false, the block is damaged, unless the pool is
 * exhausted.
 */
void ts_index_blocks_begin_with(struct ts_index_blocks *b, bool (*begin)(void *user), void *user);

/* Sign the blocks of bytes [@first, @end) of the record at @start. */
void ts_index_blocks_sign(const struct ts_signer *signer, const uint8_t *start, size_t first, size_t end,
		    uint8_t *signatures);

/* ts_index_blocks_use() of blocks that are not known to be good, or not counted as being in memory. */
bool ts_index_blocks_fetch(struct ts_index_blocks *b, size_t first, size_t last);

#define TS_INDEX_BLOCK_IS_READY 2

/*
 * The @len bytes at @p, which lie in the blocks, are about to be read, until the pool gives back.  @b is NULL
 * for bytes that are in no file.
 *
 * Returns false if they are not as they were written; the file is then marked as damaged.
 */
static inline bool ts_index_blocks_use(struct ts_index_blocks *b, const void *p, size_t len)
{
	size_t first, last;

	if (!b || !len)
		return true;
	first = (size_t)((const uint8_t *)p - b->start);
	last = (first + len - 1) / TS_INDEX_BLOCK_LEN;
	first /= TS_INDEX_BLOCK_LEN;
	if (__builtin_expect(first == last && atomic_load_explicit(&b->states[first], memory_order_acquire) ==
							TS_INDEX_BLOCK_IS_READY, 1))
		return true;
	return ts_index_blocks_fetch(b, first, last);
}

/* Something in the bytes is wrong, although they are as they were written.  Nothing if @b is NULL. */
static inline void ts_index_blocks_note_damage(struct ts_index_blocks *b)
{
	if (b)
		b->pool->is_damaged = true;
}

#endif
