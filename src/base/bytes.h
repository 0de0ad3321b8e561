/* SPDX-License-Identifier: MIT */
/*
 * Eight bytes as one word.
 */
#ifndef TS_BYTES_H
#define TS_BYTES_H

#include <stdint.h>
#include <string.h>

/* The eight bytes at @p in the machine's own order. */
static inline uint64_t ts_load(const void *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* The same number in each byte of a word. */
#define TS_EACH_BYTE(n) ((n) * UINT64_C(0x0101010101010101))

/* The lowest bit set in the result lies in the lowest byte of @v that is 0; the result is 0 if no byte is. */
static inline uint64_t ts_zero_bytes(uint64_t v)
{
	return (v - TS_EACH_BYTE(1)) & ~v & TS_EACH_BYTE(0x80);
}

#endif
