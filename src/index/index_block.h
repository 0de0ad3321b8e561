/* SPDX-License-Identifier: MIT */
/*
 * Into which blocks the bytes of a record, and those of a packed array, are divided.
 */
#ifndef TS_INDEX_BLOCK_H
#define TS_INDEX_BLOCK_H

#include <stddef.h>

/*
 * Bytes of a block.  Pages come to memory, and are given back, in pieces: as many bytes as Linux maps around
 * a page that is touched.  So many pieces stay in memory, of a file and of what was unpacked: 64 MiB each.
 * Tests have smaller numbers, to cross many boundaries, and keep only the last unpacked piece, so that
 * whoever holds a pointer for too long is found out.  They overwrite the others with TS_INDEX_POISON and
 * give nothing back: a call for each piece would take half of their time, for it interrupts the other
 * processors.
 */
#ifndef TS_INDEX_BLOCK_LEN
#define TS_INDEX_BLOCK_LEN  4096u
#define TS_INDEX_PIECE_LEN  65536u
#define TS_INDEX_MAX_PIECES 1024u
#define TS_INDEX_MAX_UNPACKED 1024u
#define TS_INDEX_POISON 0
#endif

/* The number of blocks, from the record's beginning on, if @end bytes of it are signed. */
static inline size_t ts_index_blocks_n(size_t end)
{
	return (end + TS_INDEX_BLOCK_LEN - 1) / TS_INDEX_BLOCK_LEN;
}

#endif
