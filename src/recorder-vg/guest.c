/* SPDX-License-Identifier: MIT */
/*
 * Samples of how VEX computes the flags from what it keeps: the decoder has formulas of its own, and
 * refuses a Valgrind for which they are wrong.
 */
#include "tool.h"

#include <pub_tool_libcbase.h>
#include <pub_tool_machine.h>

#include "processor.h"

#define N_SAMPLES 48u

static ULong next(ULong *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Numbers of all magnitudes, and those at the edges. */
static ULong operand(ULong *seed)
{
	ULong val = next(seed), how = next(seed);

	val >>= how % 64;
	if (how >> 32 & 1)
		val = ~val;
	return (how >> 40 & 3) == 0 ? (1ull << (how >> 48) % 64) - (how >> 33 & 1) : val;
}

static void log_sample(ULong op, ULong *seed)
{
	static TsGuest state;
	struct ts_log_flags *f = ts_log_room(TS_LOG_FLAGS, sizeof(*f));

	if (!f)
		return;
	*f = (struct ts_log_flags){ op, (UWord)operand(seed), (UWord)operand(seed), (UWord)operand(seed), 0 };
	if (op >= TS_FIRST_INC && op <= TS_LAST_DEC)
		f->ndep &= 1; /* only the carry of before */
	state.guest_CC_OP = op;
	state.guest_CC_DEP1 = f->dep1;
	state.guest_CC_DEP2 = f->dep2;
	state.guest_CC_NDEP = f->ndep;
#if !defined(VGA_arm64)
	state.guest_DFLAG = 1;
#endif
	f->flags = TS_GET_FLAGS(&state);
}

#if defined(VGA_arm64)
Int ts_guest_place(Int off)
{
	if (off < (Int)TS_LAST_SAME)
		return off;
	return off == (Int)TS_GUEST_OFF(FPCR) ? TS_FPCR_RECORDED : -1;
}

void ts_guest_read(ThreadId tid, UChar *to)
{
	VG_(get_shadow_regs_area)(tid, to, 0, 0, TS_STATE_LEN);
	VG_(memmove)(to + TS_FPCR_RECORDED, to + TS_GUEST_OFF(FPCR), 4);
}
#else
Int ts_guest_place(Int off)
{
	return off;
}

void ts_guest_read(ThreadId tid, UChar *to)
{
	VG_(get_shadow_regs_area)(tid, to, 0, 0, TS_STATE_LEN);
}
#endif

void ts_guest_log_flags(void)
{
	ULong seed = 0x2545f4914f6cdd1d;

	for (ULong op = 0; op < TS_N_FLAG_OPS; op++) {
		for (UInt i = 0; i < N_SAMPLES; i++)
			log_sample(op, &seed);
	}
}
