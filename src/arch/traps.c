/* SPDX-License-Identifier: MIT */
#include "traps.h"

#include "families.h"

/* An instruction of a fixed length: those that are @value under @mask are of the kind. */
struct pattern {
	uint32_t mask, value;
	enum ts_trap trap;
};

#define MAX_PATTERNS 3

struct insn_set {
	const struct ts_arch *archs[4];
	bool is_little_endian; /* instructions are, even where data is not */
	uint8_t len;           /* bytes that are examined */
	struct pattern patterns[MAX_PATTERNS];
};

static const struct insn_set thumb = {
	.archs = { &ts_arch_arm, &ts_arch_armeb },
	.len = 2,
	.patterns = { { 0xff00, 0xdf00, TS_TRAP_SYSCALL } }, /* svc */
};

static const struct insn_set sets[] = {
	{ .archs = { &ts_arch_arm, &ts_arch_armeb },
	  .len = 4,
	  .patterns = { { 0x0f000000, 0x0f000000, TS_TRAP_SYSCALL },   /* svc */
			{ 0x0ff000f0, 0x01400070, TS_TRAP_OTHER },     /* hvc */
			{ 0x0ff000f0, 0x01600070, TS_TRAP_OTHER } } }, /* smc */
	{ .archs = { &ts_arch_aarch64, &ts_arch_aarch64_be },
	  .is_little_endian = true,
	  .len = 4,
	  .patterns = { { 0xffe0001f, 0xd4000001, TS_TRAP_SYSCALL },   /* svc */
			{ 0xffe0001f, 0xd4000002, TS_TRAP_OTHER },     /* hvc */
			{ 0xffe0001f, 0xd4000003, TS_TRAP_OTHER } } }, /* smc */
	{ .archs = { &ts_arch_mips, &ts_arch_mipsel, &ts_arch_mips64, &ts_arch_mips64el },
	  .len = 4,
	  .patterns = { { 0xfc00003f, 0x0000000c, TS_TRAP_SYSCALL } } }, /* syscall, with any code */
	{ .archs = { &ts_arch_ppc, &ts_arch_ppc64, &ts_arch_ppc64le },
	  .len = 4,
	  .patterns = { { 0xfffff01f, 0x44000002, TS_TRAP_SYSCALL },     /* sc */
			{ 0xfffff01f, 0x44000001, TS_TRAP_SYSCALL } } }, /* scv */
	{ .archs = { &ts_arch_riscv32, &ts_arch_riscv64 },
	  .is_little_endian = true,
	  .len = 4,
	  .patterns = { { 0xffffffff, 0x00000073, TS_TRAP_SYSCALL } } }, /* ecall */
	{ .archs = { &ts_arch_s390, &ts_arch_s390x },
	  .len = 2,
	  .patterns = { { 0xff00, 0x0a00, TS_TRAP_SYSCALL } } }, /* svc */
	{ .archs = { &ts_arch_sparc, &ts_arch_sparc64 },
	  .len = 4,
	  .patterns = { { 0xc1f80000, 0x81d00000, TS_TRAP_SYSCALL } } }, /* Ticc */
	{ .archs = { &ts_arch_m68k },
	  .len = 2,
	  .patterns = { { 0xfff0, 0x4e40, TS_TRAP_SYSCALL } } }, /* trap */
};

/* Programs of MS-DOS and the BIOS are called by many numbers; those below are exceptions of the processor. */
#define FIRST_INT_8086 0x10

static enum ts_trap x86_interrupt(const struct ts_arch *arch, uint8_t number)
{
	if (arch == &ts_arch_i8086)
		return number >= FIRST_INT_8086 ? TS_TRAP_SYSCALL : TS_TRAP_OTHER;
	return number == 0x80 || number == 0x2e ? TS_TRAP_SYSCALL : TS_TRAP_OTHER; /* Linux, Windows NT */
}

static enum ts_trap x86_trap(const struct ts_arch *arch, const uint8_t *b, size_t n)
{
	bool has_rex = arch == &ts_arch_x86_64 && n && b[0] >> 4 == 4;

	b += has_rex;
	n -= has_rex;
	if (n && (b[0] == 0xcc || b[0] == 0xf1)) /* int3, int1 */
		return TS_TRAP_OTHER;
	if (n >= 2 && b[0] == 0xcd)
		return x86_interrupt(arch, b[1]);
	if (n >= 2 && b[0] == 0x0f && (b[1] == 0x05 || b[1] == 0x34)) /* syscall, sysenter */
		return TS_TRAP_SYSCALL;
	if (n >= 3 && b[0] == 0x0f && b[1] == 0x01 && (b[2] == 0xc1 || b[2] == 0xd9)) /* vmcall, vmmcall */
		return TS_TRAP_OTHER;
	return TS_TRAP_NONE;
}

static bool is_of(const struct insn_set *set, const struct ts_arch *arch)
{
	for (unsigned i = 0; i < sizeof(set->archs) / sizeof(set->archs[0]); i++) {
		if (set->archs[i] == arch)
			return true;
	}
	return false;
}

static uint32_t opcode(const uint8_t *bytes, size_t n, bool is_big_endian)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint32_t)bytes[i] << 8 * (is_big_endian ? n - 1 - i : i);
	return v;
}

static enum ts_trap match(const struct insn_set *set, const struct ts_arch *arch, const uint8_t *bytes, size_t n)
{
	uint32_t op;

	if (n < set->len)
		return TS_TRAP_NONE;
	op = opcode(bytes, set->len, arch->is_big_endian && !set->is_little_endian);
	for (unsigned i = 0; i < MAX_PATTERNS && set->patterns[i].mask; i++) {
		if ((op & set->patterns[i].mask) == set->patterns[i].value)
			return set->patterns[i].trap;
	}
	return TS_TRAP_NONE;
}

enum ts_trap ts_insn_trap(const struct ts_arch *arch, bool is_thumb, const uint8_t *bytes, size_t n)
{
	if (arch == &ts_arch_x86_64 || arch == &ts_arch_i386 || arch == &ts_arch_i8086)
		return x86_trap(arch, bytes, n);
	if (is_thumb && is_of(&thumb, arch))
		return match(&thumb, arch, bytes, n);
	for (unsigned i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		if (is_of(&sets[i], arch))
			return match(&sets[i], arch, bytes, n);
	}
	return TS_TRAP_NONE;
}
