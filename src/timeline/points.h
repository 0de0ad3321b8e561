/* SPDX-License-Identifier: MIT */
/*
 * The decode points of a segment: the place of each chunk in the trace, and the state from which its loader
 * continues there.
 *
 * A point holds the state of all threads, of which few change in a chunk.  A long point is therefore stored as a frame of
 * zstd that has the point before it as its dictionary, and one of every TS_POINTS_GROUP without a dictionary, so that at most
 * TS_POINTS_GROUP are unpacked to have one.  With 1,000 threads that take turns a point has 14 KB, and takes 0.3 KB.
 */
#ifndef TS_POINTS_H
#define TS_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/buf.h"
#include "src/index/index_blocks.h"

struct ts_index_file;
struct ts_index_arrays;

/* At most this many points are unpacked to get one. */
#define TS_POINTS_GROUP 16u

/* State for adding points: the compressor, and the point that was added last.  All zero is valid. */
struct ts_points_packer {
	struct ZSTD_CCtx_s *zstd; /* owned */
	struct ts_buf last;
};

void ts_points_packer_fini(struct ts_points_packer *packer);

/* State for getting points: the decompressor, and the point that was unpacked last.  All zero is valid. */
struct ts_points_unpacker {
	struct ZSTD_DCtx_s *zstd; /* owned */
	uint64_t chunk;		  /* of the recording, whose point is in @point */
	bool has_point;
	struct ts_buf point, last;
};

void ts_points_unpacker_fini(struct ts_points_unpacker *u);

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

/* Append a point, with the packer that added the previous one.  Returns false if memory is exhausted. */
bool ts_points_add(struct ts_points *p, struct ts_points_packer *packer, const struct ts_buf *point);

/*
 * The @i-th point, of *len bytes, of chunk @chunk of the recording.  It is valid until the next call with @u.
 *
 * Returns NULL if memory is exhausted, or the index file is damaged there, which is then noted.
 */
const uint8_t *ts_points_get(const struct ts_points *p, size_t i, uint64_t chunk, struct ts_points_unpacker *u,
			     size_t *len);

/* Returns the bytes of the points, in memory or in the index file. */
size_t ts_points_mem(const struct ts_points *p);

/*
 * Save to an index file; load from one, replacing the arrays (returns false if their lengths contradict each
 * other; what they hold is verified when it is asked for).
 */
void ts_points_save(const struct ts_points *p, struct ts_index_file *f);
bool ts_points_load(struct ts_points *p, struct ts_index_arrays *a);

#endif
