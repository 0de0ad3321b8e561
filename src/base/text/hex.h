/* SPDX-License-Identifier: MIT */
/*
 * Hex digits in texts.
 */
#ifndef TS_HEX_H
#define TS_HEX_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Returns the value of a hex digit of either case; -1 if the character is not a hex digit. */
static inline int ts_hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The digit of the low four bits. */
static inline uint8_t ts_hex_char(unsigned value)
{
	return (uint8_t)"0123456789abcdef"[value & 15];
}

#define TS_HEX_EACH UINT64_C(0x0101010101010101)

/*
 * The number in the up to eight hex digits at @p, the first one the most significant; *n is set to their number.
 * Eight bytes must be readable at @p.  They are processed at once, as bytes of a word.
 */
static inline uint64_t ts_hex_eight(const char *p, unsigned *n)
{
	uint64_t x, low, letter, digit, bad, v;

	memcpy(&x, p, sizeof(x));
	x = le64toh(x);
	low = (x | 0x20 * TS_HEX_EACH) & 0x7f * TS_HEX_EACH;
	/* the top bit of each byte: is it at least the first of the range, and not above the last? */
	digit = ((x & 0x7f * TS_HEX_EACH) + (0x80 - '0') * TS_HEX_EACH) & ~((x & 0x7f * TS_HEX_EACH) + (0x7f - '9') * TS_HEX_EACH);
	letter = (low + (0x80 - 'a') * TS_HEX_EACH) & ~(low + (0x7f - 'f') * TS_HEX_EACH);
	bad = ~(digit | letter) | x;
	bad &= 0x80 * TS_HEX_EACH;
	*n = bad ? (unsigned)__builtin_ctzll(bad) / 8 : 8;
	if (!*n)
		return 0;
	letter = letter >> 7 & TS_HEX_EACH;
	v = ((x & 0x0f * TS_HEX_EACH) + 9 * letter) << (64 - 8 * *n);
	v = (v << 4 | v >> 8) & UINT64_C(0x00ff00ff00ff00ff);
	v = (v << 8 | v >> 16) & UINT64_C(0x0000ffff0000ffff);
	return (v << 16 | v >> 32) & UINT32_MAX;
}

/*
 * The number in the up to 16 hex digits at @p, as ts_hex_eight(); 16 bytes must be readable at @p.
 */
static inline uint64_t ts_hex_number(const char *p, unsigned *n)
{
#ifdef __SSE2__ /* a third of the instructions */
	const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)p);
	const __m128i digit = _mm_sub_epi8(text, _mm_set1_epi8('0'));
	const __m128i letter = _mm_sub_epi8(_mm_or_si128(text, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
	const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
	const __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter);
	__m128i v = _mm_add_epi8(_mm_and_si128(text, _mm_set1_epi8(0x0f)), _mm_and_si128(is_letter, _mm_set1_epi8(9)));
	uint64_t number;

	*n = (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(_mm_or_si128(is_digit, is_letter)));
	v = _mm_or_si128(_mm_slli_epi16(v, 4), _mm_srli_epi16(v, 8)); /* two digits a byte */
	v = _mm_and_si128(v, _mm_set1_epi16(0xff));
	_mm_storel_epi64((__m128i *)(void *)&number, _mm_packus_epi16(v, v));
	return *n ? be64toh(number) >> (64 - 4 * *n) : 0;
#else
	uint64_t high = ts_hex_eight(p, n), low;
	unsigned more;

	if (*n < 8)
		return high;
	low = ts_hex_eight(p + 8, &more);
	*n += more;
	return high << 4 * more | low;
#endif
}

/*
 * Convert the pairs of digits at the beginning of the @len characters at @text to at most @max bytes.  Returns the number
 * of bytes.
 */
static inline size_t ts_hex_bytes(const char *text, size_t len, uint8_t *bytes, size_t max)
{
	size_t n = 0;

	if (max > len / 2)
		max = len / 2;
	while (max - n >= 8) {
		unsigned digits;
		uint64_t eight = htobe64(ts_hex_number(text + 2 * n, &digits));

		if (digits < 16)
			break;
		memcpy(bytes + n, &eight, sizeof(eight));
		n += 8;
	}
	while (max - n >= 4) {
		unsigned digits;
		uint32_t four = htobe32((uint32_t)ts_hex_eight(text + 2 * n, &digits));

		if (digits < 8)
			break;
		memcpy(bytes + n, &four, sizeof(four));
		n += 4;
	}
	for (; n < max; n++) {
		int high = ts_hex_digit((uint8_t)text[2 * n]), low = ts_hex_digit((uint8_t)text[2 * n + 1]);

		if (high < 0 || low < 0)
			break;
		bytes[n] = (uint8_t)(high << 4 | low);
	}
	return n;
}

#endif
