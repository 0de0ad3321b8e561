/* SPDX-License-Identifier: MIT */
/*
 * Compression of the arrays that grow with the recording, in blocks, so that a question unpacks only the blocks that it
 * reads.
 *
 * A packed array begins with a table of the offsets of its blocks, and the end of the last one (32 bits each); the
 * blocks follow.  Each holds TS_INDEX_BLOCK_LEN bytes of the array (the last one fewer), as a zstd frame, or
 * uncompressed if that is not longer.
 *
 * Items of more than one byte are filtered first: all their first bytes, then all second bytes, and so on,
 * each as the difference from the previous one.  Ascending offsets, keys and chunks thus become long runs.
 * The bytes after the last whole item of a block are not filtered.  Measured over recordings of five formats,
 * blocks of 4 KiB are compressed to 0.05 to 0.12, for rvnbintrace to about half; blocks of 16 KiB are a third
 * smaller, but take four times as long to unpack (3 us for 4 KiB).
 */
#ifndef TS_INDEX_PACK_H
#define TS_INDEX_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index_block.h"
#include "src/base/collections/buf.h"

struct ts_index_packer;

/* The length of the largest items that are filtered. */
#define TS_INDEX_MAX_ITEM 256u

/* The length of the table of a packed array of @len bytes. */
static inline uint64_t ts_index_pack_table_len(uint64_t len)
{
	return ((len + TS_INDEX_BLOCK_LEN - 1) / TS_INDEX_BLOCK_LEN + 1) * sizeof(uint32_t);
}

/*
 * A packer that uses up to @n_threads threads, including the caller's; the caller frees it.  Returns NULL if memory is
 * exhausted.
 */
struct ts_index_packer *ts_index_packer_new(unsigned n_threads);
void ts_index_packer_free(struct ts_index_packer *p);

/* A decompression context, which the caller frees; NULL if memory is exhausted. */
struct ZSTD_DCtx_s *ts_index_unpacker_new(void);
void ts_index_unpacker_free(struct ZSTD_DCtx_s *zstd);

/*
 * Pack the @len bytes of @items, of @item_len bytes each, to @out, which is emptied first.  Equal arrays
 * are packed to equal bytes, with any number of threads.  The result can be longer than @len.
 *
 * Returns false if the items or the array are too large.
 * Returns false if memory is exhausted (ts_buf_ok() of @out is then false).
 */
bool ts_index_pack(struct ts_index_packer *p, const uint8_t *items, size_t len, uint32_t item_len,
		   struct ts_buf *out);

/*
 * Unpack the @packed_len untrusted bytes of a block to the @len bytes at @out.
 *
 * Returns false if they are not a block that unpacks to @len bytes.
 */
bool ts_index_unpack(struct ZSTD_DCtx_s *zstd, const uint8_t *packed, size_t packed_len, uint32_t item_len,
		     uint8_t *out, size_t len);

#endif
