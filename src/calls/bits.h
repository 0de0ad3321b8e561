/* SPDX-License-Identifier: MIT */
/*
 * Bit streams, highest bit first, with numbers of any length.
 */
#ifndef TS_CALL_BITS_H
#define TS_CALL_BITS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"

/* The caller provides memory for all bits, and 4 bytes more. */
struct ts_bit_writer {
	uint8_t *p;    /* borrowed; the address of the next byte */
	uint64_t bits; /* the highest n bits are pending */
	unsigned n;    /* below 32 */
};

struct ts_bit_reader {
	const uint8_t *p; /* borrowed */
	size_t len;       /* bytes; bits after them read as 0 */
	uint64_t at;      /* the number of bits that have been read */
};

/* Append the low @n bits of @value, 1 to 32. */
static inline void ts_bits_put(struct ts_bit_writer *w, uint32_t value, unsigned n)
{
	uint32_t word;

	w->bits |= ((uint64_t)value & ((UINT64_C(1) << n) - 1)) << (64 - w->n - n);
	w->n += n;
	if (w->n < 32)
		return;
	word = htobe32((uint32_t)(w->bits >> 32));
	memcpy(w->p, &word, 4);
	w->p += 4;
	w->bits <<= 32;
	w->n -= 32;
}

/* Write the pending bits; the last byte is padded with zeros. */
static inline void ts_bits_flush(struct ts_bit_writer *w)
{
	uint32_t word = htobe32((uint32_t)(w->bits >> 32));

	memcpy(w->p, &word, 4);
	w->p += (w->n + 7) / 8;
	w->bits = w->n = 0;
}

#define TS_BITS_OF_NUMBER 68u /* at most */

/* Append a number below 2^63: its number of bits, in 6 bits, then the bits below its highest one. */
static inline void ts_bits_put_number(struct ts_bit_writer *w, uint64_t value)
{
	unsigned n = value ? 64 - (unsigned)__builtin_clzll(value) : 0;

	ts_bits_put(w, n, 6);
	if (n > 32)
		ts_bits_put(w, (uint32_t)(value >> 31), n - 32);
	if (n > 1)
		ts_bits_put(w, (uint32_t)value, (n > 32 ? 32 : n) - 1);
}

/* Returns the next 32 bits without consuming them. */
static inline uint32_t ts_bits_peek(const struct ts_bit_reader *r)
{
	size_t off = (size_t)(r->at >> 3);
	uint8_t last[8] = { 0 };
	const uint8_t *p = r->p + off;

	if (r->len < 8 || off > r->len - 8) {
		if (off < r->len)
			memcpy(last, p, r->len - off);
		p = last;
	}
	return (uint32_t)(be64toh(ts_load(p)) << (r->at & 7) >> 32);
}

/* Read and return the next @n bits, at most 32. */
static inline uint32_t ts_bits_take(struct ts_bit_reader *r, unsigned n)
{
	uint32_t bits = ts_bits_peek(r);

	r->at += n;
	return n ? bits >> (32 - n) : 0;
}

/* Read and return a number that ts_bits_put_number() has written. */
static inline uint64_t ts_bits_take_number(struct ts_bit_reader *r)
{
	unsigned n = ts_bits_take(r, 6);
	uint64_t high = 1;

	if (n < 2)
		return n;
	if (n > 32) {
		high = UINT64_C(1) << (n - 32) | ts_bits_take(r, n - 32);
		n = 32;
	}
	return high << (n - 1) | ts_bits_take(r, n - 1);
}

/* Have more bits been read than the stream has? */
static inline bool ts_bits_is_over(const struct ts_bit_reader *r)
{
	return r->at > (uint64_t)r->len * 8;
}

#endif
