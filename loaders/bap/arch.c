/* SPDX-License-Identifier: MIT */
/*
 * The tables of machines and of register names.
 *
 * Recorders call a register what their emulator, Pin, or gdb calls it: "RAX", "R_EAX_32", "R31".  All
 * spellings that are known go into one table of names when a trace is opened; case does not count.
 */
#include "arch.h"

#include <assert.h>
#include <stdio.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* By number. */
static const char *const arch_names[] = {
	"unknown", "obscure", "m68k",  "vax",     "i960",       "or32",    "sparc",     "spu",
	"mips",    "i386",    "l1om",  "we32k",   "tahoe",      "i860",    "i370",      "romp",
	"convex",  "m88k",    "m98k",  "pyramid", "h8300",      "pdp11",   "plugin",    "powerpc",
	"rs6000",  "hppa",    "d10v",  "d30v",    "dlx",        "m68hc11", "m68hc12",   "z8k",
	"h8500",   "sh",      "alpha", "arm",     "ns32k",      "w65",     "tic30",     "tic4x",
	"tic54x",  "tic6x",   "tic80", "v850",    "arc",        "m32c",    "m32r",      "mn10200",
	"mn10300", "fr30",    "frv",   "moxie",   "mcore",      "mep",     "ia64",      "ip2k",
	"iq2000",  "mt",      "pj",    "avr",     "bfin",       "cr16",    "cr16c",     "crx",
	"cris",    "rx",      "s390",  "score",   "openrisc",   "mmix",    "xstormy16", "msp430",
	"xc16x",   "xtensa",  "z80",   "lm32",    "microblaze", "6502",    "aarch64",   "8051",
	"sm83",    "hexagon",
};

/* Machines of the model; the first line that fits counts. */
static const struct {
	uint16_t arch;
	uint64_t first, last; /* machine numbers */
	const char *model;
	bool is_order_open;
} machines[] = {
	{ BAP_ARCH_X86, 64, 65, "x86_64", false },
	{ BAP_ARCH_X86, BAP_I8086, BAP_I8086, "i8086", false },
	{ BAP_ARCH_X86, 0, UINT64_MAX, "i386", false },
	{ BAP_ARCH_ARM, 0, UINT64_MAX, "arm", true },
	{ BAP_ARCH_AARCH64, 0, UINT64_MAX, "aarch64", true },
	{ BAP_ARCH_MIPS, 64, 95, "mips64", true },
	{ BAP_ARCH_MIPS, 4000, 4000, "mips64", true },
	{ BAP_ARCH_MIPS, 0, UINT64_MAX, "mips", true },
	{ BAP_ARCH_POWERPC, 64, 64, "ppc64", true },
	{ BAP_ARCH_POWERPC, 0, UINT64_MAX, "ppc", false },
	{ BAP_ARCH_RS6000, 0, UINT64_MAX, "ppc", false },
	{ BAP_ARCH_S390, 64, 64, "s390x", false },
	{ BAP_ARCH_S390, 0, UINT64_MAX, "s390", false },
	{ BAP_ARCH_SPARC, 7, 8, "sparc64", false },
	{ BAP_ARCH_SPARC, 10, 10, "sparc64", false },
	{ BAP_ARCH_SPARC, 0, UINT64_MAX, "sparc", false },
	{ BAP_ARCH_M68K, 0, UINT64_MAX, "m68k", false },
};

const char *bap_arch_name(uint64_t number)
{
	return number < COUNT(arch_names) ? arch_names[number] : NULL;
}

/* gdb's names of machines, by their number from the first one on. */
struct gdb_names {
	uint16_t arch;
	uint64_t first;
	const char *names[32];
};

