/* SPDX-License-Identifier: MIT */
#include "x87.h"

#include <stdbool.h>
#include <string.h>

/* The tag of a value. */
static unsigned tag_of(const uint8_t *st)
{
	static const uint8_t zeros[8];
	unsigned exponent = (st[8] | st[9] << 8) & 0x7fff;

	if (!exponent)
		return memcmp(st, zeros, sizeof(zeros)) ? 2 : 1;
	return exponent == 0x7fff || !(st[7] & 0x80) ? 2 : 0;
}

unsigned x87_full_tag(unsigned used, unsigned status, const uint8_t *st)
{
	unsigned top = status >> 11 & 7, full = 0;

	for (unsigned p = 0; p < X87_N_REGS; p++) {
		bool is_used = used >> p & 1;

		full |= (is_used ? tag_of(st + ((p - top) & 7) * X87_REG_LEN) : 3) << 2 * p;
	}
	return full;
}
