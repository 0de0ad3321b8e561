/* SPDX-License-Identifier: MIT */
/*
 * Numbers of registers in a recording are Unicorn's (loaders/usercorn/arch.c); the gdb stub's are in the
 * order of its target descriptions.  Numbers of system calls are those of the kernel's <asm/unistd.h>.
 */
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct ts_guest *ts_guest;

#define SEARCH(num, n, len, gdb, names) { num, n, len, gdb, TS_GENERAL, TS_BY_SEARCH, names, NULL }
#define CALL_IN(group, num, n, len, gdb, names) { num, n, len, gdb, group, TS_BY_CALL, names, NULL }
#define CALL(num, len, gdb, names) CALL_IN(TS_GENERAL, num, 1, len, gdb, names)
#define VECTOR(num, n, len, gdb, how, names) { num, n, len, gdb, TS_VECTOR, how, names, NULL }
#define DUMP(num, n, names, dumped) { num, n, 8, 0, TS_VECTOR, TS_BY_DUMP, names, dumped }

static const struct ts_reg_range x86_64_regs[] = {
	SEARCH(35, 1, 8, 0, "rax"),
	SEARCH(37, 1, 8, 1, "rbx"),
	SEARCH(38, 1, 8, 2, "rcx"),
	SEARCH(40, 1, 8, 3, "rdx"),
	SEARCH(43, 1, 8, 4, "rsi"),
	SEARCH(39, 1, 8, 5, "rdi"),
	SEARCH(36, 1, 8, 6, "rbp"),
	SEARCH(44, 1, 8, 7, "rsp"),
	SEARCH(106, 8, 8, 8, "r8"),
	{ 25, 1, 4, 17, TS_GENERAL, TS_BY_FLAGS, "eflags", NULL },
	CALL_IN(TS_RARE, 11, 1, 4, 18, "cs"),
	CALL_IN(TS_RARE, 49, 1, 4, 19, "ss"),
	CALL_IN(TS_RARE, 17, 1, 4, 20, "ds"),
	CALL_IN(TS_RARE, 28, 1, 4, 21, "es"),
	CALL_IN(TS_RARE, 32, 2, 4, 22, "fs gs"),
	SEARCH(250, 2, 8, 24, "fs_base gs_base"),
	{ 114, 8, 10, 33, TS_X87, TS_BY_X87, "st0", NULL },
	CALL_IN(TS_X87, 246, 1, 4, 41, "fctrl"),
	CALL_IN(TS_X87, 31, 1, 4, 42, "fstat"),
	VECTOR(122, 16, 16, 49, TS_BY_XMM, "xmm0"),
	CALL_IN(TS_VECTOR, 249, 1, 4, 65, "mxcsr"),
};

static const struct ts_reg_range i386_regs[] = {
	SEARCH(19, 1, 4, 0, "eax"),
	SEARCH(22, 1, 4, 1, "ecx"),
	SEARCH(24, 1, 4, 2, "edx"),
	SEARCH(21, 1, 4, 3, "ebx"),
	SEARCH(30, 1, 4, 4, "esp"),
	SEARCH(20, 1, 4, 5, "ebp"),
	SEARCH(29, 1, 4, 6, "esi"),
	SEARCH(23, 1, 4, 7, "edi"),
	{ 25, 1, 4, 9, TS_GENERAL, TS_BY_FLAGS, "eflags", NULL },
	CALL_IN(TS_RARE, 11, 1, 4, 10, "cs"),
	CALL_IN(TS_RARE, 49, 1, 4, 11, "ss"),
	CALL_IN(TS_RARE, 17, 1, 4, 12, "ds"),
	CALL_IN(TS_RARE, 28, 1, 4, 13, "es"),
	CALL_IN(TS_RARE, 32, 2, 4, 14, "fs gs"),
	{ 114, 8, 10, 25, TS_X87, TS_BY_X87, "st0", NULL },
	CALL_IN(TS_X87, 246, 1, 4, 33, "fctrl"),
	CALL_IN(TS_X87, 31, 1, 4, 34, "fstat"),
	VECTOR(122, 8, 16, 41, TS_BY_XMM, "xmm0"),
	CALL_IN(TS_VECTOR, 249, 1, 4, 49, "mxcsr"),
};