static const struct gdb_names gdb_names[] = {
	{ BAP_ARCH_M68K,
	  1,
	  { "m68k:68000",
	    "m68k:68008",
	    "m68k:68010",
	    "m68k:68020",
	    "m68k:68030",
	    "m68k:68040",
	    "m68k:68060",
	    "m68k:cpu32",
	    "m68k:fido",
	    "m68k:isa-a:nodiv",
	    "m68k:isa-a",
	    "m68k:isa-a:mac",
	    "m68k:isa-a:emac",
	    "m68k:isa-aplus",
	    "m68k:isa-aplus:mac",
	    "m68k:isa-aplus:emac",
	    "m68k:isa-b:nousp",
	    "m68k:isa-b:nousp:mac",
	    "m68k:isa-b:nousp:emac",
	    "m68k:isa-b",
	    "m68k:isa-b:mac",
	    "m68k:isa-b:emac",
	    "m68k:isa-b:float",
	    "m68k:isa-b:float:mac",
	    "m68k:isa-b:float:emac",
	    "m68k:isa-c",
	    "m68k:isa-c:mac",
	    "m68k:isa-c:emac",
	    "m68k:isa-c:nodiv",
	    "m68k:isa-c:nodiv:mac",
	    "m68k:isa-c:nodiv:emac" } },
	{ BAP_ARCH_SPARC,
	  4,
	  { "sparc:v8plus", "sparc:v8plusa", NULL, "sparc:v9", "sparc:v9a", "sparc:v8plusb", "sparc:v9b" } },
	{ BAP_ARCH_MIPS, 32, { "mips:isa32", "mips:isa32r2" } },
	{ BAP_ARCH_MIPS, 64, { "mips:isa64", "mips:isa64r2" } },
	{ BAP_ARCH_MIPS, 3000, { "mips:3000" } },
	{ BAP_ARCH_MIPS, 4000, { "mips:4000" } },
	{ BAP_ARCH_X86, 3, { "i386:intel" } },
	{ BAP_ARCH_X86, 65, { "i386:x86-64:intel" } },
	{ BAP_ARCH_RS6000, 0, { "rs6000:6000" } },
	{ BAP_ARCH_RS6000, 6000, { "rs6000:6000" } },
	{ BAP_ARCH_ARM, 5, { "armv4", "armv4t", "armv5", "armv5t", "armv5te", "xscale" } },
};

const char *bap_arch_gdb_name(uint64_t number, uint64_t machine)
{
	for (size_t i = 0; i < COUNT(gdb_names); i++) {
		const struct gdb_names *g = &gdb_names[i];

		if (g->arch == number && machine >= g->first && machine - g->first < COUNT(g->names) &&
		    g->names[machine - g->first])
			return g->names[machine - g->first];
	}
	return NULL;
}

const struct ts_arch *bap_arch_model(uint64_t number, uint64_t machine, bool *is_order_open)
{
	*is_order_open = false;
	for (size_t i = 0; i < COUNT(machines); i++) {
		if (machines[i].arch != number || machine < machines[i].first || machine > machines[i].last)
			continue;
		*is_order_open = machines[i].is_order_open;
		return ts_arch_find(machines[i].model);
	}
	return NULL;
}

/* -------------------------------------------------------------------------------------------------- names */

static void add_key(struct bap_names *t, const char *name, const struct bap_slot *slot)
{
	uint8_t bytes[BAP_MAX_NAME] = { 0 };
	size_t len = strlen(name);
	uint64_t key[2];

	if (len > BAP_MAX_NAME)
		return;
	memcpy(bytes, name, len);
	bap_name_key(bytes, len, key);
	for (uint32_t i = bap_name_hash(key);; i++) {
		struct bap_slot *s = &t->slots[i % BAP_N_SLOTS];

		if (s->kind != BAP_SLOT_NONE && (s->key[0] != key[0] || s->key[1] != key[1]))
			continue;
		if (s->kind == BAP_SLOT_NONE) {
			*s = *slot;
			memcpy(s->key, key, sizeof(key));
		}
		return;
	}
}

/* A name and the spellings that Pin's old recorder makes of it.  The first to claim a name has it. */
static void add(struct bap_names *t, const char *name, const struct bap_slot *slot)
{
	static const char *const forms[] = { "%s", "r_%s", "r_%s_32", "r_%s_64" };
	char text[32];

	for (size_t i = 0; i < COUNT(forms); i++) {
		snprintf(text, sizeof(text), forms[i], name);
		add_key(t, text, slot);
	}
}

