/* SPDX-License-Identifier: MIT */
/*
 * The sketch of a segment: the single bytes, pairs of bytes and four-byte windows (as hashes) that its changes may have created
 * in memory, each with the chunks that may have done so.
 *
 * A sketch may list too many chunks, never too few.
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

/* The length of a bitmap with one bit for each chunk of a segment, and of 256 of them, one for each value of a byte. */
#define TS_SKETCH_BYTE_LEN  ((TS_SEGMENT_CHUNKS + 7u) / 8u)
#define TS_SKETCH_BYTES_LEN (256u * TS_SKETCH_BYTE_LEN)

enum ts_sketch_form {
	TS_SKETCH_NONE,   /* no windows are known */
	TS_SKETCH_LIST,   /* the keys, and a place for each */
	TS_SKETCH_BITMAP, /* one bit for each possible key */
};

/* A key is the @n_bits highest bits of the hash of a window. */
struct ts_sketch {
	uint32_t form;
	uint32_t n_bits;
	uint8_t *keys;   /* owned; LIST: differences to the key before, BITMAP: bits; see sketch.c */
	size_t keys_len;
	uint8_t *places; /* owned; LIST: one for each key */
	size_t n;
	uint64_t *groups; /* owned; for each place with several groups: bit g is set for group g; none if there are too many */
	size_t n_groups;
	/* owned; for each value of a byte: bit c % 8 of byte c / 8 is set if chunk c of the segment created it */
	uint8_t *bytes;
	size_t bytes_len;
	uint16_t *pairs;       /* owned; the pairs of bytes (ts_sketch_pair()), ascending */
	uint64_t *pair_groups; /* owned; for each: bit g is set for group g */
	size_t n_pairs;
	uint16_t *wild;  /* owned; chunks of the segment that may create any value, ascending */
	size_t n_wild;
	struct ts_index_blocks *file; /* borrowed; the arrays are mapped from it; NULL: they are owned */
};

/* The hash of a window; its first byte is the lowest byte of @gram.  Different windows have different hashes. */
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
 * The place of a key whose chunk groups are [first, last].  A place may represent several groups.
 */
uint8_t ts_sketch_place(unsigned first, unsigned last);

void ts_sketch_fini(struct ts_sketch *s);

/*
 * Save the sketch in an index file; load it.  Loading returns false if the arrays contradict each other.  Keys and places are
 * verified and bounded when they are looked up.
 */
void ts_sketch_save(const struct ts_sketch *s, struct ts_index_file *f);
bool ts_sketch_load(struct ts_sketch *s, struct ts_index_arrays *a);

/*
 * Set groups[i] to the groups of chunks that may have created the window with hash hashes[i]: bit g is set for group g.  The
 * @n hashes ascend.
 */
void ts_sketch_look_up(const struct ts_sketch *s, const uint32_t *hashes, size_t n, uint64_t *groups);

/* The groups of chunks that may have created the pair. */
uint64_t ts_sketch_pair_groups(const struct ts_sketch *s, unsigned pair);

/*
 * The chunks that may have created byte @b, as a borrowed bitmap of TS_SKETCH_BYTE_LEN bytes; NULL: all chunks.
 */
const uint8_t *ts_sketch_chunks(const struct ts_sketch *s, uint8_t b);

#endif
