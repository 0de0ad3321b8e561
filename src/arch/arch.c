/* SPDX-License-Identifier: MIT */
/*
 * Finding architectures, and laying out register sets as gdb does: registers in ascending order of their
 * numbers, packed without gaps.  The tables are in the files of the families (families.h).
 */
#include "arch.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "families.h"
#include "src/base/error.h"
#include "src/base/text/suffix.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* More than any machine has; a description with more is not one. */
#define MAX_G_LEN (1u << 20)

static const struct ts_arch *const all[] = {
	&ts_arch_x86_64,   &ts_arch_i386,       &ts_arch_i8086,   &ts_arch_arm,     &ts_arch_armeb,
	&ts_arch_aarch64,  &ts_arch_aarch64_be, &ts_arch_mips,    &ts_arch_mipsel,  &ts_arch_mips64,
	&ts_arch_mips64el, &ts_arch_sparc,      &ts_arch_sparc64, &ts_arch_m68k,    &ts_arch_ppc,
	&ts_arch_ppc64,    &ts_arch_ppc64le,    &ts_arch_riscv32, &ts_arch_riscv64,
	&ts_arch_s390,     &ts_arch_s390x,
};

/* Other names; gdb's own are known from the tables. */
static const struct {
	const char *name;
	const struct ts_arch *arch;
} aliases[] = {
	{ "amd64", &ts_arch_x86_64 },
	{ "x86-64", &ts_arch_x86_64 },
	{ "x64", &ts_arch_x86_64 },
	{ "x86", &ts_arch_i386 },
	{ "x86_32", &ts_arch_i386 },
	{ "i486", &ts_arch_i386 },
	{ "i586", &ts_arch_i386 },
	{ "i686", &ts_arch_i386 },
	{ "x86_16", &ts_arch_i8086 },
	{ "armel", &ts_arch_arm },
	{ "armhf", &ts_arch_arm },
	{ "arm64", &ts_arch_aarch64 },
	{ "aarch64be", &ts_arch_aarch64_be },
	{ "arm64be", &ts_arch_aarch64_be },
	{ "mipseb", &ts_arch_mips },
	{ "mipsle", &ts_arch_mipsel },
	{ "mips64eb", &ts_arch_mips64 },
	{ "mips64le", &ts_arch_mips64el },
	{ "mips:isa64", &ts_arch_mips64 },
	{ "mips:isa64r2", &ts_arch_mips64 },
	{ "sparc32", &ts_arch_sparc },
	{ "sparcv9", &ts_arch_sparc64 },
	{ "powerpc", &ts_arch_ppc },
	{ "ppc32", &ts_arch_ppc },
	{ "powerpc64", &ts_arch_ppc64 },
	{ "powerpc64le", &ts_arch_ppc64le },
	{ "ppc64el", &ts_arch_ppc64le },
	{ "rv32", &ts_arch_riscv32 },
	{ "rv64", &ts_arch_riscv64 },
};

const struct ts_arch *const *ts_arch_all(unsigned *n)
{
	*n = COUNT(all);
	return all;
}

const struct ts_arch *ts_arch_find(const char *name)
{
	for (size_t i = 0; i < COUNT(all); i++)
		if (strcasecmp(all[i]->name, name) == 0)
			return all[i];
	for (size_t i = 0; i < COUNT(aliases); i++)
		if (strcasecmp(aliases[i].name, name) == 0)
			return aliases[i].arch;
	for (size_t i = 0; i < COUNT(all); i++)
		if (strcasecmp(all[i]->gdb_name, name) == 0)
			return all[i];
	return NULL;
}

const struct ts_arch *ts_arch_in_order(const struct ts_arch *arch, bool is_big_endian)
{
	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i]->is_big_endian == is_big_endian && strcmp(all[i]->gdb_name, arch->gdb_name) == 0)
			return all[i];
	return NULL;
}

int ts_arch_feature(const struct ts_arch *arch, const char *name)
{
	for (unsigned i = 0; i < arch->n_features; i++)
		if (strcmp(arch->features[i].name, name) == 0)
			return (int)i;
	return -1;
}

uint32_t ts_arch_features(const struct ts_arch *arch, const char *const *names, size_t n)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < n; i++) {
		int ordinal = ts_arch_feature(arch, names[i]);

		if (ordinal >= 0)
			mask |= 1u << ordinal;
	}
	return mask;
}

