/* SPDX-License-Identifier: MIT */
/*
 * The contents of memory during a pass over all steps, in order.
 *
 * Only blocks that a step touched are kept.  A block is read once, as memory was at the start of the current chunk.  From then
 * on the caller changes it as the steps do.
 */
#ifndef TS_BLOCKS_H
#define TS_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/hash_table.h"

#define TS_BLOCK_LEN 256u

struct ts_block {
	uint64_t addr; /* of its first byte */
	uint32_t process;
	bool is_stale;                     /* its contents are out of date: it is read again when it is needed */
	uint64_t known[TS_BLOCK_LEN / 64]; /* bit i: byte i is known */
	uint8_t data[TS_BLOCK_LEN];
};

/* Read the @len bytes at @addr as they are at the first position of @chunk: known[i] is 1 or 0. */
typedef void ts_blocks_read(void *user, uint32_t process, uint64_t chunk, uint64_t addr, size_t len,
			    uint8_t *data, uint8_t *known);

struct ts_blocks {
	ts_blocks_read *read;
	void *user;
	uint64_t chunk;         /* the current chunk */
	struct ts_block *items; /* owned */
	size_t n, cap;
	struct ts_hash_table by_addr; /* and process */
};

void ts_blocks_init(struct ts_blocks *b, ts_blocks_read *read, void *user);
void ts_blocks_fini(struct ts_blocks *b);

/* The next steps belong to @chunk. */
void ts_blocks_begin_chunk(struct ts_blocks *b, uint64_t chunk);

/* The block with @addr, until the next call.  Returns NULL if memory is exhausted. */
struct ts_block *ts_blocks_get(struct ts_blocks *b, uint32_t process, uint64_t addr);

/* Read [addr, addr + len) as it is at the start of the next chunk. */
static inline void ts_blocks_look_ahead(const struct ts_blocks *b, uint32_t process, uint64_t addr,
					size_t len, uint8_t *data, uint8_t *known)
{
	b->read(b->user, process, b->chunk + 1, addr, len, data, known);
}

/* After a chunk: the steps do not show the contents of [@first, @last] (of all memory).  Blocks there are read again. */
void ts_blocks_drop(struct ts_blocks *b, uint32_t process, uint64_t first, uint64_t last);
void ts_blocks_drop_all(struct ts_blocks *b);

/*
 * Set [@first, @last] to zeros, or (not @is_known) to unknown bytes.  Blocks that lie entirely in the range are not read.
 *
 * Returns false if memory is exhausted.
 */
bool ts_blocks_clear(struct ts_blocks *b, uint32_t process, uint64_t first, uint64_t last, bool is_known);

/* Mark bytes [@s, @e] of the block as known, or as unknown. */
void ts_block_know(struct ts_block *b, unsigned s, unsigned e);
void ts_block_forget(struct ts_block *b, unsigned s, unsigned e);

/* Are all @len bytes at @off known? */
static inline bool ts_block_knows(const struct ts_block *b, unsigned off, unsigned len)
{
	unsigned word = off / 64, at = off % 64;
	uint64_t bits = len < 64 ? (UINT64_C(1) << len) - 1 : UINT64_MAX;

	if (len <= 64 - at)
		return (b->known[word] >> at & bits) == bits;
	if ((b->known[word] >> at) != UINT64_MAX >> at)
		return false;
	return ts_block_knows(b, (word + 1) * 64, len - (64 - at));
}

#endif
