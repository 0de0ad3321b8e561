/* SPDX-License-Identifier: MIT */
/*
 * The blocks of a record: each has a signature of its own and is verified at its first use. Packed arrays (index_pack.h) are
 * unpacked to blocks of memory that follow the record, also at their first use.
 *
 * Therefore the time to open an index does not depend on the length of the recording, and unused blocks are never read.
 * The caller must call ts_index_blocks_use() before it reads bytes from ts_index_take_unread().  A damaged block marks
 * its file as damaged: from then on no question is answered from it (ts_query_finish_question()), and the next start
 * rebuilds it.
 *
 * Used blocks stay in memory, up to a limit for each file; then the oldest pages are released.  A record's memory is
 * never changed, so that released pages are read again from the file.  Unpacked pages would be lost; they are released
 * only by ts_index_pool_give_back(), whose caller guarantees that no thread reads them.
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
#include "src/index/keys/signer.h"

struct ts_index_blocks;

/* A packed array. */
struct ts_index_packed {
	uint64_t off, len; /* of the packed bytes, in the record */
	uint64_t at;       /* of the unpacked bytes, from the record's start: a multiple of a block */
	uint64_t unpacked_len;
	uint32_t item_len;
};

/* A piece of a record in memory. */
struct ts_index_piece {
	struct ts_index_blocks *blocks; /* NULL: its record was closed */
	size_t piece;
};

/* The state that the blocks of all records of a file share. */
struct ts_index_pool {
	const struct ts_signer *signer; /* borrowed */
	_Atomic bool is_damaged;        /* a block is damaged, or its contents are wrong */
	_Atomic bool is_exhausted;      /* a record could not be mapped; the file may be valid */
	pthread_mutex_t lock;           /* guards the members below, and changes of blocks' states */
	struct ts_index_piece pieces[TS_INDEX_MAX_PIECES]; /* of the file, in memory; a ring */
	unsigned next;                  /* the index of the oldest piece */
	struct ts_index_piece *unpacked; /* owned; unpacked pieces, a growing ring */
	size_t first_unpacked, cap_unpacked;
	_Atomic size_t n_unpacked;
	struct ZSTD_DCtx_s *zstd; /* owned */
};

struct ts_index_blocks {
	struct ts_index_pool *pool; /* borrowed */
	const uint8_t *start;       /* borrowed; the record, which begins at a page */
	size_t first, end;          /* the bytes of the record that are signed in blocks */
	const struct ts_index_packed *packed; /* borrowed; by the place of their unpacked bytes */
	size_t n_packed;
	size_t unpacked, n;         /* blocks: the first unpacked one, all */
	const uint8_t *signatures;  /* borrowed; one a block */
	_Atomic uint8_t *states;    /* owned; enum state of index_blocks.c, one a block */
	uint8_t *has_piece;         /* owned; is the piece in a ring of the pool? */
	size_t n_pieces;
	bool is_damaged;            /* its head or tables are damaged */
	bool (*begin)(void *user);  /* NULL: none, or already called */
	void *user;
};

/* Returns false if memory is exhausted.  The caller must call ts_index_pool_fini() in both cases. */
bool ts_index_pool_init(struct ts_index_pool *pool, const struct ts_signer *signer);
void ts_index_pool_fini(struct ts_index_pool *pool);

/*
 * Release the oldest unpacked pieces until the limit is met.  No thread may read unpacked bytes through an old pointer
 * afterwards, without another ts_index_blocks_use().
 */
void ts_index_pool_give_back(struct ts_index_pool *pool);

/*
 * The blocks of bytes [@first, @end) of the record at @start, with their @signatures; the caller frees them.
 *
 * Returns NULL if memory is exhausted.
 */
struct ts_index_blocks *ts_index_blocks_new(struct ts_index_pool *pool, const uint8_t *start, size_t first,
					    size_t end, const uint8_t *signatures);

/*
 * Set the record's @n packed arrays, borrowed, in the order of their unpacked bytes.  The memory for these is zero,
 * begins at the first piece without bytes of the record, and ends at @unpacked_end.  The packed bytes are in the
 * blocks; their contents are untrusted.
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

/*
 * The slow path of ts_index_blocks_use(): blocks that are not verified, or not counted as being in memory.  Returns as
 * ts_index_blocks_use() does.
 */
bool ts_index_blocks_fetch(struct ts_index_blocks *b, size_t first, size_t last);

#define TS_INDEX_BLOCK_IS_READY 2

/*
 * Prepare the @len bytes at @p, which are in the blocks, for reads until the next ts_index_pool_give_back().  @b is
 * NULL for bytes that are in no file.
 *
 * Returns false if they are damaged; the file is then marked as damaged.
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

/* Mark the file as damaged because the contents of verified bytes are wrong.  Does nothing if @b is NULL. */
static inline void ts_index_blocks_note_damage(struct ts_index_blocks *b)
{
	if (b)
		b->pool->is_damaged = true;
}

#endif