/* The @len bytes from byte @at (0: the lowest) of a register of the set, if it is there, under another name.
 */
static void add_part(struct bap_names *t, const struct ts_regset *set, const char *name, const char *reg,
		     uint16_t at, uint16_t len, uint16_t extend)
{
	int i = ts_regset_find(set, reg);
	struct bap_slot slot = { .kind = BAP_SLOT_REG, .len = len, .extend = extend };
	const struct ts_reg *r;

	if (i < 0)
		return;
	r = &set->regs[i];
	if (!slot.len)
		slot.len = r->len;
	if (at + slot.len > r->len)
		return;
	slot.off = r->off + (set->arch->is_big_endian ? r->len - at - slot.len : at);
	slot.feature = r->feature;
	add(t, name, &slot);
}

static void add_alias(struct bap_names *t, const struct ts_regset *set, const char *name, const char *reg)
{
	add_part(t, set, name, reg, 0, 0, 0);
}

static void add_other(struct bap_names *t, const char *name, enum bap_slot_kind kind)
{
	const struct bap_slot slot = { .kind = kind };

	add(t, name, &slot);
}

/* A flag of the group that was added last. */
static void add_flag(struct bap_names *t, const char *name, uint8_t shift, uint8_t bits)
{
	const struct bap_slot slot = {
		.kind = BAP_SLOT_FLAG,
		.off = t->flags[t->n_flags - 1].off,
		.shift = shift,
		.mask = ((UINT32_C(1) << bits) - 1) << shift,
		.group = (uint8_t)(t->n_flags - 1),
	};

	add(t, name, &slot);
}

/* A register that is logged in bits; @names are those under which it comes whole. */
static void add_group(struct bap_names *t, const struct ts_regset *set, const char *reg, uint32_t usual,
		      uint32_t need, const char *name)
{
	const struct ts_reg *r = &set->regs[ts_regset_find(set, reg)];
	const struct bap_slot slot = {
		.kind = BAP_SLOT_FLAGS,
		.off = r->off,
		.len = r->len,
		.group = (uint8_t)t->n_flags,
		.feature = r->feature,
	};

	assert(r->len <= 4 && t->n_flags < BAP_MAX_FLAGS);
	t->flags[t->n_flags++] = (struct bap_flags){ r->off, r->len, usual, need };
	add(t, reg, &slot);
	add(t, name, &slot);
}

/* ----------------------------------------------------------------------------------------------- families */

static void add_x86_flags(struct bap_names *t, const struct ts_regset *set)
{
	static const struct {
		const char *name;
		uint8_t bit;
	} flags[] = { { "cf", 0 },  { "pf", 2 },  { "af", 4 },  { "zf", 6 },  { "sf", 7 },
		      { "tf", 8 },  { "if", 9 },  { "df", 10 }, { "of", 11 }, { "nt", 14 },
		      { "rf", 16 }, { "vm", 17 }, { "ac", 18 } };

	add_group(t, set, "eflags", 0x202, 0x8d5, "rflags");
	for (size_t i = 0; i < COUNT(flags); i++)
		add_flag(t, flags[i].name, flags[i].bit, 1);
}

/* ymm: an xmm and what lies above it. */
static void add_ymm(struct bap_names *t, const struct ts_regset *set)
{
	for (unsigned i = 0; i < 16; i++) {
		char low[8], high[8], name[8];
		struct bap_slot slot = { .kind = BAP_SLOT_REG, .len = 32 };
		int x, y;

		snprintf(low, sizeof(low), "xmm%u", i);
		snprintf(high, sizeof(high), "ymm%uh", i);
		snprintf(name, sizeof(name), "ymm%u", i);
		x = ts_regset_find(set, low);
		y = ts_regset_find(set, high);
		if (x < 0 || y < 0)
			return;
		slot.off = set->regs[x].off;
		slot.off_high = set->regs[y].off;
		slot.feature = set->regs[y].feature;
		add(t, name, &slot);
	}
}

