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

/* Append a number. */
void point_put(struct ts_buf *b, uint64_t n);

/* Append @len bytes without their length, for a reader that knows it. */
void point_put_fixed(struct ts_buf *b, const void *data, size_t len);

/* Append the number @len and @len bytes. */
void point_put_bytes(struct ts_buf *b, const void *data, size_t len);

/*
 * Append the differences of the @len bytes at @now from those at @base.  The reader must have the same
 * @base.  For registers that rarely change.
 */
void point_put_change(struct ts_buf *b, const uint8_t *now, const uint8_t *base, size_t len);

/* Append the end of the recording, as far as the reader knows it. */
void point_put_end(struct ts_buf *b, const struct ts_end *end);

/* ------------------------------------------------------------------------------------------ to resume */

struct point {
	const uint8_t *p;     /* next byte; borrowed */
	size_t left;          /* bytes left */
	struct ts_error *err; /* must be empty before; the first failure stays */
};

/* A point of @len bytes at @p, which are borrowed.  *err must be empty. */
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

/*
 * Read a number of at most @max.
 *
 * Returns it.
 * Returns 0, and fails, if it is larger or is not a varint of the fewest bytes.
 */
uint64_t point_get(struct point *p, uint64_t max);

/* Read a number of [@min, @max].  Returns it; @min after a failure. */
uint64_t point_get_between(struct point *p, uint64_t min, uint64_t max);

/*
 * Read a number that is 0 or 1.
 *
 * Returns it.
 * Returns false after a failure.
 */
static inline bool point_get_flag(struct point *p)
{
	return point_get(p, 1);
}

/*
 * Read the number of the items that follow: at most @max, each of at least @min_len bytes, not 0.
 *
 * Returns it; an array of so many items can be allocated.
 * Returns 0, and fails, if the bytes that are left are too few for the items.
 */
uint64_t point_get_count(struct point *p, uint64_t max, size_t min_len);

/* Copy @len bytes to @to.  Returns false, with @to unchanged, if fewer bytes are left. */
bool point_get_fixed(struct point *p, void *to, size_t len);

/*
 * Read a length of at most @max, and as many bytes.
 *
 * Returns the bytes, borrowed from the point, and sets *len to the length.
 * Returns NULL, and sets *len to 0, after a failure.
 */
const uint8_t *point_get_bytes(struct point *p, size_t max, size_t *len);

/*
 * The counterpart of point_put_change().  The @len bytes at @bytes are the base, and become the saved bytes.
 *
 * Returns false, with some of the bytes changed, if a difference is outside of the @len bytes.
 */
bool point_get_change(struct point *p, uint8_t *bytes, size_t len);

/* The counterpart of point_put_end(). */
void point_get_end(struct point *p, struct ts_end *end);

/* Returns true if the point has been read to its end without a failure.  If bytes are left, it fails. */
bool point_close(struct point *p);

#endif
