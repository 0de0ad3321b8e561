/* SPDX-License-Identifier: MIT */
/*
 * How recorders spell the registers of each family.
 */
#include "trace.h"

#include <stdio.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void add_x86(struct regmap *t, const struct ts_regset *set)
{
	static const char *const ignored[] = { "k_gs_base", "cr0",     "cr2",     "cr3",
					       "cr4",       "cr8",     "efer",    "dflag",
					       "cs_base",   "ds_base", "es_base", "ss_base" };

	regmap_add_x86(t, set);
	regmap_add_other(t, "rip", REGMAP_PC);
	regmap_add_other(t, "eip", REGMAP_PC);
	regmap_add_other(t, "ip", REGMAP_PC);
	for (size_t i = 0; i < COUNT(ignored); i++)
		regmap_add_other(t, ignored[i], REGMAP_IGNORE);
}

/* The condition bits at the top of a cpsr. */
static void add_nzcv(struct regmap *t)
{
	regmap_add_flag(t, "nf", 31, 1);
	regmap_add_flag(t, "zf", 30, 1);
	regmap_add_flag(t, "cf", 29, 1);
	regmap_add_flag(t, "vf", 28, 1);
}

static void add_arm(struct regmap *t, const struct ts_regset *set)
{
	char name[8], reg[8];

	regmap_add_group(t, set, "cpsr", 0x10, 0xf00f0020, "psr");
	add_nzcv(t);
	regmap_add_flag(t, "qf", 27, 1);
	regmap_add_flag(t, "ge", 16, 4);
	regmap_add_alias(t, set, "r13", "sp");
	regmap_add_alias(t, set, "r14", "lr");
	regmap_add_alias(t, set, "sl", "r10");
	regmap_add_alias(t, set, "fp", "r11");
	regmap_add_alias(t, set, "ip", "r12");
	regmap_add_other(t, "r15", REGMAP_PC);
	for (unsigned i = 0; i < 32; i++) {
		snprintf(reg, sizeof(reg), "d%u", i / 2);
		snprintf(name, sizeof(name), "s%u", i);
		regmap_add_part(t, set, name, reg, i % 2 * 4, 4, 0);
	}
	for (unsigned i = 0; i < 16; i++) {
		snprintf(reg, sizeof(reg), "d%u", i * 2);
		if (ts_regset_find(set, reg) >= 0) {
			const struct ts_reg *d = &set->regs[ts_regset_find(set, reg)];
			const struct regmap_slot slot = {
				.kind = REGMAP_REG, .off = d->off, .len = 16, .feature = d->feature
			};

			snprintf(name, sizeof(name), "q%u", i);
			if (!set->arch->is_big_endian)
				regmap_add(t, name, &slot);
		}
	}
}

static void add_aarch64(struct regmap *t, const struct ts_regset *set)
{
	char name[8], reg[8];

	regmap_add_group(t, set, "cpsr", 0, 0xf0000000, "pstate");
	add_nzcv(t);
	for (unsigned i = 0; i < 31; i++) {
		snprintf(reg, sizeof(reg), "x%u", i);
		snprintf(name, sizeof(name), "r%u", i);
		regmap_add_alias(t, set, name, reg);
		snprintf(name, sizeof(name), "w%u", i);
		regmap_add_part(t, set, name, reg, 0, 4, 8);
	}
	regmap_add_alias(t, set, "r31", "sp");
	regmap_add_alias(t, set, "fp", "x29");
	regmap_add_alias(t, set, "lr", "x30");
	for (unsigned i = 0; i < 32; i++) {
		static const char kinds[] = "qdsh";

		snprintf(reg, sizeof(reg), "v%u", i);
		for (unsigned k = 0; k < 4; k++) {
			snprintf(name, sizeof(name), "%c%u", kinds[k], i);
			regmap_add_part(t, set, name, reg, 0, (uint16_t)(16 >> k), k ? 16 : 0);
		}
	}
}

static void add_ppc(struct regmap *t, const struct ts_regset *set)
{
	char name[8];

	regmap_add_group(t, set, "cr", 0, UINT32_MAX, "ccr");
	for (unsigned i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "crf%u", i);
		regmap_add_flag(t, name, (uint8_t)(28 - 4 * i), 4);
	}
	regmap_add_group(t, set, "xer", 0, 0xe0000000, "spr1");
	regmap_add_flag(t, "so", 31, 1);
	regmap_add_flag(t, "ov", 30, 1);
	regmap_add_flag(t, "ca", 29, 1);
	regmap_add_flag(t, "ov32", 19, 1);
	regmap_add_flag(t, "ca32", 18, 1);
	regmap_add_other(t, "nip", REGMAP_PC);
	regmap_add_other(t, "pvr", REGMAP_IGNORE);
}

static void add_mips(struct regmap *t, const struct ts_regset *set)
{
	static const char *const names[] = { "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3",
					     "t0",   "t1", "t2", "t3", "t4", "t5", "t6", "t7",
					     "s0",   "s1", "s2", "s3", "s4", "s5", "s6", "s7",
					     "t8",   "t9", "k0", "k1", "gp", "sp", "s8", "ra" };
	char reg[8];

	for (unsigned i = 0; i < COUNT(names); i++) {
		snprintf(reg, sizeof(reg), "r%u", i);
		regmap_add_alias(t, set, names[i], reg);
	}
	regmap_add_alias(t, set, "r0", "r0");
	regmap_add_alias(t, set, "fp", "r30");
}

static void add_sparc(struct regmap *t, const struct ts_regset *set)
{
	regmap_add_alias(t, set, "o6", "sp");
	regmap_add_alias(t, set, "i6", "fp");
}

static void add_m68k(struct regmap *t, const struct ts_regset *set)
{
	regmap_add_alias(t, set, "a6", "fp");
	regmap_add_alias(t, set, "a7", "sp");
	regmap_add_alias(t, set, "sr", "ps");
}

static bool is_family(const struct ts_regset *set, const char *prefix)
{
	return strncmp(set->arch->name, prefix, strlen(prefix)) == 0;
}

void bap_names_init(struct regmap *t, const struct ts_regset *set, bool is_snapshot)
{
	/* as Pin's old recorder spells them, too */
	static const struct regmap_form forms[] = {
		{ "", "" }, { "r_", "" }, { "r_", "_32" }, { "r_", "_64" }, { NULL, NULL }
	};

	regmap_init(t, forms);
	regmap_add_other(t, set->regs[set->pc].name, REGMAP_PC);
	if (is_snapshot && (is_family(set, "x86") || is_family(set, "i386") || is_family(set, "i8086")))
		regmap_add_other(t, "eflags", REGMAP_IGNORE);
	if (is_family(set, "x86") || is_family(set, "i386") || is_family(set, "i8086"))
		add_x86(t, set);
	else if (is_family(set, "arm"))
		add_arm(t, set);
	else if (is_family(set, "aarch64"))
		add_aarch64(t, set);
	else if (is_family(set, "ppc"))
		add_ppc(t, set);
	else if (is_family(set, "mips"))
		add_mips(t, set);
	else if (is_family(set, "sparc"))
		add_sparc(t, set);
	else if (is_family(set, "m68k"))
		add_m68k(t, set);
	regmap_add_set(t, set);
}
