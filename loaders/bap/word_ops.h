/* SPDX-License-Identifier: MIT */
/*
 * Up to eight bytes at once.
 *
 * A word is what eight bytes in memory are, in the machine's own order; of fewer bytes it is the first ones
 * that count, those after them are masked out and may be anything.
 */
#ifndef LOADERS_BAP_WORD_OPS_H
#define LOADERS_BAP_WORD_OPS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/base/bytes.h"

/* A word of the same byte eight times is that byte times this. */
#define BAP_ONES UINT64_C(0x0101010101010101)

/* Replace what @mask has set of the eight bytes at @p. */
static inline void bap_store(uint8_t *p, uint64_t word, uint64_t mask)
{
	word = (ts_load(p) & ~mask) | (word & mask);
	memcpy(p, &word, sizeof(word));
}

/* All ones in the first @len bytes, 1 to 8. */
static inline uint64_t bap_first_bytes(uint32_t len)
{
	unsigned shift = 64 - 8 * len;

	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? UINT64_MAX >> shift : UINT64_MAX << shift;
}

/* The first @len bytes, 1 to 8, in the reverse order. */
static inline uint64_t bap_reverse(uint64_t word, uint32_t len)
{
	unsigned shift = 64 - 8 * len;

	word = __builtin_bswap64(word);
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word >> shift : word << shift;
}

/* Returns true if one of the bytes that @mask selects is @byte. */
static inline bool bap_has_byte(uint64_t word, uint8_t byte, uint64_t mask)
{
	uint64_t zero = (word ^ byte * BAP_ONES) | ~mask;

	return (zero - BAP_ONES) & ~zero & BAP_ONES << 7;
}

#endif
