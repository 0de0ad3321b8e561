/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Registers that the tool records, and others that a producer might. */
#define KEPT(num, name) { num, num, name, 0, 0, true }
#define KEPT_RANGE(first, last, name, base) { first, last, name, base, 1, true }
#define OTHER(num, name) { num, num, name, 0, 0, false }
#define OTHER_RANGE(first, last, name, base, step) { first, last, name, base, step, false }

static const struct ucir_reg_range x86_64_regs[] = {
	KEPT(35, "rax"),
	KEPT(36, "rbp"),
	KEPT(37, "rbx"),
	KEPT(38, "rcx"),
	KEPT(39, "rdi"),
	KEPT(40, "rdx"),
	KEPT(43, "rsi"),
	KEPT(44, "rsp"),
	KEPT_RANGE(106, 113, "r%u", 8),
	OTHER(11, "cs"),
	OTHER(17, "ds"),
	OTHER(25, "eflags"),
	OTHER(28, "es"),
	OTHER(31, "fstat"),
	OTHER(32, "fs"),
	OTHER(33, "gs"),
	OTHER(49, "ss"),
	OTHER_RANGE(114, 121, "st%u", 0, 1),
	OTHER_RANGE(122, 137, "xmm%u", 0, 1),
	OTHER_RANGE(154, 169, "ymm%uh", 0, 1),
	OTHER(246, "fctrl"),
	OTHER(247, "ftag"),
	OTHER(249, "mxcsr"),
	OTHER(250, "fs_base"),
	OTHER(251, "gs_base"),
	OTHER(254, "fioff"),
	OTHER(255, "fiseg"),
	OTHER(256, "fooff"),
	OTHER(257, "foseg"),
	OTHER(258, "fop"),
};

static const struct ucir_reg_range x86_regs[] = {
	KEPT(11, "cs"),
	KEPT(17, "ds"),
	KEPT(19, "eax"),
	KEPT(20, "ebp"),
	KEPT(21, "ebx"),
	KEPT(22, "ecx"),
	KEPT(23, "edi"),
	KEPT(24, "edx"),
	KEPT(25, "eflags"),
	KEPT(28, "es"),
	KEPT(29, "esi"),
	KEPT(30, "esp"),
	KEPT(32, "fs"),
	KEPT(33, "gs"),
	KEPT(49, "ss"),
	OTHER(31, "fstat"),
	OTHER_RANGE(114, 121, "st%u", 0, 1),
	OTHER_RANGE(122, 129, "xmm%u", 0, 1),
	OTHER_RANGE(154, 161, "ymm%uh", 0, 1),
	OTHER(246, "fctrl"),
	OTHER(247, "ftag"),
	OTHER(249, "mxcsr"),
	OTHER(254, "fioff"),
	OTHER(255, "fiseg"),
	OTHER(256, "fooff"),
	OTHER(257, "foseg"),
	OTHER(258, "fop"),
};

/* The 16-bit registers are shown as the 32-bit ones that gdb has; see ucir_arch_slots(). */
static const struct ucir_reg_range x86_16_regs[] = {
	KEPT(3, "eax"),  KEPT(6, "ebp"),  KEPT(8, "ebx"),  KEPT(11, "cs"),     KEPT(12, "ecx"),
	KEPT(14, "edi"), KEPT(17, "ds"),  KEPT(18, "edx"), KEPT(25, "eflags"), KEPT(28, "es"),
	KEPT(45, "esi"), KEPT(47, "esp"), KEPT(49, "ss"),  OTHER(32, "fs"),    OTHER(33, "gs"),
};

static const struct ucir_reg_range arm_regs[] = {
	KEPT(10, "lr"),   KEPT(12, "sp"),    KEPT_RANGE(66, 78, "r%u", 0),
	OTHER(3, "cpsr"), OTHER(6, "fpscr"), OTHER_RANGE(14, 45, "d%u", 0, 1),
};

static const struct ucir_reg_range arm64_regs[] = {
	KEPT_RANGE(1, 2, "x%u", 29),
	KEPT(4, "sp"),
	KEPT_RANGE(199, 227, "x%u", 0),
	OTHER_RANGE(228, 259, "v%u", 0, 1),
	OTHER(265, "cpsr"),
	OTHER(291, "fpcr"),
	OTHER(292, "fpsr"),
};

static const struct ucir_reg_range mips_regs[] = {
	KEPT_RANGE(3, 33, "r%u", 1),
	OTHER(2, "r0"),
	OTHER_RANGE(57, 88, "f%u", 0, 1),
	OTHER(129, "hi"),
	OTHER(130, "lo"),
	OTHER(139, "status"),
	OTHER(140, "fir"),
	OTHER(141, "fcsr"),
};