static void add_x86(struct bap_names *t, const struct ts_regset *set)
{
	static const char letters[] = "abcd";
	static const char *const rest[] = { "si", "di", "bp", "sp" };
	static const char *const ignored[] = { "k_gs_base", "cr0",     "cr2",     "cr3",
					       "cr4",       "cr8",     "efer",    "dflag",
					       "cs_base",   "ds_base", "es_base", "ss_base" };
	bool is_64 = set->arch->addr_bits == 64;
	uint16_t extend = is_64 ? 8 : 0;
	char reg[8], name[8];

	add_x86_flags(t, set);
	for (unsigned i = 0; i < 4; i++) {
		snprintf(reg, sizeof(reg), "%c%cx", is_64 ? 'r' : 'e', letters[i]);
		snprintf(name, sizeof(name), "e%cx", letters[i]);
		add_part(t, set, name, reg, 0, 4, extend);
		add_part(t, set, name + 1, reg, 0, 2, 0);
		snprintf(name, sizeof(name), "%cl", letters[i]);
		add_part(t, set, name, reg, 0, 1, 0);
		snprintf(name, sizeof(name), "%ch", letters[i]);
		add_part(t, set, name, reg, 1, 1, 0);
		snprintf(reg, sizeof(reg), "%c%s", is_64 ? 'r' : 'e', rest[i]);
		snprintf(name, sizeof(name), "e%s", rest[i]);
		add_part(t, set, name, reg, 0, 4, extend);
		add_part(t, set, rest[i], reg, 0, 2, 0);
		snprintf(name, sizeof(name), "%sl", rest[i]);
		add_part(t, set, name, reg, 0, 1, 0);
	}
	for (unsigned i = 8; i < 16; i++) {
		snprintf(reg, sizeof(reg), "r%u", i);
		snprintf(name, sizeof(name), "r%ud", i);
		add_part(t, set, name, reg, 0, 4, 8);
		snprintf(name, sizeof(name), "r%uw", i);
		add_part(t, set, name, reg, 0, 2, 0);
		snprintf(name, sizeof(name), "r%ub", i);
		add_part(t, set, name, reg, 0, 1, 0);
	}
	add_ymm(t, set);
	add_other(t, "rip", BAP_SLOT_PC);
	add_other(t, "eip", BAP_SLOT_PC);
	add_other(t, "ip", BAP_SLOT_PC);
	for (size_t i = 0; i < COUNT(ignored); i++)
		add_other(t, ignored[i], BAP_SLOT_IGNORE);
}

/* The condition bits at the top of a cpsr. */
static void add_nzcv(struct bap_names *t)
{
	add_flag(t, "nf", 31, 1);
	add_flag(t, "zf", 30, 1);
	add_flag(t, "cf", 29, 1);
	add_flag(t, "vf", 28, 1);
}

static void add_arm(struct bap_names *t, const struct ts_regset *set)
{
	char name[8], reg[8];

	add_group(t, set, "cpsr", 0x10, 0xf00f0020, "psr");
	add_nzcv(t);
	add_flag(t, "qf", 27, 1);
	add_flag(t, "ge", 16, 4);
	add_alias(t, set, "r13", "sp");
	add_alias(t, set, "r14", "lr");
	add_alias(t, set, "sl", "r10");
	add_alias(t, set, "fp", "r11");
	add_alias(t, set, "ip", "r12");
	add_other(t, "r15", BAP_SLOT_PC);
	for (unsigned i = 0; i < 32; i++) {
		snprintf(reg, sizeof(reg), "d%u", i / 2);
		snprintf(name, sizeof(name), "s%u", i);
		add_part(t, set, name, reg, i % 2 * 4, 4, 0);
	}
	for (unsigned i = 0; i < 16; i++) {
		snprintf(reg, sizeof(reg), "d%u", i * 2);
		if (ts_regset_find(set, reg) >= 0) {
			const struct ts_reg *d = &set->regs[ts_regset_find(set, reg)];
			const struct bap_slot slot = {
				.kind = BAP_SLOT_REG, .off = d->off, .len = 16, .feature = d->feature
			};

			snprintf(name, sizeof(name), "q%u", i);
			if (!set->arch->is_big_endian)
				add(t, name, &slot);
		}
	}
}

