/* SPDX-License-Identifier: MIT */
/*
 * Hex digits, for all of the protocol.
 */
#ifndef RSP_HEX_H
#define RSP_HEX_H

#include <stdint.h>

#include "src/base/hex.h"

/* The digit of the low four bits. */
static inline uint8_t rsp_hex_char(unsigned value)
{
	return (uint8_t)"0123456789abcdef"[value & 15];
}

/* Value of a hex digit of either case, -1 of anything else. */
static inline int rsp_hex_digit(uint8_t c)
{
	return ts_hex_digit(c);
}

#endif
