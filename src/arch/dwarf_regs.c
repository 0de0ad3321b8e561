/* SPDX-License-Identifier: MIT */
#include "dwarf_regs.h"

#include <stdio.h>
#include <string.h>

#define COUNT(x) (sizeof(x) / sizeof(*(x)))

static const char *const x86_64[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
				      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15" };
static const char *const i386[] = { "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi" };
static const char *const arm[] = { "r0", "r1", "r2",  "r3",  "r4",  "r5", "r6", "r7",
				   "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc" };
static const char *const riscv[] = { "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0",
				     "a1",   "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5",
				     "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6" };

/* Registers whose names are written down, and those that a prefix and a number name. */
static const struct {
	const char *arch;
	const char *const *names; /* of numbers from 0 on */
	unsigned n_names;
	const char *prefix;       /* of numbers [first, end): prefix and number - first */
	unsigned first, end;
} tables[] = {
	{ "x86_64", x86_64, COUNT(x86_64), "xmm", 17, 33 },
	{ "x32", x86_64, COUNT(x86_64), "xmm", 17, 33 },
	{ "i386", i386, COUNT(i386), "xmm", 21, 29 },
	{ "arm", arm, COUNT(arm), "d", 256, 288 },
	{ "aarch64", NULL, 0, "x", 0, 31 },
	{ "aarch64", NULL, 0, "v", 64, 96 },
	{ "riscv", riscv, COUNT(riscv), NULL, 0, 0 },
	{ "mips", NULL, 0, "r", 0, 32 },
	{ "ppc", NULL, 0, "r", 0, 32 },
};

/* riscv64, mips and mips64, ppc64 ...: the first bytes of a name say which numbers the architecture has. */
static bool is_of(const char *arch, const char *name)
{
	return !strncmp(arch, name, strlen(name));
}

int ts_regset_by_dwarf(const struct ts_regset *set, unsigned number)
{
	const char *arch = set->arch->name;
	char name[16];

	if (is_of(arch, "aarch64") && number == 31)
		return set->sp;
	for (size_t i = 0; i < COUNT(tables); i++) {
		if (!is_of(arch, tables[i].arch))
			continue;
		if (number < tables[i].n_names)
			return ts_regset_find(set, tables[i].names[number]);
		if (tables[i].prefix && number >= tables[i].first && number < tables[i].end) {
			snprintf(name, sizeof(name), "%s%u", tables[i].prefix, number - tables[i].first);
			return ts_regset_find(set, name);
		}
	}
	return -1;
}