static const struct ts_reg_range aarch64_regs[] = {
	SEARCH(199, 29, 8, 0, "x0"),
	SEARCH(1, 2, 8, 29, "x29"),
	SEARCH(4, 1, 8, 31, "sp"),
	CALL(265, 4, 33, "cpsr"),
	VECTOR(228, 32, 16, 0, TS_BY_FPU, "v0"),
	VECTOR(292, 1, 4, 32, TS_BY_FPU_CALL, "fpsr"),
	VECTOR(291, 1, 4, 33, TS_BY_FPU_CALL, "fpcr"),
};

static const struct ts_reg_range arm_regs[] = {
	SEARCH(66, 13, 4, 0, "r0"),
	SEARCH(12, 1, 4, 13, "sp"),
	SEARCH(10, 1, 4, 14, "lr"),
	CALL(3, 4, 25, "cpsr"),
	DUMP(14, 32, "d0", "d%02u="),
};

static const struct ts_reg_range riscv64_regs[] = {
	SEARCH(2, 31, 8, 1,
	       "ra sp gp tp t0 t1 t2 fp s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"),
	DUMP(158, 32,
	     "ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7 fs2 fs3 fs4 fs5 fs6 fs7 fs8 "
	     "fs9 fs10 fs11 ft8 ft9 ft10 ft11",
	     "f%u/"),
};

static const struct ts_reg_range mips_regs[] = {
	SEARCH(3, 31, 4, 1, "r1"),
	SEARCH(130, 1, 4, 33, "lo"),
	SEARCH(129, 1, 4, 34, "hi"),
	CALL_IN(TS_RARE, 139, 1, 4, 32, "status"),
	DUMP(57, 32, "f0", "f%u: w"),
	CALL_IN(TS_VECTOR, 141, 1, 4, 70, "fcsr"),
};

static const struct ts_reg_range ppc64_regs[] = {
	SEARCH(2, 32, 8, 0, "r0"),
	SEARCH(74, 1, 8, 67, "lr"),
	SEARCH(76, 1, 8, 68, "ctr"),
	CALL(79, 4, 66, "cr"),
	CALL(75, 4, 69, "xer"),
	VECTOR(42, 32, 8, 32, TS_BY_SEARCH, "f0"),
	CALL_IN(TS_VECTOR, 78, 1, 4, 70, "fpscr"),
};

void ts_reg_name(const struct ts_reg_range *range, unsigned i, char name[TS_REG_NAME_LEN])
{
	const char *at = range->names;
	size_t n = strlen(at);

	if (range->n > 1 && !strchr(at, ' ')) {
		while (n && at[n - 1] >= '0' && at[n - 1] <= '9')
			n--;
		snprintf(name, TS_REG_NAME_LEN, "%.*s%lu", (int)n, at, strtoul(at + n, NULL, 10) + i);
		return;
	}
	for (; i; i--)
		at += strcspn(at, " ") + 1;
	snprintf(name, TS_REG_NAME_LEN, "%.*s", (int)strcspn(at, " "), at);
}

/* -------------------------------------------------------------------------------- instructions */

static unsigned x86_two_bytes(const uint8_t *p, const uint8_t *end, bool is_prefixed)
{
	uint8_t op = p < end ? *p : 0;
	unsigned what = 0;

	if ((op >= 0x10 && op <= 0x17) || (op >= 0x28 && op <= 0x2f) || op == 0x38 || op == 0x3a ||
	    (op >= 0x50 && op <= 0x7f) || op == 0xae || op == 0xc2 || (op >= 0xc4 && op <= 0xc7) ||
	    op >= 0xd0)
		what = TS_INSN_VECTOR;
	/* MMX is x87's registers; xrstor is any */
	if (what && (!is_prefixed || op == 0xae || op == 0xc7 || op == 0xd6 || op == 0x2c || op == 0x2d))
		what |= TS_INSN_X87;
	if (op == 0xa1 || op == 0xa9 || op == 0xb2 || op == 0xb4 || op == 0xb5)
		what |= TS_INSN_RARE;
	return what;
}

static unsigned x86_one_byte(uint8_t op)
{
	static const uint8_t rare[] = { 0x8e, 0x07, 0x17, 0x1f, 0xcf, 0xca, 0xcb, 0xea, 0x9a, 0xff };

	if (op >= 0xd8 && op <= 0xdf)
		return TS_INSN_X87;
	if (op == 0xc4 || op == 0xc5 || op == 0x62)
		return TS_INSN_VECTOR | TS_INSN_RARE; /* VEX, EVEX; les, lds of 32-bit code */
	return memchr(rare, op, sizeof(rare)) ? TS_INSN_RARE : 0;
}

