/* SPDX-License-Identifier: MIT */
/*
 * A query of sketches (sketch.h): the chunks that may create a value anywhere in memory.
 */
#ifndef TS_PROBE_H
#define TS_PROBE_H

#include <stdbool.h>
#include <stdint.h>

struct ts_probe;
struct ts_sketch;

/*
 * A query for a value of @len bytes.  Where mask[i] is 0, byte i may have any value, or be unknown.
 *
 * Returns NULL if the mask is 0 everywhere.
 * Returns NULL if memory is exhausted.
 */
struct ts_probe *ts_probe_new(const uint8_t *bytes, const uint8_t *mask, uint32_t len);
void ts_probe_free(struct ts_probe *p);

/*
 * The first chunk >= @chunk that may create the value.  Both are relative to segment @segment, whose sketch is @s.
 *
 * Returns TS_SEGMENT_CHUNKS if no later chunk may create it.
 */
uint32_t ts_probe_next(struct ts_probe *p, const struct ts_sketch *s, uint64_t segment, uint32_t chunk);

#endif
