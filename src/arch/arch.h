/* SPDX-License-Identifier: MIT */
/*
 * Architectures and register sets.
 *
 * An architecture is a constant table: its features as in gdb's standard target descriptions (org.gnu.gdb.*),
 * each feature a list of registers with gdb's names, widths, types and order.  A register set is what one
 * recording offers: the mandatory features of its architecture and those optional ones that the trace has
 * values for, laid out as in gdb's 'g' packet. Loaders choose a set, the model stores register state in its
 * layout (target byte order), the protocol sends that layout.
 */
#ifndef TS_ARCH_H
#define TS_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/arena.h"

struct ts_error;

/* What a register is for, where the model or the protocol must know. */
enum ts_role {
	TS_ROLE_NONE,
	TS_ROLE_PC,
	TS_ROLE_SP,
	TS_ROLE_FP,
	TS_ROLE_FLAGS,
	/* the system call that the kernel would restart; gdb writes -1, none, with each new pc */
	TS_ROLE_RESTART,
};

#define TS_N_ROLES (TS_ROLE_RESTART + 1)

/* One register of a feature, as gdb's feature files have it. */
struct ts_reg_def {
	const char *name; /* gdb's name */
	uint16_t bits;    /* width */
	int32_t regnum;   /* explicit gdb number, or -1: one after the previous register of the description */
	const char *type; /* tdesc type: "int64", "code_ptr", "i387_ext", ...; NULL: "int" */
	const char *group; /* "general", "float", "vector", "system", or NULL: gdb decides by the type */
	enum ts_role role;
};

enum ts_type_kind {
	TS_TYPE_FLAGS,
	TS_TYPE_STRUCT,
	TS_TYPE_UNION,
	TS_TYPE_VECTOR,
	TS_TYPE_ENUM,
};

/* A field of a type. */
struct ts_field_def {
	const char *name; /* may be "" */
	const char *type; /* the field's type; NULL: a number of those bits */
	int32_t start; /* lowest bit, 0 the least significant; of an enumerator its value; -1: no bit field */
	int32_t end;   /* highest bit; unused in an enumerator; -1: no bit field */
};

/* A type that a feature declares, so that gdb shows a register's parts. */
struct ts_type_def {
	const char *id;
	enum ts_type_kind kind;
	uint32_t count;   /* elements of a vector; else bytes, 0 where the fields give the size */
	const char *elem; /* type of a vector's elements; NULL for the others */
	const struct ts_field_def *fields;
	unsigned n_fields;
};

/* A feature: a named group of registers that gdb accepts or rejects as a whole. */
struct ts_feature_def {
	const char *name; /* "org.gnu.gdb.i386.core" */
	bool is_optional; /* false: gdb rejects the description, or a usual program with it, without it */
	uint32_t needs;   /* mask of optional features that gdb wants beside this one; they come before it */
	const struct ts_reg_def *regs; /* none is legal: the feature's name alone says something */
	unsigned n_regs;
	const struct ts_type_def *types; /* declared before the registers that have them */
	unsigned n_types;
};

/* An architecture in one byte order. */
struct ts_arch {
	const char *name; /* ours: "x86_64", "i386", "arm", "armeb", "aarch64", "mips", "mipsel", "mips64",
			     "mips64el", ... */
	const char *gdb_name; /* for <architecture>: "i386:x86-64"; gdb names no byte order here */
	bool is_big_endian;   /* data */
	uint8_t addr_bits;    /* width of an address: 32 or 64 */
	uint8_t min_insn_len; /* shortest instruction in bytes; instructions begin at multiples of it */
	bool is_fixed_insn;   /* every instruction has min_insn_len bytes */
	/* a watchpoint stops the processor before the access: debuggers then step over it */
	bool is_trap_early;
	/* ARM with Thumb: the T bit of the flags register tells gdb which instruction set runs */
	bool has_thumb;
	bool has_signed_addrs; /* gdb takes the top bit of an address for a sign */
	/* a processor that stops in the delay slot of a taken branch reports the address of the branch */
	bool has_delay_slots;
	const struct ts_feature_def *features;
	unsigned n_features; /* at most 32: a feature set is a bit mask */
};

/* One register of a register set, placed. */
struct ts_reg {
	const char *name; /* borrowed from the definition, or from the set's own description */
	uint16_t bits;
	uint16_t len;     /* bytes in the 'g' packet */
	uint32_t off;     /* byte offset in the 'g' packet */
	uint32_t regnum;  /* gdb's protocol number */
	uint16_t feature; /* ordinal of its feature: in own where the set has that, else in arch->features */
	enum ts_role role;
};

/* The registers that a recording offers.  Constant once made. */
struct ts_regset {
	const struct ts_arch *arch; /* borrowed: a constant table */
	uint32_t features;          /* bit i: feature i of the architecture is present */
	struct ts_reg *regs;        /* owned; ascending regnum and offset */
	unsigned n_regs;
	uint32_t g_len;        /* bytes of a 'g' packet's registers */
	int pc, sp, fp, flags; /* indices into regs, -1 where there is none (pc always is) */
	/*
	 * A set that was read from a description (ts_tdesc_parse()) has features of its own instead of the
	 * architecture's.
	 */
	const struct ts_feature_def *own; /* NULL: the features of arch; else in the arena */
	unsigned n_own;
	const char *gdb_name;  /* for <architecture>: of arch, or what the description says */
	const char *osabi;     /* what the description says, or NULL */
	struct ts_arena arena; /* owned: names and definitions of own */
};

