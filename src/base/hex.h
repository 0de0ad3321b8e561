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

/* Value of a hex digit of either case, -1 of anything else. */
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

#define TS_HEX_EACH UINT64_C(0x0101010101010101)

/*
 * The number that up to eight hex digits at @p begin, the first one the most significant; *n gets how many there are.
 * Eight bytes must be readable at @p.  All are looked at at once, a byte each of a word.
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
 * The same of up to 16 digits; 16 bytes must be readable at @p.
 */
static inline uint64_t ts_hex_number(const char *p, unsigned *n)
{
	uint64_t high = ts_hex_eight(p, n), low;
	unsigned more;

	if (*n < 8)
		return high;
	low = ts_hex_eight(p + 8, &more);
	*n += more;
	return high << 4 * more | low;
}

/*
 * The bytes that pairs of digits make at the beginning of the @len characters at @text, at most @max of them.  Returns
 * how many.
 */
static inline size_t ts_hex_bytes(const char *text, size_t len, uint8_t *bytes, size_t max)
{
	size_t n = 0;

	if (max > len / 2)
		max = len / 2;
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
