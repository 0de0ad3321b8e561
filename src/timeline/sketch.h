/* SPDX-License-Identifier: MIT */
/*
 * What the changes of a segment may have made of memory: keys of traits (trait.h), each with the chunks that may have
 * noted it; too many at most, never too few.
 *
 * What was not known near a change is not in its traits.  If it is found out in the same segment, and only one change
 * was near, its traits are added then.  Else the bytes are listed as seen late: values that may contain them have to be
 * looked for where the index says that these addresses were changed.
 */
#ifndef TS_SKETCH_H
#define TS_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/trace/chunk.h"
#include "trait.h"

struct ts_index_file;
struct ts_index_arrays;

/* A segment's chunks are divided into groups, at most 64. */
#define TS_SKETCH_GROUP ((TS_SEGMENT_CHUNKS + 63u) / 64u)

#define TS_LATE_LEN 16u

/* Bytes that were found out after others near them had been changed. */
struct ts_late {
	uint64_t addr;
	uint32_t process, len;
	uint8_t data[TS_LATE_LEN];
};

/* More are not kept: any value may contain them. */
#define TS_MAX_LATE 4096u

enum ts_sketch_form {
	TS_SKETCH_NONE,   /* nothing is known */
	TS_SKETCH_LIST,   /* keys, and a place for each */
	TS_SKETCH_BITMAP, /* a bit for each key there is */
};

/* Of a segment. */
struct ts_sketch {
	uint32_t form;
	uint32_t is_cut;      /* some late bytes are left out */
	uint8_t *keys;        /* owned; LIST: differences to the key before, BITMAP: bits; see sketch.c */
	size_t keys_len;
	uint8_t *places;      /* owned; LIST: of each key */
	size_t n;
	struct ts_late *late; /* owned */
	size_t n_late;
	bool is_mapped;       /* the arrays belong to an index file */
};

/* Builds them. */
struct ts_sketcher;

/* Returns NULL if memory is exhausted. */
struct ts_sketcher *ts_sketcher_new(void);
void ts_sketcher_free(struct ts_sketcher *sk);

/* The bits of the keys of the group that is being read, for ts_sketch_set(). */
uint64_t *ts_sketcher_keys(struct ts_sketcher *sk);

static inline void ts_sketch_set(uint64_t *bits, uint32_t key)
{
	bits[key / 64] |= UINT64_C(1) << key % 64;
}

static inline bool ts_sketch_has(const uint64_t *bits, uint32_t key)
{
	return bits[key / 64] >> key % 64 & 1;
}

/* The key may have been noted by any chunk of the segment up to now. */
void ts_sketcher_note_early(struct ts_sketcher *sk, uint32_t key);

/* Bytes were found out late; at most TS_LATE_LEN. */
void ts_sketcher_note_late(struct ts_sketcher *sk, uint32_t process, uint64_t addr, const uint8_t *data, unsigned len);

/* Segments before this one were taken from an index file. */
void ts_sketcher_go_on(struct ts_sketcher *sk, uint64_t segment);

/* The segment that is being read. */
uint64_t ts_sketcher_segment(const struct ts_sketcher *sk);

/* Chunk @chunk of the recording is over. */
void ts_sketcher_end_chunk(struct ts_sketcher *sk, uint64_t chunk);

/*
 * The segment is over: *@sketch, and the next chunk is the first of the one with number @next.
 *
 * Returns false if memory is exhausted.
 */
bool ts_sketcher_seal(struct ts_sketcher *sk, uint64_t next, struct ts_sketch *sketch);

void ts_sketch_fini(struct ts_sketch *s);

/* To an index file; from there.  Loading returns false if the arrays contradict each other. */
void ts_sketch_save(const struct ts_sketch *s, struct ts_index_file *f);
bool ts_sketch_load(struct ts_sketch *s, struct ts_index_arrays *a);

/* Bytes of memory that it holds. */
size_t ts_sketch_mem(const struct ts_sketch *s);

/*
 * The groups (bit g: group g) that may have noted each of the @n keys, ascending and distinct, to @groups.
 */
void ts_sketch_look_up(const struct ts_sketch *s, const uint32_t *keys, size_t n, uint64_t *groups);

#endif
