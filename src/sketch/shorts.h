/* SPDX-License-Identifier: MIT */
/*
 * The single bytes that the changes of a segment left in memory, and in which chunks, and the pairs of bytes
 * that have one of these, and in which groups of chunks, while the segment is read.
 */
#ifndef TS_SHORTS_H
#define TS_SHORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sketch.h"

struct ts_shorts {
	uint64_t bytes[4]; /* bit b % 64 of word b / 64: the chunk left byte b */
	uint64_t group;    /* the bit of the group that is being read */
	uint8_t *chunks;   /* owned; as ts_sketch.bytes */
	uint64_t *groups;  /* owned; by pair */
};

/* Returns false if memory is exhausted; @s needs its fini either way. */
bool ts_shorts_init(struct ts_shorts *s);
void ts_shorts_fini(struct ts_shorts *s);

/* What follows is of chunk @chunk of the segment. */
void ts_shorts_begin_chunk(struct ts_shorts *s, unsigned chunk);

/* No more of it comes. */
void ts_shorts_end_chunk(struct ts_shorts *s, unsigned chunk);

/* A change left byte @b. */
static inline void ts_shorts_note_byte(struct ts_shorts *s, uint8_t b)
{
	s->bytes[b / 64] |= UINT64_C(1) << b % 64;
}

/* A change left the two bytes at @data; it changed one of them, or both. */
static inline void ts_shorts_note_pair(struct ts_shorts *s, const uint8_t *data)
{
	s->groups[ts_sketch_pair(data)] |= s->group;
}

/*
 * The segment is over: what was noted to *sketch, and begin the next one.
 *
 * Returns false if memory is exhausted.
 */
bool ts_shorts_seal(struct ts_shorts *s, struct ts_sketch *sketch);

#endif
