/* SPDX-License-Identifier: MIT */
/*
 * Hex digits in texts.
 */
#ifndef TS_HEX_H
#define TS_HEX_H

#include <stdint.h>

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

#endif
