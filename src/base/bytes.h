/* SPDX-License-Identifier: MIT */
/*
 * Bytes as words and numbers.
 */
#ifndef TS_BYTES_H
#define TS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The eight bytes at @p in the machine's own order. */
static inline uint64_t ts_load(const void *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* The number in @len bytes at @p, 0 to 8. */
static inline uint64_t ts_number(const uint8_t *p, size_t len, bool is_big_endian)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++)
		n = n << 8 | p[is_big_endian ? i : len - 1 - i];
	return n;
}

/* The same number in each byte of a word. */
#define TS_EACH_BYTE(n) ((n) * UINT64_C(0x0101010101010101))

/* The lowest bit set in the result lies in the lowest byte of @v that is 0; the result is 0 if no byte is. */
static inline uint64_t ts_zero_bytes(uint64_t v)
{
	return (v - TS_EACH_BYTE(1)) & ~v & TS_EACH_BYTE(0x80);
}

#endif
