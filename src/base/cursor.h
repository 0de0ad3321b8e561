/* SPDX-License-Identifier: MIT */
/*
 * Reads untrusted bytes in order; cannot leave its range; records the first failure.
 *
 * Only ts_take() advances.  After a failure every read returns zeros and no bytes are left, so that a parser reads a
 * whole record and tests ts_ok() once, before the first use of the results.  The failure is in *err, with the file offset.
 */
#ifndef TS_CURSOR_H
#define TS_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "error.h"

struct ts_cursor {
	const uint8_t *p;     /* next byte; borrowed */
	size_t left;          /* bytes left: the only bound, compared with lengths, never with pointers */
	uint64_t off;         /* file offset of p, for messages */
	const char *what;     /* the record: "x64dbg block"; literal */
	struct ts_error *err; /* the first failure */
};

/*
 * Returns a cursor over the @len bytes at @p, which are borrowed, as are @what and @err.  @off is the file offset of
 * @p.  *err must be empty (TS_OK).
 */
static inline struct ts_cursor ts_cursor(const uint8_t *p, size_t len, uint64_t off, const char *what,
					 struct ts_error *err)
{
	return (struct ts_cursor){ p, len, off, what, err };
}

/* Has nothing failed so far? */
static inline bool ts_ok(const struct ts_cursor *c)
{
	return c->err->code == TS_OK;
}

/*
 * Fail because fewer than @need bytes are left (TS_ETRUNC); the cursor is empty afterwards.
 *
 * Always returns NULL, for a caller that returns bytes.
 */
const uint8_t *ts_cursor_short(struct ts_cursor *c, uint64_t need);

/*
 * Advance by @len bytes.
 *
 * Returns these bytes, borrowed from the range.
 * Returns NULL if fewer are left (TS_ETRUNC); the cursor is empty afterwards.
 */
static inline const uint8_t *ts_take(struct ts_cursor *c, uint64_t len)
{
	const uint8_t *p = c->p;

	if (__builtin_expect(len > c->left, 0))
		return ts_cursor_short(c, len);
	c->p += len;
	c->left -= len;
	c->off += len;
	return p;
}

/* Read a byte.  Returns 0 after a failure. */
static inline uint8_t ts_u8(struct ts_cursor *c)
{
	const uint8_t *p = ts_take(c, 1);

	return p ? *p : 0;
}

/* Read a number of 16, 32 or 64 bits, little-endian (le) or big-endian (be).  Return 0 after a failure. */
static inline uint16_t ts_u16le(struct ts_cursor *c)
{
	const uint8_t *p = ts_take(c, 2);

	return p ? (uint16_t)(p[0] | p[1] << 8) : 0;
}

static inline uint32_t ts_u32le(struct ts_cursor *c)
{
	const uint8_t *p = ts_take(c, 4);
	uint32_t v;

	if (!p)
		return 0;
	memcpy(&v, p, 4);
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap32(v);
}

/* As ts_u32le(), of eight bytes. */
static inline uint64_t ts_u64le(struct ts_cursor *c)
{
	const uint8_t *p = ts_take(c, 8);
	uint64_t v;

	if (!p)
		return 0;
	memcpy(&v, p, 8);
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

/* As ts_u32le(), in big-endian order. */
static inline uint32_t ts_u32be(struct ts_cursor *c)
{
	return __builtin_bswap32(ts_u32le(c));
}

/*
 * Check a count of items, each of at least @min_item_len bytes, against the bytes that are left.  Called before any
 * allocation or loop of @n items.  Returns @n, or 0 after a failure (TS_ETRUNC) if the items cannot fit.
 */
uint64_t ts_count(struct ts_cursor *c, uint64_t n, size_t min_item_len);

/*
 * Advance by @len bytes.
 *
 * Returns a cursor over these bytes that shares *err; it is empty if fewer are left (TS_ETRUNC).
 */
struct ts_cursor ts_sub(struct ts_cursor *c, uint64_t len, const char *what);

/*
 * Set *sum or *product to the result for two numbers from a file.  Return false if it does not fit 64 bits.
 */
static inline bool ts_add(uint64_t a, uint64_t b, uint64_t *sum)
{
	return !__builtin_add_overflow(a, b, sum);
}

/* Set *product to the product.  Returns false if it does not fit 64 bits. */
static inline bool ts_mul(uint64_t a, uint64_t b, uint64_t *product)
{
	return !__builtin_mul_overflow(a, b, product);
}

#endif
