/* SPDX-License-Identifier: MIT */
#include "cpu_mode.h"

#define ROOT_MASK (~UINT64_C(0xfff))

/* Real mode: no privilege levels, and what cs holds is no selector. */
static bool is_real(const struct ts_mode *mode)
{
	return ts_mode_knows(mode, TS_MODE_CR0) && !(mode->regs[TS_MODE_CR0] & 1);
}

enum ts_code_size ts_mode_code_size(const struct ts_mode *mode)
{
	uint64_t shadow = mode->regs[TS_MODE_CS_SHADOW];
	bool is_long = shadow >> 53 & 1, is_big = shadow >> 54 & 1;

	if (is_real(mode))
		return TS_CODE_16;
	if (!ts_mode_knows(mode, TS_MODE_CS_SHADOW))
		return TS_CODE_UNKNOWN;
	if (ts_mode_knows(mode, TS_MODE_EFER) && !(mode->regs[TS_MODE_EFER] >> 10 & 1))
		is_long = false;
	if (is_long)
		return TS_CODE_64;
	return is_big ? TS_CODE_32 : TS_CODE_16;
}

bool ts_filter_admits(const struct ts_filter *f, const struct ts_mode *mode)
{
	if (f->has_root &&
	    (!ts_mode_knows(mode, TS_MODE_CR3) || ((mode->regs[TS_MODE_CR3] ^ f->root) & ROOT_MASK)))
		return false;
	return !f->has_user ||
	       (ts_mode_knows(mode, TS_MODE_CS) && (mode->regs[TS_MODE_CS] & 3) == 3 && !is_real(mode));
}
