/* SPDX-License-Identifier: MIT */
/*
 * The decode points of a segment: the place of each chunk in the trace, and the state from which its loader
 * continues there.
 */
#ifndef TS_POINTS_H
#define TS_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/index/index_blocks.h"

struct ts_index_file;
struct ts_index_arrays;

/* All zero is empty and valid. */
struct ts_points {
	uint32_t *offs;      /* owned; n + 1: where each begins in data; NULL for none */
	const uint8_t *data; /* that of buf, or an index file's */
	struct ts_buf buf;
	size_t n, cap;
	size_t len;             /* of data that belong to an index file */
	struct ts_index_blocks *file; /* borrowed; the arrays are mapped from it; NULL: they are owned */
};

void ts_points_fini(struct ts_points *p);

/* Append one.  Returns false if memory is exhausted. */
bool ts_points_add(struct ts_points *p, const struct ts_buf *point);

/* The @i-th point, of *len bytes; of none if the index file turns out to be damaged there. */
const uint8_t *ts_points_get(const struct ts_points *p, size_t i, size_t *len);

size_t ts_points_mem(const struct ts_points *p);

/*
 * Save to an index file; load from one, replacing the arrays (returns false if their lengths contradict each
 * other; what they hold is verified when it is asked for).
 */
void ts_points_save(const struct ts_points *p, struct ts_index_file *f);
bool ts_points_load(struct ts_points *p, struct ts_index_arrays *a);

#endif