static void add_aarch64(struct bap_names *t, const struct ts_regset *set)
{
	char name[8], reg[8];

	add_group(t, set, "cpsr", 0, 0xf0000000, "pstate");
	add_nzcv(t);
	for (unsigned i = 0; i < 31; i++) {
		snprintf(reg, sizeof(reg), "x%u", i);
		snprintf(name, sizeof(name), "r%u", i);
		add_alias(t, set, name, reg);
		snprintf(name, sizeof(name), "w%u", i);
		add_part(t, set, name, reg, 0, 4, 8);
	}
	add_alias(t, set, "r31", "sp");
	add_alias(t, set, "fp", "x29");
	add_alias(t, set, "lr", "x30");
	for (unsigned i = 0; i < 32; i++) {
		static const char kinds[] = "qdsh";

		snprintf(reg, sizeof(reg), "v%u", i);
		for (unsigned k = 0; k < 4; k++) {
			snprintf(name, sizeof(name), "%c%u", kinds[k], i);
			add_part(t, set, name, reg, 0, (uint16_t)(16 >> k), k ? 16 : 0);
		}
	}
}

static void add_ppc(struct bap_names *t, const struct ts_regset *set)
{
	char name[8];

	add_group(t, set, "cr", 0, UINT32_MAX, "ccr");
	for (unsigned i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "crf%u", i);
		add_flag(t, name, (uint8_t)(28 - 4 * i), 4);
	}
	add_group(t, set, "xer", 0, 0xe0000000, "spr1");
	add_flag(t, "so", 31, 1);
	add_flag(t, "ov", 30, 1);
	add_flag(t, "ca", 29, 1);
	add_flag(t, "ov32", 19, 1);
	add_flag(t, "ca32", 18, 1);
	add_other(t, "nip", BAP_SLOT_PC);
	add_other(t, "pvr", BAP_SLOT_IGNORE);
}

static void add_mips(struct bap_names *t, const struct ts_regset *set)
{
	static const char *const names[] = { "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3",
					     "t0",   "t1", "t2", "t3", "t4", "t5", "t6", "t7",
					     "s0",   "s1", "s2", "s3", "s4", "s5", "s6", "s7",
					     "t8",   "t9", "k0", "k1", "gp", "sp", "s8", "ra" };
	char reg[8];

	for (unsigned i = 0; i < COUNT(names); i++) {
		snprintf(reg, sizeof(reg), "r%u", i);
		add_alias(t, set, names[i], reg);
	}
	add_alias(t, set, "r0", "r0");
	add_alias(t, set, "fp", "r30");
}

static void add_sparc(struct bap_names *t, const struct ts_regset *set)
{
	add_alias(t, set, "o6", "sp");
	add_alias(t, set, "i6", "fp");
}

static void add_m68k(struct bap_names *t, const struct ts_regset *set)
{
	add_alias(t, set, "a6", "fp");
	add_alias(t, set, "a7", "sp");
	add_alias(t, set, "sr", "ps");
}

static bool is_family(const struct ts_regset *set, const char *prefix)
{
	return strncmp(set->arch->name, prefix, strlen(prefix)) == 0;
}

void bap_names_init(struct bap_names *t, const struct ts_regset *set, bool is_snapshot)
{
	memset(t, 0, sizeof(*t));
	add_other(t, set->regs[set->pc].name, BAP_SLOT_PC);
	if (is_snapshot && (is_family(set, "x86") || is_family(set, "i386") || is_family(set, "i8086")))
		add_other(t, "eflags", BAP_SLOT_IGNORE);
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
	for (unsigned i = 0; i < set->n_regs; i++)
		add_alias(t, set, set->regs[i].name, set->regs[i].name);
}

uint32_t bap_names_features(const struct bap_names *t)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < BAP_N_SLOTS; i++)
		if (t->slots[i].kind == BAP_SLOT_REG || t->slots[i].kind == BAP_SLOT_FLAGS)
			mask |= 1u << t->slots[i].feature;
	return mask;
}
