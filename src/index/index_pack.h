/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow with the recording are packed in an index file: block by block, so that a question
 * unpacks no more than it reads.
 *
 * A packed array is a table: where in it each block begins, and where the last one ends (32 bits each); then
 * the blocks.  Each holds TS_INDEX_BLOCK_LEN bytes of the array (the last one fewer), as a frame of zstd, or,
 * if that is no gain, as they are.
 *
 * Items of more than one byte are filtered before: all their first bytes, then all second ones, and so on,
 * each as its difference from the one before.  So the offsets, keys and chunks that ascend become long runs.
 * What follows the last whole item of a block stays as it is.  Measured over recordings of five formats,
 * blocks of 4 KiB are 0.05 to 0.12 of what they hold, for rvnbintrace about half; blocks of 16 KiB are a third
 * smaller, but take four times as long to be unpacked (3 us for 4 KiB).
 */
#ifndef TS_INDEX_PACK_H
#define TS_INDEX_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index_block.h"
#include "src/base/buf.h"

struct ts_index_packer;

/* The largest items that are filtered. */
#define TS_INDEX_MAX_ITEM 256u

/* The length of a packed array's table, if @len bytes are packed. */
static inline uint64_t ts_index_pack_table_len(uint64_t len)
{
	return ((len + TS_INDEX_BLOCK_LEN - 1) / TS_INDEX_BLOCK_LEN + 1) * sizeof(uint32_t);
}

/* What packs on up to @n_threads threads, of which the caller's is one.  NULL if memory is exhausted. */
struct ts_index_packer *ts_index_packer_new(unsigned n_threads);
void ts_index_packer_free(struct ts_index_packer *p);

/* What zstd needs to unpack; NULL if memory is exhausted. */
struct ZSTD_DCtx_s *ts_index_unpacker_new(void);
void ts_index_unpacker_free(struct ZSTD_DCtx_s *zstd);

/*
 * Pack the @len bytes of @items, of @item_len bytes each, to @out, which is emptied before.  Equal arrays
 * give equal bytes, on any number of threads; they can be more than there were.
 *
 * Returns false if it cannot be packed: it has items, or a length, that are too large, or memory is exhausted
 * (ts_buf_ok() of @out).
 */
bool ts_index_pack(struct ts_index_packer *p, const uint8_t *items, size_t len, uint32_t item_len,
		   struct ts_buf *out);

/*
 * Unpack the @packed_len bytes of a block, which come from a file, to the @len bytes at @out.
 *
 * Returns false if they are not a block that unpacks to @len bytes.
 */
bool ts_index_unpack(struct ZSTD_DCtx_s *zstd, const uint8_t *packed, size_t packed_len, uint32_t item_len,
		     uint8_t *out, size_t len);

#endif
