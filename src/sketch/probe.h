/* SPDX-License-Identifier: MIT */
/*
 * What is asked of sketches (sketch.h): in which chunks may a value begin to stand somewhere in memory?
 */
#ifndef TS_PROBE_H
#define TS_PROBE_H

#include <stdbool.h>
#include <stdint.h>

struct ts_probe;
struct ts_sketch;

/*
 * For a value of @len bytes; bytes i with mask[i] 0 may be anything, known or not.
 *
 * Returns NULL if no byte counts, or memory is exhausted.
 */
struct ts_probe *ts_probe_new(const uint8_t *bytes, const uint8_t *mask, uint32_t len);
void ts_probe_free(struct ts_probe *p);

/*
 * The first chunk >= @chunk, both numbers within segment @segment, whose sketch is @s, in which the value may
 * begin to stand.
 *
 * Returns TS_SEGMENT_CHUNKS if there is none.
 */
uint32_t ts_probe_next(struct ts_probe *p, const struct ts_sketch *s, uint64_t segment, uint32_t chunk);

#endif