int ts_arch_feature_with(const struct ts_arch *arch, const char *reg)
{
	for (unsigned i = 0; i < arch->n_features; i++)
		for (unsigned j = 0; j < arch->features[i].n_regs; j++)
			if (strcmp(arch->features[i].regs[j].name, reg) == 0)
				return (int)i;
	return -1;
}

uint32_t ts_arch_os_features(const struct ts_arch *arch, const char *osabi)
{
	uint32_t features = 0;

	if (!osabi || strcmp(osabi, "GNU/Linux") != 0)
		return 0;
	for (unsigned i = 0; i < arch->n_features; i++) {
		if (ts_has_suffix(arch->features[i].name, ".linux"))
			features |= UINT32_C(1) << i;
	}
	return features;
}

const struct ts_reg_def *ts_arch_pc(const struct ts_arch *arch)
{
	for (unsigned i = 0; i < arch->n_features; i++)
		for (unsigned j = 0; j < arch->features[i].n_regs; j++)
			if (arch->features[i].regs[j].role == TS_ROLE_PC)
				return &arch->features[i].regs[j];
	assert(!"an architecture without a program counter");
	return NULL;
}

const struct ts_feature_def *ts_regset_next_feature(const struct ts_regset *set, unsigned *at)
{
	if (set->own)
		return *at < set->n_own ? &set->own[(*at)++] : NULL;
	while (*at < set->arch->n_features) {
		unsigned i = (*at)++;

		if (set->features >> i & 1)
			return &set->arch->features[i];
	}
	return NULL;
}

/* The role that @arch gives a register of that name. */
static enum ts_role role_of(const struct ts_arch *arch, const char *name)
{
	for (unsigned i = 0; i < arch->n_features; i++) {
		const struct ts_feature_def *f = &arch->features[i];

		for (unsigned j = 0; j < f->n_regs; j++)
			if (strcasecmp(f->regs[j].name, name) == 0)
				return f->regs[j].role;
	}
	return TS_ROLE_NONE;
}

static void fill_regs(struct ts_regset *set)
{
	const struct ts_feature_def *f;
	uint32_t next = 0;
	unsigned at = 0;

	while ((f = ts_regset_next_feature(set, &at)))
		for (unsigned j = 0; j < f->n_regs; j++) {
			const struct ts_reg_def *def = &f->regs[j];
			uint32_t num = def->regnum < 0 ? next : (uint32_t)def->regnum;

			set->regs[set->n_regs++] = (struct ts_reg){
				.name = def->name,
				.bits = def->bits,
				.len = (uint16_t)((def->bits + 7) / 8),
				.regnum = num,
				.feature = (uint16_t)(at - 1),
				.role = set->own ? role_of(set->arch, def->name) : def->role,
			};
			next = num + 1;
		}
}

static int by_regnum(const void *a, const void *b)
{
	uint32_t x = ((const struct ts_reg *)a)->regnum, y = ((const struct ts_reg *)b)->regnum;

	return x < y ? -1 : x > y;
}

/* Give each register its place in a 'g' packet, and remember where those with a role are. */
static bool place_regs(struct ts_regset *set, struct ts_error *err)
{
	uint64_t off = 0;

	qsort(set->regs, set->n_regs, sizeof(*set->regs), by_regnum);
	for (unsigned i = 0; i < set->n_regs; i++) {
		struct ts_reg *r = &set->regs[i];

		if (i && r->regnum == r[-1].regnum)
			return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "registers %s and %s both have number %u",
				       r[-1].name, r->name, (unsigned)r->regnum);
		if (off + r->len > MAX_G_LEN)
			return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "%u registers of more than %u bytes",
				       set->n_regs, MAX_G_LEN);
		r->off = (uint32_t)off;
		off += r->len;
		switch (r->role) {
		case TS_ROLE_NONE:
		case TS_ROLE_RESTART: break;
		case TS_ROLE_PC: set->pc = (int)i; break;
		case TS_ROLE_SP: set->sp = (int)i; break;
		case TS_ROLE_FP: set->fp = (int)i; break;
		case TS_ROLE_FLAGS: set->flags = (int)i; break;
		}
	}
	set->g_len = (uint32_t)off;
	if (set->pc < 0)
		return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "no register is the program counter of %s",
			       set->arch->name);
	return true;
}

