/* SPDX-License-Identifier: MIT */
/*
 * What the changes of a segment may have made of memory: windows of four bytes, as hashes, each with the
 * chunks that may have left it; too many at most, never too few.
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
	uint16_t *wild;  /* owned; chunks of the segment in which any value may begin to stand, ascending */
	size_t n_wild;
	struct ts_index_blocks *file; /* borrowed; the arrays are mapped from it; NULL: they are owned */
};

/* The hash of the window whose bytes these are, the first one lowest.  No two windows have the same one. */
static inline uint32_t ts_gram_hash(uint32_t gram)
{
	return gram * UINT32_C(0x9e3779b1);
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

#endif
