/* SPDX-License-Identifier: MIT */
#include "regs.h"

#include <stdio.h>
#include <string.h>

void ts_regs_name_missing(const struct ts_reg_range *range, char *missing, size_t n)
{
	size_t len = strlen(missing);
	char name[TS_REG_NAME_LEN];

	ts_reg_name(range, 0, name);
	snprintf(missing + len, n - len, "%s%s", len ? " " : "", name);
}

/* ARM ARM, ITAdvance(): the block ends when the three low bits are zero, else the mask is shifted. */
void ts_regs_advance_it(struct ts_values *v, int it_byte)
{
	if (it_byte >= 0)
		v->it = (uint8_t)it_byte;
	else if (!(v->it & 7))
		v->it = 0;
	else
		v->it = (uint8_t)((v->it & 0xe0) | (v->it << 1 & 0x1f));
}

/* ITSTATE lies in bits 26:25 and 15:10. */
void ts_regs_put_it(const struct ts_values *v, uint8_t cpsr[4])
{
	uint32_t word;

	memcpy(&word, cpsr, 4);
	word &= ~0x0600fc00u;
	word |= (v->it & 3u) << 25 | (v->it >> 2 & 0x3fu) << 10;
	memcpy(cpsr, &word, 4);
}