static unsigned classify_x86(const uint8_t *insn, size_t n, bool is_long)
{
	const uint8_t *p = insn, *end = insn + n;
	bool is_prefixed = false;

	for (; p < end && *p && strchr("\x66\xf2\xf3\x2e\x36\x3e\x26\x64\x65\x67\xf0", *p); p++)
		is_prefixed |= *p == 0x66 || *p == 0xf2 || *p == 0xf3;
	if (n == 2 && insn[1] == 0xfe && (insn[0] == 0xeb || (insn[0] & 0xf0) == 0x70))
		return TS_INSN_SELF;
	if (is_long && p < end && (*p & 0xf0) == 0x40)
		p++;
	if (p == end)
		return 0;
	return *p == 0x0f ? x86_two_bytes(p + 1, end, is_prefixed) : x86_one_byte(*p);
}

static unsigned classify_x86_64(const uint8_t *insn, size_t n, bool)
{
	return classify_x86(insn, n, true);
}

static unsigned classify_i386(const uint8_t *insn, size_t n, bool)
{
	return classify_x86(insn, n, false);
}

static uint32_t word_of(const uint8_t *insn, bool is_big_endian)
{
	uint32_t op = 0;

	for (unsigned i = 0; i < 4; i++)
		op |= (uint32_t)insn[i] << 8 * (is_big_endian ? 3 - i : i);
	return op;
}

static unsigned classify_aarch64(const uint8_t *insn, size_t, bool is_big_endian)
{
	uint32_t op = word_of(insn, false);
	unsigned what = 0;

	(void)is_big_endian; /* instructions are little-endian in either order */
	if ((op & 0x0c000000) == 0x0c000000 || (op & 0xfff00000) == 0xd5100000)
		what |= TS_INSN_VECTOR; /* SIMD, floating point, their loads; msr of fpcr, fpsr */
	if ((op & 0xffffffe0) == 0xd50b7420)
		what |= TS_INSN_ZERO;
	if ((op & 0xffffffe0) == 0xd53b00e0)
		what |= TS_INSN_ZERO_LEN;
	if (op == 0x14000000 || (op & 0xffffffe0) == 0x54000000)
		what |= TS_INSN_SELF;
	return what;
}

static bool is_same(const uint8_t *insn, size_t n, uint32_t op, bool is_big_endian)
{
	for (size_t i = 0; i < n; i++) {
		if (insn[i] != (uint8_t)(op >> 8 * (is_big_endian ? n - 1 - i : i)))
			return false;
	}
	return true;
}

/* Whether a word of four bytes is an ARM or a Thumb instruction is not known here, so it is regarded as both. */
static bool may_be_vfp(uint32_t arm, uint32_t thumb)
{
	uint32_t kind = arm >> 24 & 15, half = thumb >> 16;

	if (kind >= 0xc && kind <= 0xe)
		return true; /* coprocessors: VFP */
	if (arm >> 28 == 15 && kind >= 2 && kind <= 4)
		return true; /* NEON, and its loads */
	return (half & 0xec00) == 0xec00 || (half & 0xff10) == 0xf900;
}

static unsigned classify_arm(const uint8_t *insn, size_t n, bool is_big_endian)
{
	uint8_t high = insn[is_big_endian ? 0 : 1], low = insn[is_big_endian ? 1 : 0];
	uint32_t op;

	if ((n == 2 && high == 0xe7 && low == 0xfe) ||
	    (n == 4 && is_same(insn, 4, 0xeafffffe, is_big_endian)))
		return TS_INSN_SELF;
	if (n == 2)
		return high == 0xbf && (low & 15) ? TS_INSN_IT : 0;
	op = word_of(insn, is_big_endian);
	return may_be_vfp(op, is_big_endian ? op : op << 16 | op >> 16) ? TS_INSN_VECTOR : 0;
}

static unsigned classify_riscv(const uint8_t *insn, size_t n, bool)
{
	uint32_t op = insn[0] & 0x7f, kind = insn[1] >> 5;

	if (n == 2) {
		/* c.j to itself; c.fld, c.fldsp */
		if (is_same(insn, 2, 0xa001, false))
			return TS_INSN_SELF;
		return kind == 1 && (op & 3) != 1 ? TS_INSN_VECTOR : 0;
	}
	if (is_same(insn, 4, 0x6f, false))
		return TS_INSN_SELF; /* jal x0 */
	/* LOAD-FP, MADD to NMADD, OP-FP, OP-V */
	return op == 0x07 || (op >= 0x43 && op <= 0x4f) || op == 0x53 || op == 0x57 ? TS_INSN_VECTOR : 0;
}

