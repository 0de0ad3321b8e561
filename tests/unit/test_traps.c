/* SPDX-License-Identifier: MIT */
/* Instructions that enter the kernel.  Their bytes are those of the processors' manuals, in the order of memory. */
#include "src/arch/traps.h"
#include "unit.h"

static const struct {
	const char *arch, *bytes;
	size_t n;
	bool is_thumb;
	enum ts_trap trap;
} insns[] = {
	{ "x86_64", "\x0f\x05", 2, false, TS_TRAP_SYSCALL },         /* syscall */
	{ "x86_64", "\x48\x0f\x05", 3, false, TS_TRAP_SYSCALL },     /* rex.w syscall */
	{ "x86_64", "\x0f\x0b", 2, false, TS_TRAP_NONE },            /* ud2 */
	{ "x86_64", "\xc3\x05", 2, false, TS_TRAP_NONE },            /* ret */
	{ "x86_64", "\x0f", 1, false, TS_TRAP_NONE },                /* half of one */
	{ "x86_64", "", 0, false, TS_TRAP_NONE },
	{ "x86_64", "\x0f\x01\xc1", 3, false, TS_TRAP_OTHER },       /* vmcall */
	{ "i386", "\xcd\x80", 2, false, TS_TRAP_SYSCALL },           /* int $0x80 */
	{ "i386", "\xcd\x2e", 2, false, TS_TRAP_SYSCALL },           /* int $0x2e */
	{ "i386", "\x0f\x34", 2, false, TS_TRAP_SYSCALL },           /* sysenter */
	{ "i386", "\xcd\x03", 2, false, TS_TRAP_OTHER },             /* int $3 */
	{ "i386", "\xcc", 1, false, TS_TRAP_OTHER },                 /* int3 */
	{ "i386", "\x48\x0f\x05", 3, false, TS_TRAP_NONE },          /* dec %eax */
	{ "i8086", "\xcd\x21", 2, false, TS_TRAP_SYSCALL },          /* int $0x21: MS-DOS */
	{ "i8086", "\xcd\x00", 2, false, TS_TRAP_OTHER },            /* int $0 */
	{ "arm", "\x00\x00\x00\xef", 4, false, TS_TRAP_SYSCALL },    /* svc #0 */
	{ "armeb", "\xef\x00\x00\x00", 4, false, TS_TRAP_SYSCALL },
	{ "arm", "\x00\xdf", 2, true, TS_TRAP_SYSCALL },             /* svc #0 */
	{ "arm", "\x70\x00\x40\xe1", 4, false, TS_TRAP_OTHER },      /* hvc #0 */
	{ "arm", "\x00\x00\xa0\xe1", 4, false, TS_TRAP_NONE },       /* nop */
	{ "aarch64", "\x01\x00\x00\xd4", 4, false, TS_TRAP_SYSCALL }, /* svc #0 */
	{ "aarch64_be", "\x01\x00\x00\xd4", 4, false, TS_TRAP_SYSCALL },
	{ "aarch64", "\x02\x00\x00\xd4", 4, false, TS_TRAP_OTHER },  /* hvc #0 */
	{ "aarch64", "\x1f\x20\x03\xd5", 4, false, TS_TRAP_NONE },   /* nop */
	{ "mips", "\x00\x00\x00\x0c", 4, false, TS_TRAP_SYSCALL },   /* syscall */
	{ "mipsel", "\x0c\x01\x00\x00", 4, false, TS_TRAP_SYSCALL }, /* syscall 4 */
	{ "mips64el", "\x0d\x00\x00\x00", 4, false, TS_TRAP_NONE },  /* break */
	{ "ppc", "\x44\x00\x00\x02", 4, false, TS_TRAP_SYSCALL },    /* sc */
	{ "ppc64le", "\x02\x00\x00\x44", 4, false, TS_TRAP_SYSCALL },
	{ "riscv64", "\x73\x00\x00\x00", 4, false, TS_TRAP_SYSCALL }, /* ecall */
	{ "riscv32", "\x73\x00\x10\x00", 4, false, TS_TRAP_NONE },   /* ebreak */
	{ "s390x", "\x0a\x04", 2, false, TS_TRAP_SYSCALL },          /* svc 4 */
	{ "sparc", "\x91\xd0\x20\x10", 4, false, TS_TRAP_SYSCALL },  /* ta 0x10 */
	{ "m68k", "\x4e\x40", 2, false, TS_TRAP_SYSCALL },           /* trap #0 */
};

START_TEST(an_instruction_that_enters_the_kernel_is_known)
{
	for (size_t i = 0; i < sizeof(insns) / sizeof(insns[0]); i++) {
		const struct ts_arch *arch = ts_arch_find(insns[i].arch);

		ck_assert_ptr_nonnull(arch);
		ck_assert_msg(ts_insn_trap(arch, insns[i].is_thumb, (const uint8_t *)insns[i].bytes,
					   insns[i].n) == insns[i].trap,
			      "instruction %zu, of %s", i, insns[i].arch);
	}
}
END_TEST

UNIT_SUITE("traps", an_instruction_that_enters_the_kernel_is_known)