/* Lay out the features that the set says it has. */
static bool lay_out(struct ts_regset *set, struct ts_error *err)
{
	const struct ts_feature_def *f;
	size_t n_regs = 0;
	unsigned at = 0;

	set->pc = set->sp = set->fp = set->flags = -1;
	while ((f = ts_regset_next_feature(set, &at)))
		n_regs += f->n_regs;
	set->regs = calloc(n_regs ? n_regs : 1, sizeof(*set->regs));
	if (!set->regs)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for %zu registers", n_regs);
	fill_regs(set);
	return place_regs(set, err);
}

bool ts_regset_init(struct ts_regset *set, const struct ts_arch *arch, uint32_t features,
		    struct ts_error *err)
{
	*set = (struct ts_regset){ .arch = arch, .gdb_name = arch->gdb_name };
	for (unsigned i = arch->n_features; i--;) {
		const struct ts_feature_def *f = &arch->features[i];

		assert(f->needs >> i == 0);
		if (!f->is_optional || features >> i & 1) {
			set->features |= 1u << i;
			features |= f->needs;
		}
	}
	if (lay_out(set, err))
		return true;
	ts_regset_fini(set);
	return false;
}

bool ts_regset_init_own(struct ts_regset *set, const struct ts_arch *arch, const char *gdb_name,
			const char *osabi, const struct ts_feature_def *own, unsigned n_own,
			struct ts_arena *arena, struct ts_error *err)
{
	*set = (struct ts_regset){ .arch = arch,
				   .gdb_name = gdb_name,
				   .osabi = osabi,
				   .own = own,
				   .n_own = n_own,
				   .arena = *arena };
	*arena = (struct ts_arena){ 0 };
	for (unsigned i = 0; i < n_own; i++) {
		int ordinal = ts_arch_feature(arch, own[i].name);

		if (ordinal >= 0)
			set->features |= 1u << ordinal;
	}
	if (lay_out(set, err))
		return true;
	ts_regset_fini(set);
	return false;
}

void ts_regset_fini(struct ts_regset *set)
{
	free(set->regs);
	ts_arena_fini(&set->arena);
	*set = (struct ts_regset){ 0 };
}

int ts_regset_find(const struct ts_regset *set, const char *name)
{
	for (unsigned i = 0; i < set->n_regs; i++)
		if (set->regs[i].name[0] == name[0] && strcmp(set->regs[i].name, name) == 0)
			return (int)i;
	return -1;
}

const struct ts_reg *ts_regset_at(const struct ts_regset *set, uint64_t off)
{
	for (unsigned i = 0; i < set->n_regs; i++) {
		if (off - set->regs[i].off < set->regs[i].len)
			return &set->regs[i];
	}
	return NULL;
}

int ts_regset_by_num(const struct ts_regset *set, uint32_t regnum)
{
	struct ts_reg key = { .regnum = regnum };
	const struct ts_reg *r = bsearch(&key, set->regs, set->n_regs, sizeof(key), by_regnum);

	return r ? (int)(r - set->regs) : -1;
}

uint64_t ts_arch_get(const struct ts_arch *arch, const uint8_t *bytes, size_t len)
{
	uint64_t val = 0;

	assert(len <= 8);
	if (len == 8) { /* nearly all: addresses and registers */
		memcpy(&val, bytes, 8);
		return arch->is_big_endian ? be64toh(val) : le64toh(val);
	}
	for (size_t i = 0; i < len; i++)
		val = val << 8 | bytes[arch->is_big_endian ? i : len - 1 - i];
	return val;
}

void ts_arch_put(const struct ts_arch *arch, uint8_t *bytes, size_t len, uint64_t val)
{
	assert(len <= 8);
	if (len == 8) {
		val = arch->is_big_endian ? htobe64(val) : htole64(val);
		memcpy(bytes, &val, 8);
		return;
	}
	for (size_t i = 0; i < len; i++) {
		bytes[arch->is_big_endian ? len - 1 - i : i] = (uint8_t)val;
		val >>= 8;
	}
}

uint64_t ts_arch_wide_addr(const struct ts_arch *arch, uint64_t addr)
{
	uint64_t sign = UINT64_C(1) << (arch->addr_bits - 1);

	return arch->has_signed_addrs ? (addr ^ sign) - sign : addr;
}

uint64_t ts_arch_addr_mask(const struct ts_arch *arch)
{
	return UINT64_MAX >> (64 - arch->addr_bits);
}