/*
 * Whether a word of four bytes is an instruction of MIPS or of microMIPS is not known here, so it is regarded as
 * both; those of two bytes have no floating point.  The six upper bits are the operation: of microMIPS, those
 * of the half that is first in memory.
 */
static unsigned classify_mips(const uint8_t *insn, size_t n, bool is_big_endian)
{
	/* COP1, COP1X, MSA, LWC1, LDC1; of microMIPS: POOL32F, MSA, LWC1, LDC1 */
	static const uint8_t mips[] = { 0x11, 0x13, 0x1e, 0x31, 0x35 }, micro[] = { 0x15, 0x16, 0x27, 0x2f };

	if (n == 2)
		return 0;
	return memchr(mips, insn[is_big_endian ? 0 : 3] >> 2, sizeof(mips)) ||
			       memchr(micro, insn[is_big_endian ? 0 : 1] >> 2, sizeof(micro)) ?
		       TS_INSN_VECTOR :
		       0;
}

/*
 * Primary opcode 31 has integer instructions as well as loads of floating-point registers; the extended
 * opcode distinguishes them (Power ISA, appendix "opcode maps").  Integer: arithmetic, logic, comparisons,
 * shifts; loads and stores of general registers; spr, cr.
 */
static bool is_integer_31(uint32_t op)
{
	static const uint16_t integer[] = {
		0,   4,	  8,   9,   10,	 11,  19,  20,	21,  23,  24,  26,  27,	 28,  32,  40,	53,  55,  58,  60,  73,	 75,
		84,  87,  104, 119, 124, 136, 138, 144, 149, 150, 151, 181, 183, 200, 202, 214, 215, 232, 233, 234, 235, 247,
		266, 279, 284, 311, 316, 339, 341, 343, 375, 407, 412, 439, 444, 457, 459, 467, 476, 489, 491, 506, 536, 539,
		598, 792, 794, 824, 826, 827, 922, 954, 986,
	};
	uint32_t extended = op >> 1 & 0x3ff;

	for (size_t i = 0; i < COUNT(integer); i++) {
		if (integer[i] == extended)
			return true;
	}
	return false;
}

static unsigned classify_ppc(const uint8_t *insn, size_t, bool is_big_endian)
{
	uint32_t op = word_of(insn, is_big_endian), kind = op >> 26;
	bool is_integer = (kind >= 7 && kind <= 30) || (kind >= 32 && kind <= 47) || kind == 58 || kind == 62;

	if (op == 0x48000000)
		return TS_INSN_SELF;
	if ((op & 0xfc0007fe) == 0x7c0007ec)
		return TS_INSN_ZERO;
	return is_integer || (kind == 31 && is_integer_31(op)) ? 0 : TS_INSN_VECTOR;
}

/* -------------------------------------------------------------------------------- system calls */

/* maps: mmap mmap2 munmap mprotect mremap brk shmat shmdt */
static const int x86_64_maps[] = { 9, 11, 10, 25, 12, 30, 67, -1 };
static const int i386_maps[] = { 90, 192, 91, 125, 163, 45, 397, 398, 117, -1 };
static const int arm_maps[] = { 192, 91, 125, 163, 45, 305, 306, -1 };
static const int generic_maps[] = { 222, 215, 226, 216, 214, 196, 197, -1 };
static const int mips_maps[] = { 4090, 4210, 4091, 4125, 4167, 4045, 4397, 4398, 4117, -1 };
static const int ppc64_maps[] = { 90, 91, 125, 163, 45, 397, 398, 117, -1 };

/*
 * silent: the maps' munmap mprotect mmap brk; write close lseek open openat access faccessat get*id futex
 * kill tkill tgkill sched_yield set_robust_list set_tid_address writev pwrite64 dup* fcntl exit exit_group
 * execve
 */
static const int x86_64_silent[] = { 9,	  11,  10,  12,	 1,   3,   8,	2,   257, 21,  269, 39,	 186, 110, 102, 107, 104,
				     108, 202, 62,  200, 234, 24,  273, 218, 20,  18,  32,  33,	 292, 60,  231, 59,  28, -1 };
static const int i386_silent[] = { 90,	192, 91,  125, 45,  4,	6,   19,  5,   295, 33, 307, 20, 224, 64, 24, 49, 47, 50, 199, 200,
				   201, 202, 240, 37,  238, 270, 158, 311, 258, 146, 181, 41, 63, 330, 1, 252, 11, 219, -1 };
