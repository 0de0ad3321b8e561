/* SPDX-License-Identifier: MIT */
/*
 * Operations on up to eight bytes at once.
 *
 * A word is eight bytes of memory in the byte order of this machine.  If fewer bytes count, they are the
 * first ones; the bytes after them may have any value and are masked out.
 */
#ifndef LOADERS_BAP_WORD_OPS_H
#define LOADERS_BAP_WORD_OPS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/base/bytes.h"

/* A byte times this constant is a word of eight such bytes. */
#define BAP_ONES UINT64_C(0x0101010101010101)

/* Replace the bits of the eight bytes at @p that are set in @mask by those of @word. */
static inline void bap_store(uint8_t *p, uint64_t word, uint64_t mask)
{
	word = (ts_load(p) & ~mask) | (word & mask);
	memcpy(p, &word, sizeof(word));
}

/* Returns a word with all bits set in its first @len bytes, 1 to 8. */
static inline uint64_t bap_first_bytes(uint32_t len)
{
	unsigned shift = 64 - 8 * len;

	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? UINT64_MAX >> shift : UINT64_MAX << shift;
}

/* Returns a word with the first @len bytes of @word, 1 to 8, in reverse order. */
static inline uint64_t bap_reverse(uint64_t word, uint32_t len)
{
	unsigned shift = 64 - 8 * len;

	word = __builtin_bswap64(word);
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word >> shift : word << shift;
}

/* Is one of the bytes of @word that @mask selects equal to @byte? */
static inline bool bap_has_byte(uint64_t word, uint8_t byte, uint64_t mask)
{
	uint64_t zero = (word ^ byte * BAP_ONES) | ~mask;

	return (zero - BAP_ONES) & ~zero & BAP_ONES << 7;
}

#endif
