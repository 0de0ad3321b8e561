/* SPDX-License-Identifier: MIT */
/*
 * What the changes of a segment may have made of memory: single bytes, pairs, and windows of four bytes, as
 * hashes, each with the chunks that may have left it; too many at most, never too few.
 */
#ifndef TS_SKETCH_H
#define TS_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/trace/chunk.h"

struct ts_index_blocks;
struct ts_index_file;
struct ts_index_arrays;

/* Bytes of a window. */
#define TS_GRAM_LEN 4u

/* A segment's chunks are divided into groups, at most 64. */
#define TS_SKETCH_GROUP ((TS_SEGMENT_CHUNKS + 63u) / 64u)

/* Bytes that have a bit for each chunk of a segment; so many for each of the 256 values of a byte. */
#define TS_SKETCH_BYTE_LEN  ((TS_SEGMENT_CHUNKS + 7u) / 8u)
#define TS_SKETCH_BYTES_LEN (256u * TS_SKETCH_BYTE_LEN)

enum ts_sketch_form {
	TS_SKETCH_NONE,   /* nothing is known */
	TS_SKETCH_LIST,   /* keys, and a place for each */
	TS_SKETCH_BITMAP, /* a bit for each key there is */
};

/* Of a segment.  A key is the @n_bits highest bits of a hash. */
struct ts_sketch {
	uint32_t form;
	uint32_t n_bits;
	uint8_t *keys;   /* owned; LIST: differences to the key before, BITMAP: bits; see sketch.c */
	size_t keys_len;
	uint8_t *places; /* owned; LIST: of each key */
	size_t n;
	uint64_t *groups; /* owned; of each place with several groups: bit g for group g; or none: too many */
	size_t n_groups;
	/* owned; for each value of a byte bit c % 8 of its byte c / 8: chunk c of the segment left it */
	uint8_t *bytes;
	size_t bytes_len;
	uint16_t *pairs;       /* owned; pairs of bytes (ts_sketch_pair()) that were left, ascending */
	uint64_t *pair_groups; /* owned; of each: bit g for group g */
	size_t n_pairs;
	uint16_t *wild;  /* owned; chunks of the segment in which any value may begin to stand, ascending */
	size_t n_wild;
	struct ts_index_blocks *file; /* borrowed; the arrays are mapped from it; NULL: they are owned */
};

/* The hash of the window whose bytes these are, the first one lowest.  No two windows have the same one. */
static inline uint32_t ts_gram_hash(uint32_t gram)
{
	return gram * UINT32_C(0x9e3779b1);
}

/* The pair of the two bytes at @data. */
static inline unsigned ts_sketch_pair(const uint8_t *data)
{
	return data[0] | (unsigned)data[1] << 8;
}

/*
 * Chunk groups [first, last] of a segment as the place of a key, and back: bit g for group g, perhaps more of
 * them.
 */
uint8_t ts_sketch_place(unsigned first, unsigned last);

void ts_sketch_fini(struct ts_sketch *s);

/*
 * To an index file; from there.  Loading returns false if the arrays contradict each other.  Keys and places
 * are verified and bounded when they are looked up.
 */
void ts_sketch_save(const struct ts_sketch *s, struct ts_index_file *f);
bool ts_sketch_load(struct ts_sketch *s, struct ts_index_arrays *a);

/*
 * The groups that may have noted each of the @n hashes, which ascend, to @groups: bit g for group g.
 */
void ts_sketch_look_up(const struct ts_sketch *s, const uint32_t *hashes, size_t n, uint64_t *groups);

/* The groups that may have left the pair. */
uint64_t ts_sketch_pair_groups(const struct ts_sketch *s, unsigned pair);

/*
 * The chunks that may have left byte @b: TS_SKETCH_BYTE_LEN bytes as those of ts_sketch.bytes, borrowed; NULL:
 * all.
 */
const uint8_t *ts_sketch_chunks(const struct ts_sketch *s, uint8_t b);

#endif