static const int arm_silent[] = { 192, 91,  125, 45, 4,	 6,   19,  5,	322, 33,  334, 20,  224, 64, 24, 49, 47, 50, 199, 200,
				  201, 202, 240, 37, 238, 268, 158, 338, 256, 146, 181, 41, 63, 358, 1, 248, 11, 220, -1 };
static const int generic_silent[] = { 222, 215, 226, 214, 64, 57, 62, 56, 48, 172, 178, 173, 174, 175, 176, 177, 98,
				      129, 130, 131, 124, 99, 96, 66, 68, 23, 24, 93, 94, 221, 233, -1 };
static const int mips_silent[] = { 4090, 4210, 4091, 4125, 4045, 4004, 4006, 4019, 4005, 4288, 4033, 4300, 4020, 4222, 4064, 4024,
				   4049, 4047, 4050, 4238, 4037, 4236, 4266, 4162, 4309, 4252, 4146, 4201, 4041, 4063, 4327, 4001,
				   4246, 4011, 4218, -1 };
static const int ppc64_silent[] = { 90,	 91,  125, 45,	4,   6,	  19,  5,   286, 33,  298, 20, 207, 64, 24, 49, 47, 50,
				    221, 37, 208, 250, 158, 300, 232, 146, 180, 41, 63, 316, 1, 234, 11, 205, -1 };

/*
 * buffer: read pread64 recv recvfrom; vector: readv preadv preadv2; advises: madvise mremap; files: write pwrite64 writev
 * pwritev pwritev2 fallocate ftruncate ftruncate64 sendfile sendfile64 copy_file_range splice
 */
#define LIST(...) (const int[]){ __VA_ARGS__, -1 }

static const struct ts_calls x86_64_calls = {
	.exit = 60, .exit_group = 231, .execve = 59, .execveat = 322, .fork = 57, .vfork = 58, .clone = 56,
	.rt_sigaction = 13, .sigaction = -1, .maps = x86_64_maps, .silent = x86_64_silent, .mmap = { 9, -1 }, .brk = 12, .clone_tid = 3,
	.prctl = 157, .open = 2, .openat = 257, .write = 1, .random = 318, .futex = 202, .recvmsg = 47,
	.buffer = LIST(0, 17, 45), .vector = LIST(19, 295, 327), .advises = LIST(28, 25),
	.truncate = LIST(76),
	.files = LIST(1, 18, 20, 296, 328, 285, 77, 40, 326, 275),
};
static const struct ts_calls i386_calls = {
	.exit = 1, .exit_group = 252, .execve = 11, .execveat = 358, .fork = 2, .vfork = 190, .clone = 120,
	.rt_sigaction = 174, .sigaction = 67, .maps = i386_maps, .silent = i386_silent, .mmap = { 90, 192 }, .brk = 45, .clone_tid = 4,
	.prctl = 172, .open = 5, .openat = 295, .write = 4, .random = 355, .futex = 240, .recvmsg = 372,
	.buffer = LIST(3, 180, 371), .vector = LIST(145, 333, 378), .advises = LIST(219, 163),
	.truncate = LIST(92, 193),
	.files = LIST(4, 181, 146, 334, 379, 324, 93, 194, 187, 239, 377, 313),
};
static const struct ts_calls arm_calls = {
	.exit = 1, .exit_group = 248, .execve = 11, .execveat = 387, .fork = 2, .vfork = 190, .clone = 120,
	.rt_sigaction = 174, .sigaction = 67, .maps = arm_maps, .silent = arm_silent, .mmap = { 192, -1 }, .brk = 45, .clone_tid = 4,
	.prctl = 172, .open = 5, .openat = 322, .write = 4, .random = 384, .futex = 240, .recvmsg = 297,
	.buffer = LIST(3, 180, 291, 292), .vector = LIST(145, 361, 392), .advises = LIST(220, 163),
	.truncate = LIST(92, 193),
	.files = LIST(4, 181, 146, 362, 393, 352, 93, 194, 187, 239, 391, 340),
};
static const struct ts_calls generic_calls = {
	.exit = 93, .exit_group = 94, .execve = 221, .execveat = 281, .fork = -1, .vfork = -1, .clone = 220,
	.rt_sigaction = 134, .sigaction = -1, .maps = generic_maps, .silent = generic_silent, .mmap = { 222, -1 }, .brk = 214, .clone_tid = 4,
	.prctl = 167, .open = -1, .openat = 56, .write = 64, .random = 278, .futex = 98, .recvmsg = 212,
	.buffer = LIST(63, 67, 207), .vector = LIST(65, 69, 286), .advises = LIST(233, 216),
	.truncate = LIST(45),
	.files = LIST(64, 68, 66, 70, 287, 47, 46, 71, 285, 76),
};
static const struct ts_calls mips_calls = {
	.exit = 4001, .exit_group = 4246, .execve = 4011, .execveat = 4356, .fork = 4002, .vfork = -1, .clone = 4120,
	.rt_sigaction = 4194, .sigaction = 4067, .maps = mips_maps, .silent = mips_silent, .mmap = { 4090, 4210 }, .brk = 4045, .clone_tid = 4,
	.prctl = 4192, .open = 4005, .openat = 4288, .write = 4004, .random = 4353, .futex = 4238, .recvmsg = 4177,
	.buffer = LIST(4003, 4200, 4175, 4176), .vector = LIST(4145, 4330, 4361), .advises = LIST(4218, 4167),
	.truncate = LIST(4092, 4211),
	.files = LIST(4004, 4201, 4146, 4331, 4362, 4320, 4093, 4212, 4207, 4237, 4360, 4304),
};
static const struct ts_calls ppc64_calls = {
	.exit = 1, .exit_group = 234, .execve = 11, .execveat = 362, .fork = 2, .vfork = 189, .clone = 120,
	.rt_sigaction = 173, .sigaction = 67, .maps = ppc64_maps, .silent = ppc64_silent, .mmap = { 90, -1 }, .brk = 45, .clone_tid = 4,
	.prctl = 171, .open = 5, .openat = 286, .write = 4, .random = 359, .futex = 221, .recvmsg = 342,
	.buffer = LIST(3, 179, 336, 337), .vector = LIST(145, 320, 380), .advises = LIST(205, 163),
	.truncate = LIST(92),
	.files = LIST(4, 180, 146, 321, 381, 309, 93, 186, 379, 283),
};