static const struct ucir_reg_range sparc_regs[] = {
	KEPT_RANGE(54, 60, "g%u", 1),
	KEPT_RANGE(61, 66, "i%u", 0),
	KEPT(67, "fp"),
	KEPT(68, "i7"),
	KEPT_RANGE(70, 77, "l%u", 0),
	KEPT_RANGE(78, 83, "o%u", 0),
	KEPT(84, "sp"),
	KEPT(85, "o7"),
	OTHER(53, "g0"),
	OTHER_RANGE(1, 32, "f%u", 0, 1),
	OTHER_RANGE(33, 48, "f%u", 32, 2),
	OTHER(86, "y"),
	OTHER(89, "psr"),
};

static const struct ucir_reg_range m68k_regs[] = {
	KEPT_RANGE(1, 6, "a%u", 0),  KEPT(7, "fp"),   KEPT(8, "sp"),
	KEPT_RANGE(9, 16, "d%u", 0), OTHER(17, "ps"),
};

/* x8, the frame pointer, has a name of its own in gdb; f registers are named by their use. */
static const struct ucir_reg_range riscv_regs[] = {
	OTHER(1, "zero"),
	OTHER(2, "ra"),
	OTHER(3, "sp"),
	OTHER(4, "gp"),
	OTHER(5, "tp"),
	OTHER_RANGE(6, 8, "t%u", 0, 1),
	OTHER(9, "fp"),
	OTHER(10, "s1"),
	OTHER_RANGE(11, 18, "a%u", 0, 1),
	OTHER_RANGE(19, 28, "s%u", 2, 1),
	OTHER_RANGE(29, 32, "t%u", 3, 1),
	OTHER(43, "fcsr"),
	OTHER_RANGE(158, 165, "ft%u", 0, 1),
	OTHER_RANGE(166, 167, "fs%u", 0, 1),
	OTHER_RANGE(168, 175, "fa%u", 0, 1),
	OTHER_RANGE(176, 185, "fs%u", 2, 1),
	OTHER_RANGE(186, 189, "ft%u", 8, 1),
};

static const struct ucir_reg_range ppc_regs[] = {
	OTHER_RANGE(2, 33, "r%u", 0, 1), OTHER_RANGE(42, 73, "f%u", 0, 1),
	OTHER(74, "lr"),  OTHER(75, "xer"),   OTHER(76, "ctr"),
	OTHER(77, "msr"), OTHER(78, "fpscr"), OTHER(79, "cr"),
};

static const struct ucir_reg_range s390x_regs[] = {
	OTHER_RANGE(1, 16, "r%u", 0, 1), OTHER_RANGE(17, 32, "f%u", 0, 1), OTHER_RANGE(49, 64, "acr%u", 0, 1),
	OTHER(66, "pswm"), OTHER(99, "fpc"),
};

/* The first @n (2 or 4) bytes as a number; 0, which is no system call anywhere, if there are fewer. */
#define REGS(table) .regs = (table), .n_regs = COUNT(table)

static const struct ucir_arch archs[] = {
	{ .name = "x86_64", .model = "x86_64", .is_one_order = true, REGS(x86_64_regs), .pc = 41,
	  .max_insn_len = 15, .exits = { 60, 231 } },
	{ .name = "x86", .model = "i386", .is_one_order = true, REGS(x86_regs), .pc = 26,
	  .max_insn_len = 15, .exits = { 1, 252 } },
	{ .name = "x86_16", .model = "i8086", .is_one_order = true, REGS(x86_16_regs), .pc = 34,
	  .max_insn_len = 15 },
	{ .name = "arm", .model = "arm", REGS(arm_regs), .pc = 11,
	  .max_insn_len = 4, .exits = { 1, 248 } },
	{ .name = "arm64", .model = "aarch64", REGS(arm64_regs), .pc = 260,
	  .max_insn_len = 4, .exits = { 93, 94 } },
	{ .name = "mips", .model = "mips", REGS(mips_regs), .pc = 1, .zero = "r0",
	  .max_insn_len = 4, .exits = { 4001, 4246 } },
	{ .name = "sparc", .model = "sparc", .is_one_order = true, REGS(sparc_regs), .pc = 88, .zero = "g0",
	  .max_insn_len = 4, .exits = { 1, 188 } },
	{ .name = "m68k", .model = "m68k", .is_one_order = true, REGS(m68k_regs), .pc = 18,
	  .max_insn_len = 22, .exits = { 1, 247 } },
	{ .name = "riscv32", .model = "riscv32", .is_one_order = true, REGS(riscv_regs), .pc = 190, .zero = "zero",
	  .max_insn_len = 4, .since = 2 },
	{ .name = "riscv64", .model = "riscv64", .is_one_order = true, REGS(riscv_regs), .pc = 190, .zero = "zero",
	  .max_insn_len = 4, .since = 2 },
	{ .name = "mips64", .model = "mips64", REGS(mips_regs), .pc = 1, .zero = "r0", .max_insn_len = 4,
	  .since = 2 },
	{ .name = "ppc", .model = "ppc", .is_one_order = true, REGS(ppc_regs), .pc = 1, .max_insn_len = 4,
	  .since = 2 },
	{ .name = "ppc64", .model = "ppc64", REGS(ppc_regs), .pc = 1, .max_insn_len = 8, .since = 2 },
	{ .name = "s390x", .model = "s390x", .is_one_order = true, REGS(s390x_regs), .pc = 65, .max_insn_len = 6,
	  .since = 2 },
};

