/* SPDX-License-Identifier: MIT */
/*
 * Decode points: the one encoding of what a reader saves and resumes from.
 *
 * A decode point is a run of numbers, each a varint of the fewest bytes (seven bits a byte, low ones first, the high bit
 * set in all but the last), and of bytes.  One function of a loader, point() in struct ts_reader_ops, says what its point
 * has: it passes each field in turn to a function below, which appends the field to the point that is written, or parses
 * it.
 *
 * Decode points are read from index files, and a checksum does not make a file trustworthy.  Each number therefore comes
 * with the largest value that it may have, and bytes with the largest length; a struct is never copied from a point.
 * After a failure all numbers are 0 and nothing is left, so that point() may parse several fields and then test
 * ts_point_ok(), before it uses any of them as an offset, a length or an index.  Every failure has the same message
 * (TS_ECORRUPT): the decode point belongs to another trace; the caller of ts_reader_resume() prefixes it with the step.
 */
#ifndef TS_POINT_H
#define TS_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/error.h"

struct ts_point {
	struct ts_buf *to;    /* the point is written there; NULL: it is parsed */
	const uint8_t *p;     /* next byte to parse; borrowed */
	size_t left;          /* bytes left */
	struct ts_error *err; /* must be empty before; the first failure stays */
};

/* Returns a point that is read from the @len bytes at @p (borrowed); a failure is stored in @err. */
static inline struct ts_point ts_point_open(const uint8_t *p, size_t len, struct ts_error *err)
{
	return (struct ts_point){ .p = p, .left = len, .err = err };
}

/* Returns a point that is appended to @to (borrowed). */
static inline struct ts_point ts_point_write(struct ts_buf *to)
{
	return (struct ts_point){ .to = to };
}

/* Has nothing failed so far?  To write does not fail, but for the buffer. */
static inline bool ts_point_ok(const struct ts_point *p)
{
	return p->to || p->err->code == TS_OK;
}

/* Report that the point belongs to another trace, for a reason that only the loader knows.  Returns false. */
bool ts_point_fail(struct ts_point *p);

/*
 * A number of at most @max: write @n, or parse one.  Parsing fails if it is larger or not a varint of the fewest bytes.
 *
 * Returns the number.
 */
uint64_t ts_point_number(struct ts_point *p, uint64_t n, uint64_t max);

/* The variable @x is such a number; it is not read where the point is parsed. */
#define TS_POINT(p, x, max) ((x) = (__typeof__(x))ts_point_number(p, (p)->to ? (x) : 0, max))

/* A number of [@min, @max]; @min after a failure. */
uint64_t ts_point_between(struct ts_point *p, uint64_t n, uint64_t min, uint64_t max);

/* Booleans, as the bits of one number. */
void ts_point_flags(struct ts_point *p, bool *const *flags, unsigned n);

#define TS_POINT_FLAGS(p, ...) \
	ts_point_flags(p, (bool *[]){ __VA_ARGS__ }, sizeof((bool *[]){ __VA_ARGS__ }) / sizeof(bool *))

/*
 * The number of items that follow: at most @max, each of at least @min_len (not 0) bytes.  Parsing fails if the bytes
 * left cannot hold them, so that it may be used for an allocation.
 */
uint64_t ts_point_count(struct ts_point *p, uint64_t n, uint64_t max, size_t min_len);

/* @len bytes without their length.  Returns false, with @bytes unchanged, if fewer are left. */
bool ts_point_fixed(struct ts_point *p, void *bytes, size_t len);

/* @len bytes, or as many as were written, at most @max, with their length.  Returns the length; 0 after a failure. */
size_t ts_point_bytes(struct ts_point *p, void *bytes, size_t len, size_t max);

/*
 * The @len bytes at @bytes, of which only those take space that differ from @base (registers that rarely change).
 *
 * Returns false with some of them changed if a difference leaves the @len bytes.
 */
bool ts_point_change(struct ts_point *p, uint8_t *bytes, const uint8_t *base, size_t len);

/* The point must end here.  Returns whether it was parsed to its end without a failure; true if it was written. */
bool ts_point_close(struct ts_point *p);

#endif