/*
 * Find an architecture by tracestub's name, by one of its aliases ("amd64", "arm64", ...) or by gdb's name;
 * case is ignored.
 *
 * A name that says no byte order finds the usual one: "arm" and "aarch64" little-endian, "mips" and "ppc64"
 * big-endian.
 *
 * Returns the table.
 * Returns NULL if the name is unknown.
 */
const struct ts_arch *ts_arch_find(const char *name);

/* The same architecture in the given byte order; NULL if it does not exist in that order. */
const struct ts_arch *ts_arch_in_order(const struct ts_arch *arch, bool is_big_endian);

/* All architectures in a fixed order; *n is set to their number. */
const struct ts_arch *const *ts_arch_all(unsigned *n);

/*
 * Make the register set of an architecture.
 *
 * @features names optional features as a mask of ordinals; the mandatory ones are always there, and so are
 * those that an optional one needs.  Bits above the architecture's features are ignored.
 *
 * On success @set owns its memory, to be given back with ts_regset_fini().
 * Returns false if memory is exhausted (TS_ENOMEM in @err); @set then is empty and needs no fini.
 */
bool ts_regset_init(struct ts_regset *set, const struct ts_arch *arch, uint32_t features,
		    struct ts_error *err);

/*
 * Make the register set of a description that has features of its own.
 *
 * @own are its features in order; numbers are given and registers placed as for those of an architecture.
 * Roles are taken from the architecture by the registers' names, as gdb does, without regard to case.
 * @gdb_name and @osabi are the description's words for them; @osabi may be NULL.
 * @arena holds @own, the words, and all that they point at; the set takes it over, also on failure.
 *
 * Returns false with @set empty if two registers have one number or no register is the program counter
 * (TS_ECORRUPT), if the registers are more than a megabyte (TS_ELIMIT), or if memory is exhausted
 * (TS_ENOMEM).
 */
bool ts_regset_init_own(struct ts_regset *set, const struct ts_arch *arch, const char *gdb_name,
			const char *osabi, const struct ts_feature_def *own, unsigned n_own,
			struct ts_arena *arena, struct ts_error *err);

/* Give back what @set owns.  A set that is all zero bytes may be given. */
void ts_regset_fini(struct ts_regset *set);

/*
 * Walk the features of a set in the order of its description.
 *
 * @at is 0 for the first call; afterwards it is one more than the ordinal of the feature returned (see
 * ts_reg.feature). Returns NULL after the last.
 */
const struct ts_feature_def *ts_regset_next_feature(const struct ts_regset *set, unsigned *at);

/* The register that is the program counter. */
const struct ts_reg_def *ts_arch_pc(const struct ts_arch *arch);

/* Ordinal of the feature @name in @arch for the mask above, -1 if it has none of that name. */
int ts_arch_feature(const struct ts_arch *arch, const char *name);

/* The mask of those of the @n features @names that @arch has. */
uint32_t ts_arch_features(const struct ts_arch *arch, const char *const *names, size_t n);

/* Ordinal of the feature of @arch that has the register @reg, -1 if none has. */
int ts_arch_feature_with(const struct ts_arch *arch, const char *reg);

/*
 * The features, as a mask, without which gdb does not arrange for an operating system: system calls, /proc,
 * signals.
 *
 * @osabi is gdb's word for the system, "GNU/Linux" for instance; NULL: none.
 */
uint32_t ts_arch_os_features(const struct ts_arch *arch, const char *osabi);

/* Index into set->regs of the register called @name, -1 if there is none. */
int ts_regset_find(const struct ts_regset *set, const char *name);

/* The register that contains the byte at @off of the 'g' layout.  Returns NULL if no register contains it. */
const struct ts_reg *ts_regset_at(const struct ts_regset *set, uint64_t off);

/* Index into set->regs of gdb's register number @regnum, -1 if there is none. */
int ts_regset_by_num(const struct ts_regset *set, uint32_t regnum);

/*
 * Read @len bytes (at most 8) in the architecture's byte order as a number, and the reverse: the low @len
 * bytes of @val.
 */
uint64_t ts_arch_get(const struct ts_arch *arch, const uint8_t *bytes, size_t len);
void ts_arch_put(const struct ts_arch *arch, uint8_t *bytes, size_t len, uint64_t val);

/*
 * An address as gdb has it in 64 bits, where it does not look at the architecture's own width: in trace
 * frames.
 */
uint64_t ts_arch_wide_addr(const struct ts_arch *arch, uint64_t addr);

/* The bits of an address that count: all ones of the address width. */
uint64_t ts_arch_addr_mask(const struct ts_arch *arch);

#endif
