/* SPDX-License-Identifier: MIT */
/*
 * Compares the decoder's formulas for flags with libvex's own, for each operation on N random operands: prints a line for each
 * operation of which any differs, and how many were compared.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <libvex_basictypes.h>
#include <libvex_guest_amd64.h>
#include <libvex_guest_arm64.h>
#include <libvex_guest_x86.h>

#include "src/record/vex_flags.h"

#define FLAGS 0x8d5u
#define FLAGS_ARM64 0xf0000000u

static uint64_t seed = 0x9e3779b97f4a7c15;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Numbers of all magnitudes, and those beside powers of two. */
static uint64_t operand(void)
{
	uint64_t how = next(), val = next() >> how % 64;

	if (how >> 32 & 1)
		val = ~val;
	return how >> 40 & 3 ? val : ((uint64_t)1 << (how >> 48) % 64) - (how >> 33 & 1);
}

static uint64_t of_64(uint64_t op, uint64_t dep1, uint64_t dep2, uint64_t ndep)
{
	static VexGuestAMD64State s;

	s.guest_DFLAG = 1;
	s.guest_CC_OP = op;
	s.guest_CC_DEP1 = dep1;
	s.guest_CC_DEP2 = dep2;
	s.guest_CC_NDEP = ndep;
	return LibVEX_GuestAMD64_get_rflags(&s);
}

static uint64_t of_32(uint64_t op, uint64_t dep1, uint64_t dep2, uint64_t ndep)
{
	static VexGuestX86State s;

	s.guest_DFLAG = 1;
	s.guest_CC_OP = (UInt)op;
	s.guest_CC_DEP1 = (UInt)dep1;
	s.guest_CC_DEP2 = (UInt)dep2;
	s.guest_CC_NDEP = (UInt)ndep;
	return LibVEX_GuestX86_get_eflags(&s);
}

static uint64_t of_arm64(uint64_t op, uint64_t dep1, uint64_t dep2, uint64_t ndep)
{
	static VexGuestARM64State s;

	s.guest_CC_OP = op;
	s.guest_CC_DEP1 = dep1;
	s.guest_CC_DEP2 = dep2;
	s.guest_CC_NDEP = ndep;
	return LibVEX_GuestARM64_get_nzcv(&s);
}

/* inc and dec keep only the carry of before. */
static uint64_t old_flags(uint64_t op, int is_32)
{
	int is_count = is_32 ? op >= 16 && op <= 21 : op >= 21 && op <= 28;

	return is_count ? next() & 1 : next() & FLAGS;
}

static unsigned long compare(uint64_t op, int is_32, unsigned n)
{
	uint64_t mask = is_32 ? 0xffffffff : ~UINT64_C(0);
	unsigned long n_wrong = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t dep1 = operand() & mask, dep2 = operand() & mask, ndep = old_flags(op, is_32);
		uint64_t theirs = (is_32 ? of_32 : of_64)(op, dep1, dep2, ndep);
		uint64_t ours = ts_vex_flags(is_32 ? ts_vex_op_of_32(op) : op, dep1, dep2, ndep);

		n_wrong += (theirs & FLAGS) != ours;
	}
	return n_wrong;
}

static unsigned long compare_arm64(uint64_t op, unsigned n)
{
	unsigned long n_wrong = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t dep1 = operand(), dep2 = operand(), carry = next() & 1;

		n_wrong += (of_arm64(op, dep1, dep2, carry) & FLAGS_ARM64) != ts_vex_flags_arm64(op, dep1, dep2, carry);
	}
	return n_wrong;
}

int main(int argc, char **argv)
{
	unsigned n = (unsigned)atoi(argv[1]);
	unsigned long n_all = 0;

	for (int is_32 = 0; is_32 < 2; is_32++) {
		for (uint64_t op = 0; op < (is_32 ? TS_VEX_N_OPS_32 : TS_VEX_N_OPS_64); op++, n_all += n) {
			unsigned long n_wrong = compare(op, is_32, n);

			if (n_wrong)
				printf("%d bits, operation %lu: %lu differ\n", is_32 ? 32 : 64, (unsigned long)op, n_wrong);
		}
	}
	for (uint64_t op = 0; op < TS_VEX_N_OPS_ARM64; op++, n_all += n) {
		unsigned long n_wrong = compare_arm64(op, n);

		if (n_wrong)
			printf("AArch64, operation %lu: %lu differ\n", (unsigned long)op, n_wrong);
	}
	printf("%lu compared\n", n_all);
	return 0;
}
