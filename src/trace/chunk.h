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

#ifndef TS_CHUNK_STEPS
#define TS_CHUNK_STEPS 1024u
#define TS_SEGMENT_CHUNKS 4096u
#endif

#define TS_NO_CHUNK UINT64_MAX

#endif
