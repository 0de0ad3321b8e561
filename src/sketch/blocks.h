/* SPDX-License-Identifier: MIT */
/*
 * Memory before the step that comes next, for who passes over all steps in order: blocks that were touched,
 * each read once from what memory held at the start of a chunk, and then changed as the steps change it.
 */
#ifndef TS_BLOCKS_H
#define TS_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_table.h"

#define TS_BLOCK_LEN 256u

struct ts_block {
	uint64_t addr; /* of its first byte */
	uint32_t process;
	bool is_stale;                     /* it is not what memory holds */
	uint64_t known[TS_BLOCK_LEN / 64]; /* bit i: byte i is known */
	uint8_t data[TS_BLOCK_LEN];
};

/* @len bytes at @addr at the first position of @chunk: known[i] is 1 or 0. */
typedef void ts_blocks_read(void *user, uint32_t process, uint64_t chunk, uint64_t addr, size_t len,
			    uint8_t *data, uint8_t *known);

struct ts_blocks {
	ts_blocks_read *read;
	void *user;
	uint64_t chunk;         /* that is being passed */
	struct ts_block *items; /* owned */
	size_t n, cap;
	struct ts_hash_table by_addr; /* and process */
};

void ts_blocks_init(struct ts_blocks *b, ts_blocks_read *read, void *user);
void ts_blocks_fini(struct ts_blocks *b);

/* The steps that follow are those of @chunk. */
void ts_blocks_begin_chunk(struct ts_blocks *b, uint64_t chunk);

/* The block with @addr, until the next call.  Returns NULL if memory is exhausted. */
struct ts_block *ts_blocks_get(struct ts_blocks *b, uint32_t process, uint64_t addr);

/* What [addr, addr + len) holds at the start of the next chunk. */
static inline void ts_blocks_look_ahead(const struct ts_blocks *b, uint32_t process, uint64_t addr,
					size_t len, uint8_t *data, uint8_t *known)
{
	b->read(b->user, process, b->chunk + 1, addr, len, data, known);
}

/* The chunk is over: what [@first, @last] holds is not what its steps show. */
void ts_blocks_drop(struct ts_blocks *b, uint32_t process, uint64_t first, uint64_t last);
void ts_blocks_drop_all(struct ts_blocks *b);

/*
 * [@first, @last] holds zeros from now on, or (not @is_known) nothing that is known.  Blocks that lie in it
 * as a whole are not read.
 *
 * Returns false if memory is exhausted.
 */
bool ts_blocks_clear(struct ts_blocks *b, uint32_t process, uint64_t first, uint64_t last, bool is_known);

/* Bytes [@s, @e] of the block are known from now on, or not. */
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
