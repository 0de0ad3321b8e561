/* SPDX-License-Identifier: MIT */
/*
 * Bits to bytes and back, highest first, and numbers of any length.
 */
#ifndef TS_CALL_BITS_H
#define TS_CALL_BITS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/bytes.h"

struct ts_bit_writer {
	struct ts_buf *out; /* borrowed */
	uint64_t bits;      /* the low n of them are to be written */
	unsigned n;         /* below 8 */
};

struct ts_bit_reader {
	const uint8_t *p; /* borrowed */
	size_t len;       /* bytes; what follows them reads as 0 */
	uint64_t at;      /* bits that were taken */
};

/* Append the low @n bits of @value, at most 32. */
static inline void ts_bits_put(struct ts_bit_writer *w, uint32_t value, unsigned n)
{
	w->bits = w->bits << n | (value & ((UINT64_C(1) << n) - 1));
	for (w->n += n; w->n >= 8; w->n -= 8)
		ts_buf_putc(w->out, (uint8_t)(w->bits >> (w->n - 8)));
}

/* Fill the last byte with zeros. */
static inline void ts_bits_flush(struct ts_bit_writer *w)
{
	if (w->n)
		ts_bits_put(w, 0, 8 - w->n);
}

/* A number below 2^63: how many bits it has, in 6 bits, then those below its highest one. */
static inline void ts_bits_put_number(struct ts_bit_writer *w, uint64_t value)
{
	unsigned n = value ? 64 - (unsigned)__builtin_clzll(value) : 0;

	ts_bits_put(w, n, 6);
	if (n > 32)
		ts_bits_put(w, (uint32_t)(value >> 31), n - 32);
	if (n > 1)
		ts_bits_put(w, (uint32_t)value, (n > 32 ? 32 : n) - 1);
}

/* The next 32 bits, which stay the next ones. */
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

/* The next @n bits, at most 32. */
static inline uint32_t ts_bits_take(struct ts_bit_reader *r, unsigned n)
{
	uint32_t bits = ts_bits_peek(r);

	r->at += n;
	return n ? bits >> (32 - n) : 0;
}

static inline uint64_t ts_bits_take_number(struct ts_bit_reader *r)
{
	unsigned n = ts_bits_take(r, 6);
	uint64_t high = n > 32 ? UINT64_C(1) << (n - 32) | ts_bits_take(r, n - 32) : 1;

	if (n < 2)
		return n;
	n = (n > 32 ? 32 : n) - 1;
	return high << n | ts_bits_take(r, n);
}

/* Was more taken than there is? */
static inline bool ts_bits_is_over(const struct ts_bit_reader *r)
{
	return r->at > (uint64_t)r->len * 8;
}

#endif
