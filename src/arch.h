/* SPDX-License-Identifier: MIT */
/*
 * Architectures and register sets.
 *
 * An architecture is a constant table: its features as in gdb's standard target descriptions (org.gnu.gdb.*), each feature a
 * list of registers with gdb's names, widths, types and order.  A register set is what one recording offers: the mandatory
 * features of its architecture and those optional ones that the trace has values for, laid out as in gdb's 'g' packet.
 * Loaders choose a set, the model stores register state in its layout (target byte order), the protocol sends that layout.
 */
#ifndef TS_ARCH_H
#define TS_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_error;

/* What a register is for, where the model or the protocol must know. */
enum ts_role {
	TS_ROLE_NONE,
	TS_ROLE_PC,
	TS_ROLE_SP,
	TS_ROLE_FP,
	TS_ROLE_FLAGS,
};

/* One register of a feature, as gdb's feature files have it. */
struct ts_reg_def {
	const char *name;  /* gdb's name */
	uint16_t bits;     /* width */
	int16_t regnum;    /* explicit gdb number, or -1: one after the previous */
	const char *type;  /* tdesc type: "int64", "code_ptr", "i387_ext", ... */
	const char *group; /* "general", "float", "vector", "system", or NULL */
	enum ts_role role;
};

/* A feature: a named group of registers that gdb accepts or rejects as a whole. */
struct ts_feature_def {
	const char *name;              /* "org.gnu.gdb.i386.core" */
	bool is_optional;              /* false: gdb rejects the description without it */
	const struct ts_reg_def *regs;
	unsigned n_regs;
	/* types that the feature declares before its registers (flags, vectors, unions); see tdesc.h */
	const struct ts_type_def *types;
	unsigned n_types;
};

/* An architecture in one byte order. */
struct ts_arch {
	const char *name;     /* ours: "x86_64", "i386", "arm", "armeb", "aarch64", "mips", "mipsel", "mips64", "mips64el", ... */
	const char *gdb_name; /* for <architecture>: "i386:x86-64" */
	bool is_big_endian;   /* data */
	uint8_t addr_bits;    /* width of an address: 32 or 64 */
	uint8_t min_insn_len; /* shortest instruction in bytes; addresses of instructions are multiples of it where is_aligned */
	bool is_fixed_insn;   /* every instruction has min_insn_len bytes */
	const struct ts_feature_def *features;
	unsigned n_features;  /* at most 32: a feature set is a bit mask */
};

/* One register of a register set, placed. */
struct ts_reg {
	const char *name;    /* borrowed from the definition, or from the set's own description */
	uint16_t bits;
	uint16_t len;        /* bytes in the 'g' packet */
	uint32_t off;        /* byte offset in the 'g' packet */
	uint32_t regnum;     /* gdb's protocol number */
	uint16_t feature;    /* ordinal of its feature */
	enum ts_role role;
};

/* The registers that a recording offers.  Constant once made. */
struct ts_regset {
	const struct ts_arch *arch; /* borrowed: a constant table */
	uint32_t features;          /* bit i: feature i of the architecture is present */
	struct ts_reg *regs;        /* owned; ascending regnum and offset */
	unsigned n_regs;
	uint32_t g_len;             /* bytes of a 'g' packet's registers */
	int pc, sp, fp, flags;      /* indices into regs, -1 where there is none (pc always is) */
};

/*
 * Find an architecture by tracestub's name or by one of its aliases ("amd64", "arm64", "i386:x86-64", ...).
 *
 * Returns the table, NULL if the name is unknown.
 */
const struct ts_arch *ts_arch_find(const char *name);

/* All architectures in a fixed order; *n gets their count. */
const struct ts_arch *const *ts_arch_all(unsigned *n);

/*
 * Make the register set of an architecture.
 *
 * @features names optional features as a mask of ordinals; the mandatory ones are always there.
 *
 * On success @set owns its memory, to be given back with ts_regset_fini().
 * Returns false if memory is exhausted (TS_ENOMEM in @err).
 */
bool ts_regset_init(struct ts_regset *set, const struct ts_arch *arch, uint32_t features, struct ts_error *err);
void ts_regset_fini(struct ts_regset *set);

/* Ordinal of the feature @name in @arch for the mask above, -1 if it has none of that name. */
int ts_arch_feature(const struct ts_arch *arch, const char *name);

/* Index into set->regs of the register called @name, -1 if there is none. */
int ts_regset_find(const struct ts_regset *set, const char *name);

/* Index into set->regs of gdb's register number @regnum, -1 if there is none. */
int ts_regset_by_num(const struct ts_regset *set, uint32_t regnum);

/* Read @len (at most 8) bytes in the architecture's byte order as a number, and the reverse (low @len bytes of @val). */
uint64_t ts_arch_get(const struct ts_arch *arch, const uint8_t *bytes, size_t len);
void ts_arch_put(const struct ts_arch *arch, uint8_t *bytes, size_t len, uint64_t val);

/* The bits of an address that count: all ones of the address width. */
uint64_t ts_arch_addr_mask(const struct ts_arch *arch);

#endif