const struct ucir_arch *ucir_arch_find(const char *name, unsigned version)
{
	for (size_t i = 0; i < COUNT(archs); i++)
		if (version >= archs[i].since && strcmp(archs[i].name, name) == 0)
			return &archs[i];
	return NULL;
}

const char *ucir_arch_names(unsigned version)
{
	return version < 2
		       ? "x86_64 x86 x86_16 arm arm64 mips sparc m68k"
		       : "x86_64 x86 x86_16 arm arm64 mips sparc m68k riscv32 riscv64 mips64 ppc ppc64 s390x";
}

/* A name with a number in it, written out. */
static const char *reg_name(const struct ucir_reg_range *r, unsigned num, char text[16])
{
	const char *percent = strstr(r->name, "%u");
	unsigned i = r->base + (num - r->first) * r->step;

	if (!percent)
		return r->name;
	snprintf(text, 16, "%.*s%u%s", (int)(percent - r->name), r->name, i, percent + 2);
	return text;
}

uint32_t ucir_arch_features(const struct ucir_arch *arch, const struct ts_arch *model,
			    const bool seen[UCIR_N_REGS])
{
	uint32_t features = 0;
	char text[16];

	for (size_t i = 0; i < arch->n_regs; i++) {
		const struct ucir_reg_range *r = &arch->regs[i];

		for (unsigned num = r->first; num <= r->last; num++) {
			int f = seen[num] ? ts_arch_feature_with(model, reg_name(r, num, text)) : -1;

			if (f >= 0)
				features |= 1u << f;
		}
	}
	return features;
}

/* gdb has no ymm register but, beside xmm, its upper half "ymm%uh". */
static void fill_ymm(const struct ts_regset *set, const char *name, struct ucir_slot *slot)
{
	char xmm[16];
	int i;

	snprintf(xmm, sizeof(xmm), "x%.*s", (int)(strlen(name) - 2), name + 1);
	i = ts_regset_find(set, xmm);
	slot->kind = i < 0 ? UCIR_SLOT_NONE : UCIR_SLOT_YMM;
	slot->high = slot->off;
	slot->off = i < 0 ? 0 : set->regs[i].off;
	slot->len *= 2;
}

static void fill_slot(const struct ts_regset *set, const char *name, uint32_t n_gprs, struct ucir_slot *slot)
{
	int i = ts_regset_find(set, name);

	if (i < 0)
		return;
	slot->kind = UCIR_SLOT_REG;
	slot->off = set->regs[i].off;
	slot->len = set->regs[i].len;
	slot->gpr = (uint32_t)i < n_gprs ? (uint8_t)(i + 1) : 0;
	if (strncmp(name, "ymm", 3) == 0)
		fill_ymm(set, name, slot);
}

void ucir_arch_slots(const struct ucir_arch *arch, const struct ts_regset *set,
		     uint32_t n_gprs, struct ucir_slot slots[UCIR_N_REGS])
{
	char text[16];

	memset(slots, 0, UCIR_N_REGS * sizeof(*slots));
	for (size_t i = 0; i < arch->n_regs; i++) {
		const struct ucir_reg_range *r = &arch->regs[i];

		for (unsigned num = r->first; num <= r->last; num++) {
			slots[num].is_recorded = r->is_recorded;
			fill_slot(set, reg_name(r, num, text), n_gprs, &slots[num]);
		}
	}
	slots[arch->pc].kind = UCIR_SLOT_PC;
}
