/* SPDX-License-Identifier: MIT */
/*
 * The units in which a recording is decoded and indexed.
 *
 * A chunk is the unit that is decoded, a segment the unit that is sealed and written to the index file.
 * Chunk numbers within a segment fit 16 bits.  Tests build the model with small values, to cross many
 * boundaries.
 */
#ifndef TS_CHUNK_H
#define TS_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#ifndef TS_CHUNK_STEPS
#define TS_CHUNK_STEPS 1024u
#define TS_SEGMENT_CHUNKS 4096u
#endif

#define TS_NO_CHUNK UINT64_MAX

/* The directions of a search, for arguments is_reverse. */
#define TS_FORWARDS  false
#define TS_BACKWARDS true

/* The nearer of two chunks, or of two positions, in the direction of a search; UINT64_MAX is none. */
static inline uint64_t ts_nearer(uint64_t a, uint64_t b, bool is_reverse)
{
	if (a == UINT64_MAX || b == UINT64_MAX)
		return a == UINT64_MAX ? b : a;
	return is_reverse == (a > b) ? a : b;
}

#endif
