/* SPDX-License-Identifier: MIT */
/*
 * What is asked of sketches (sketch.h): in which chunks may a value begin to stand somewhere in memory?
 */
#ifndef TS_PROBE_H
#define TS_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_probe;
struct ts_sketch;

/* Addresses that have to be looked at wherever they change. */
struct ts_probe_range {
	uint64_t first, last;
};

/*
 * For a value of @len bytes; bytes i with mask[i] 0 may be anything, known or not.
 *
 * Returns NULL if sketches cannot help to find this value, or memory is exhausted.
 */
struct ts_probe *ts_probe_new(const uint8_t *bytes, const uint8_t *mask, uint32_t len);
void ts_probe_free(struct ts_probe *p);

/*
 * The chunks of segment @segment, whose sketch is @s, in which the value may begin to stand, but for those that change
 * the addresses of ts_probe_late(): bit g for group g (TS_SKETCH_GROUP chunks).
 */
uint64_t ts_probe_groups(struct ts_probe *p, const struct ts_sketch *s, uint64_t segment);

/*
 * Where the value may stand in memory of @process with bytes that were found out late, to the @max items of @ranges;
 * *n gets how many.
 *
 * Returns false if that is not known, or there are more.
 */
bool ts_probe_late(const struct ts_probe *p, const struct ts_sketch *s, uint32_t process, struct ts_probe_range *ranges,
		   size_t *n, size_t max);

#endif
