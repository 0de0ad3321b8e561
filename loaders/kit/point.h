/* SPDX-License-Identifier: MIT */
/*
 * Decode points: the one encoding of what a reader saves and resumes from.
 *
 * A decode point is a run of numbers, each a varint of the fewest bytes (seven bits a byte, low ones first,
 * the high bit set in all but the last), and of bytes.  A loader writes its fields one by one in save() and
 * parses them in the same order in resume().
 *
 * Decode points are read from index files, and a checksum does not make a file trustworthy.  Each number is
 * therefore parsed with the largest value that it may have, and bytes with the largest length; a struct is
 * never copied from a point.  After a failure all numbers are 0 and nothing is left, so that resume() may
 * parse several fields and then test point_ok(), before it uses any of them as an offset, a length or an
 * index.  Every failure has the same message (TS_ECORRUPT): the decode point belongs to another trace; the
 * caller of resume() prefixes it with the step.
 */
#ifndef LOADERS_KIT_POINT_H
#define LOADERS_KIT_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/error.h"
#include "src/trace/reader.h"

/* -------------------------------------------------------------------------------------------- to save */

void point_put(struct ts_buf *b, uint64_t n);

/* @len bytes without their length, which the reader knows. */
void point_put_fixed(struct ts_buf *b, const void *data, size_t len);

/* A length, then that many bytes. */
void point_put_bytes(struct ts_buf *b, const void *data, size_t len);

/*
 * Where the @len bytes at @now differ from those at @base, which the reader has too (registers that rarely
 * change).  Takes space only for the differences.
 */
void point_put_change(struct ts_buf *b, const uint8_t *now, const uint8_t *base, size_t len);

/* The end of the recording, as far as the reader knows it. */
void point_put_end(struct ts_buf *b, const struct ts_end *end);

/* ------------------------------------------------------------------------------------------ to resume */

struct point {
	const uint8_t *p;     /* next byte; borrowed */
	size_t left;          /* bytes left */
	struct ts_error *err; /* must be empty before; the first failure stays */
};

static inline struct point point_open(const uint8_t *p, size_t len, struct ts_error *err)
{
	return (struct point){ p, len, err };
}

/* Has nothing failed so far? */
static inline bool point_ok(const struct point *p)
{
	return p->err->code == TS_OK;
}

/* Report that the point belongs to another trace, for a reason that only the loader knows.  Returns false. */
bool point_fail(struct point *p);

/* A number of at most @max.  Fails if it is larger or not a varint of the fewest bytes. */
uint64_t point_get(struct point *p, uint64_t max);

/* A number of [@min, @max]; @min after a failure. */
uint64_t point_get_between(struct point *p, uint64_t min, uint64_t max);

/* A number of 0 or 1. */
static inline bool point_get_flag(struct point *p)
{
	return point_get(p, 1);
}

/*
 * The number of items that follow: at most @max, each of at least @min_len (not 0) bytes.  Fails if the bytes
 * left cannot hold them, so that it may be used for an allocation.
 */
uint64_t point_get_count(struct point *p, uint64_t max, size_t min_len);

/* @len bytes to @to.  Returns false, with @to unchanged, if fewer are left. */
bool point_get_fixed(struct point *p, void *to, size_t len);

/*
 * Bytes with their length, which is at most @max.
 *
 * Returns them (borrowed from the point; never NULL unless it fails) and the length in *len; NULL and 0 on a
 * failure.
 */
const uint8_t *point_get_bytes(struct point *p, size_t max, size_t *len);

/*
 * The counterpart of point_put_change(): the @len bytes at @bytes are the base and become what was saved.
 * Returns false with some of them changed if a difference leaves the @len bytes.
 */
bool point_get_change(struct point *p, uint8_t *bytes, size_t len);

void point_get_end(struct point *p, struct ts_end *end);

/* The point must end here.  Returns whether it was parsed to its end without a failure. */
bool point_close(struct point *p);

#endif