/* -------------------------------------------------------------------------------- processors */

#define REGS(table) .ranges = (table), .n_ranges = COUNT(table)

#define ARM64 .prefix = "aarch64_cpu", .ucir = "arm64", .word = 8, REGS(aarch64_regs), .classify = classify_aarch64, \
	      .sp = 4, .arg = { 199, 200 }, .has_fpu = true, .calls = &generic_calls
#define MIPS .prefix = "mips_cpu", .ucir = "mips", .word = 4, REGS(mips_regs), .classify = classify_mips, \
	     .sp = 31, .arg = { 6, 7 }, .is_mips = true, .calls = &mips_calls
#define PPC64 .prefix = "ppc_cpu", .ucir = "ppc64", .word = 8, REGS(ppc64_regs), .classify = classify_ppc, \
	      .sp = 3, .arg = { 5, 6 }, .is_ppc = true, .calls = &ppc64_calls

static const struct ts_guest guests[] = {
	{ .target = "x86_64", .prefix = "x86_cpu", .ucir = "x86_64", .word = 8, REGS(x86_64_regs), .classify = classify_x86_64,
	  .sp = 44, .arg = { 39, 43 }, .has_cc = true, .calls = &x86_64_calls },
	{ .target = "i386", .prefix = "x86_cpu", .ucir = "x86", .word = 4, REGS(i386_regs), .classify = classify_i386,
	  .sp = 30, .has_cc = true, .calls = &i386_calls },
	{ .target = "aarch64", ARM64 },
	{ .target = "arm", .prefix = "arm_cpu", .ucir = "arm", .word = 4, REGS(arm_regs), .classify = classify_arm,
	  .sp = 12, .arg = { 66, 67 }, .is_arm = true, .calls = &arm_calls },
	{ .target = "riscv64", .prefix = "riscv_cpu", .ucir = "riscv64", .word = 8, REGS(riscv64_regs),
	  .classify = classify_riscv, .sp = 3, .arg = { 11, 12 }, .calls = &generic_calls },
	{ .target = "mips", .is_big_endian = true, MIPS },
	{ .target = "mipsel", MIPS },
	{ .target = "ppc64", .is_big_endian = true, .has_descriptors = true, PPC64 },
	{ .target = "ppc64le", PPC64 },
};

const struct ts_guest *ts_guest_find(const char *target)
{
	for (size_t i = 0; i < COUNT(guests); i++) {
		if (strcmp(guests[i].target, target) == 0)
			return &guests[i];
	}
	return NULL;
}
