/* SPDX-License-Identifier: MIT */
/*
 * Collects, while a segment is read, the single bytes that its changes create in memory, with their chunks, and the pairs of
 * bytes that contain a changed byte, with their groups of chunks.
 */
#ifndef TS_SHORTS_H
#define TS_SHORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sketch.h"

struct ts_shorts {
	uint64_t bytes[4]; /* bit b % 64 of word b / 64 is set if the current chunk created byte b */
	uint64_t group;    /* the bit of the current group */
	uint8_t *chunks;   /* owned; as ts_sketch.bytes */
	uint64_t *groups;  /* owned; by pair */
};

/* Returns false if memory is exhausted; @s needs its fini either way. */
bool ts_shorts_init(struct ts_shorts *s);
void ts_shorts_fini(struct ts_shorts *s);

/* The next changes belong to chunk @chunk of the segment. */
void ts_shorts_begin_chunk(struct ts_shorts *s, unsigned chunk);

/* End that chunk. */
void ts_shorts_end_chunk(struct ts_shorts *s, unsigned chunk);

/* Add byte @b, which a change created. */
static inline void ts_shorts_note_byte(struct ts_shorts *s, uint8_t b)
{
	s->bytes[b / 64] |= UINT64_C(1) << b % 64;
}

/* Add the pair of bytes at @data, of which a change wrote at least one. */
static inline void ts_shorts_note_pair(struct ts_shorts *s, const uint8_t *data)
{
	s->groups[ts_sketch_pair(data)] |= s->group;
}

/*
 * End the segment: move its bytes and pairs to *sketch, and begin the next segment.
 *
 * Returns false if memory is exhausted.
 */
bool ts_shorts_seal(struct ts_shorts *s, struct ts_sketch *sketch);

#endif
