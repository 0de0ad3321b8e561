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

#include "src/base/collections/arena.h"

struct ts_error;

/* The role of a register, for registers that the model or the protocol treats specially. */
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

/*
 * A feature: a named group of registers that gdb accepts or rejects as a whole (gdb's manual, "Standard
 * Target Features").
 */
struct ts_feature_def {
	const char *name; /* "org.gnu.gdb.i386.core" */
	bool is_optional; /* false: gdb rejects the description, or a usual program with it, without it */
	uint32_t needs;   /* mask of optional features that gdb requires with this one; they come before it */
	const struct ts_reg_def *regs; /* may be empty: the feature's name alone has a meaning */
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
	/* a watchpoint stops the processor before the access, so that debuggers step over the instruction */
	bool is_trap_early;
	bool has_thumb;        /* ARM: the T bit of the flags register selects the instruction set */
	bool has_signed_addrs; /* gdb sign-extends addresses */
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

/* The registers of a recording.  Constant after it is initialized. */
struct ts_regset {
	const struct ts_arch *arch; /* borrowed: a constant table */
	uint32_t features;          /* bit i: feature i of the architecture is present */
	struct ts_reg *regs;        /* owned; ascending regnum and offset */
	unsigned n_regs;
	uint32_t g_len;        /* bytes of a 'g' packet's registers */
	int pc, sp, fp, flags; /* indices into regs; -1: none; pc is never -1 */
	/*
	 * A set that was read from a description (ts_tdesc_parse()) has features of its own instead of the
	 * architecture's.
	 */
	const struct ts_feature_def *own; /* NULL: the features of arch; else in the arena */
	unsigned n_own;
	const char *gdb_name;  /* for <architecture>: of arch, or from the description */
	const char *osabi;     /* from the description, or NULL */
	struct ts_arena arena; /* owned: names and definitions of own */
};

/*
 * Find an architecture by tracestub's name, by one of its aliases ("amd64", "arm64", ...) or by gdb's name;
 * case is ignored.
 *
 * If the name has no byte order, the result has the usual one: "arm" and "aarch64" are little-endian, "mips"
 * and "ppc64" big-endian.
 *
 * Returns the architecture, a constant.
 * Returns NULL if the name is unknown.
 */
const struct ts_arch *ts_arch_find(const char *name);

/* Returns @arch in the given byte order, a constant; NULL if it does not exist in that order. */
const struct ts_arch *ts_arch_in_order(const struct ts_arch *arch, bool is_big_endian);

/* Returns all architectures in a fixed order, a constant array; *n is set to their number. */
const struct ts_arch *const *ts_arch_all(unsigned *n);

/*
 * Initialize the register set of an architecture.
 *
 * @features is a mask of optional features, by ordinal.  The mandatory features, and features that an
 * optional one needs, are always included.  Bits above the architecture's features are ignored.
 *
 * Returns true on success.  The caller calls ts_regset_fini().
 * Returns false if memory is exhausted (TS_ENOMEM); @set is then empty.
 */
bool ts_regset_init(struct ts_regset *set, const struct ts_arch *arch, uint32_t features,
		    struct ts_error *err);

/*
 * Initialize the register set of a target description with features of its own.
 *
 * @own are its features in order.  Numbers and places are assigned as for an architecture.  Roles are those
 * of the registers of @arch with the same names, in upper or lower case, as in gdb.  @gdb_name and @osabi are
 * from the description; @osabi may be NULL.  @arena contains @own, the names, and everything that they point
 * at; the set takes ownership of it, also on failure.
 *
 * Returns true on success.  The caller calls ts_regset_fini().
 * Returns false if two registers have the same number, or if no register is the program counter
 * (TS_ECORRUPT).
 * Returns false if the registers have more than a megabyte (TS_ELIMIT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 * After a failure @set is empty.
 */
bool ts_regset_init_own(struct ts_regset *set, const struct ts_arch *arch, const char *gdb_name,
			const char *osabi, const struct ts_feature_def *own, unsigned n_own,
			struct ts_arena *arena, struct ts_error *err);

/* Free what @set owns.  @set may be all zero bytes. */
void ts_regset_fini(struct ts_regset *set);

/*
 * Iterate over the features of a set in the order of its description.  *at is 0 for the first call;
 * afterwards it is 1 + the ordinal of the feature that was returned (see ts_reg.feature).
 *
 * Returns the feature, borrowed from the set.
 * Returns NULL after the last one.
 */
const struct ts_feature_def *ts_regset_next_feature(const struct ts_regset *set, unsigned *at);

/* Returns the register of @arch that is the program counter, a constant; never NULL. */
const struct ts_reg_def *ts_arch_pc(const struct ts_arch *arch);

/* Returns the ordinal of the feature @name in @arch, for masks of features; -1 if @arch lacks it. */
int ts_arch_feature(const struct ts_arch *arch, const char *name);

/* Returns the mask of the features among the @n @names that @arch has. */
uint32_t ts_arch_features(const struct ts_arch *arch, const char *const *names, size_t n);

/* Returns the ordinal of the feature of @arch that has the register @reg; -1 if none has. */
int ts_arch_feature_with(const struct ts_arch *arch, const char *reg);

/*
 * Returns the mask of the features that gdb requires to support an operating system: its system calls, /proc,
 * and signals.  @osabi is gdb's name of the system, for example "GNU/Linux"; NULL: none.
 */
uint32_t ts_arch_os_features(const struct ts_arch *arch, const char *osabi);

/* Returns the index in set->regs of the register called @name; -1 if the set lacks it. */
int ts_regset_find(const struct ts_regset *set, const char *name);

/*
 * Returns the register that contains the byte at @off of the 'g' layout, borrowed from the set; NULL if none
 * does.
 */
const struct ts_reg *ts_regset_at(const struct ts_regset *set, uint64_t off);

/* Returns the index in set->regs of the register with gdb's number @regnum; -1 if the set lacks it. */
int ts_regset_by_num(const struct ts_regset *set, uint32_t regnum);

/*
 * Read or write a number of @len bytes, at most 8, in the byte order of @arch.  ts_arch_put() writes the low
 * @len bytes of @val.
 */
uint64_t ts_arch_get(const struct ts_arch *arch, const uint8_t *bytes, size_t len);
void ts_arch_put(const struct ts_arch *arch, uint8_t *bytes, size_t len, uint64_t val);

/*
 * Returns the 64-bit form that gdb uses for @addr where it ignores the architecture's width of addresses: in
 * trace frames.
 */
uint64_t ts_arch_wide_addr(const struct ts_arch *arch, uint64_t addr);

/* Returns a mask of the bits of an address. */
uint64_t ts_arch_addr_mask(const struct ts_arch *arch);

#endif
