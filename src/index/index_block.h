/* SPDX-License-Identifier: MIT */
/*
 * The division of records and packed arrays into blocks.
 */
#ifndef TS_INDEX_BLOCK_H
#define TS_INDEX_BLOCK_H

#include <stddef.h>

/*
 * The length of a block.  Pages are loaded and released in pieces, whose length is the number of bytes that Linux maps
 * around a page at its first access.  The number of pieces that stay in memory is limited to 64 MiB for the pieces of a
 * file, and to 64 MiB for unpacked pieces.
 * Tests use smaller numbers, to cross many boundaries, and keep only the last unpacked piece, so that
 * a pointer that is held for too long is detected.  They overwrite the other pieces with TS_INDEX_POISON and
 * release nothing, because a system call for each piece would take half of their time: it interrupts the other
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
