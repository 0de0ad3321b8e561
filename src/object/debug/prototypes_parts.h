/* SPDX-License-Identifier: MIT */
/* The debugging information of a file.  Private to prototypes.c and variables.c. */
#ifndef TS_PROTOTYPES_PARTS_H
#define TS_PROTOTYPES_PARTS_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/arena.h"
#include "value_type.h"
#include "variable_place.h"

/* ------------------------------------------------------------------------------ prototypes_type.c */

/* The remaining budget of a file: attributes, entries, ranges. */
struct ts_type_budget {
	uint64_t left;
};

/* Charge @n to the budget.  Returns false if less is left. */
static inline bool ts_type_spend(struct ts_type_budget *b, uint64_t n)
{
	if (b->left < n)
		return false;
	b->left -= n;
	return true;
}

/* The attributes of an entry that this room uses. */
struct ts_die_facts {
	const char *name; /* NULL: it has none */
	Dwarf_Die type, origin; /* origin: its declaration, or its abstract function */
	Dwarf_Word size, encoding, offset, bit_offset, count, convention; /* size and offset in bytes */
	bool has_type, has_origin, has_code, has_size, has_offset, has_count, has_convention,
		is_bits, is_vector, is_static, is_result; /* is_static: DW_AT_external; is_result: of Go, a parameter that is a result */
};

/* The facts of @die; those that cannot be read, or that the budget does not allow, are absent. */
void ts_die_facts(struct ts_type_budget *b, Dwarf_Die *die, struct ts_die_facts *f);

/* As ts_die_facts(), with missing facts taken from the entry's origins. */
void ts_die_collect(struct ts_type_budget *b, Dwarf_Die *die, struct ts_die_facts *f);

struct ts_register_piece;

/*
 * The registers that hold the parameter @die when its function is entered at @addr, at most TS_MAX_PIECES.  Returns their number; 0 if
 * it is elsewhere, or in part.
 */
unsigned ts_die_registers_at(Dwarf_Die *die, uint64_t addr, struct ts_register_piece *pieces);

/* Is the parameter @die in its function's frame as long as the function runs?  So it is in code that is not optimized. */
bool ts_die_is_in_frame(Dwarf_Die *die);

/* From names and qualifiers of the type *die to the type; its facts, and its size where the tag implies it. */
void ts_type_strip(struct ts_type_budget *b, Dwarf_Die *die, struct ts_die_facts *f);

#define TS_MAX_ITEMS 16u

/*
 * Set *type to the type of the items of the array @die, whose facts are @f, and *item to that type's facts; without a type the facts
 * are absent.
 *
 * Returns the number of items; more than TS_MAX_ITEMS if the array has more, or does not state their number.
 */
uint64_t ts_type_array(struct ts_type_budget *b, Dwarf_Die *die, const struct ts_die_facts *f, Dwarf_Die *type,
		       struct ts_die_facts *item);

/* The type of the entry @die. */
void ts_type_classify(struct ts_type_budget *b, Dwarf_Die *die, struct ts_value_type *type);

/* The length of an address of the file, in bytes. */
unsigned ts_type_addr_len(Elf *elf);

/* EM_...; EM_NONE if the file does not have it. */
unsigned ts_type_machine(Elf *elf);

/* ----------------------------------------------------------------------------------- prototypes.c */

struct ts_prototype;
struct ts_result_registers;

/* The addresses of a unit. */
struct ts_prototype_range {
	uint64_t first, end;
	uint32_t unit;
};

struct ts_prototype_unit {
	Dwarf_Off off;
	struct ts_prototype *items; /* owned; by address */
	size_t n, cap;
	const struct ts_result_registers *go, *rust, *c; /* NULL: another language, or where its results are is not known */
	bool is_read, is_foreign, may_hide; /* may_hide: functions with another convention than they seem to have */
};

/* A place at which a function was inlined. */
struct ts_prototype_inlined {
	const char *name, *function; /* borrowed from the debugging information; function: contains the code, NULL: unnamed */
	uint64_t addr;
};

struct ts_prototypes {
	char *bytes; /* owned; the file */
	uint64_t len;
	Elf *elf;
	Dwarf *dwarf;
	char *frame_bytes;    /* owned; the program, if the file is a separate file of debugging information; else NULL */
	Elf *frame_elf;
	Dwarf_CFI *cfi;       /* owned; of the program's tables, NULL until the first look-up */
	unsigned addr_len;    /* bytes of an address */
	struct ts_type_budget budget;
	struct ts_prototype_unit *units;   /* owned */
	size_t n_units, cap_units;
	struct ts_prototype_range *ranges; /* owned */
	size_t n_ranges, cap_ranges;
	struct ts_arena names;
	struct ts_prototype_inlined *inlined; /* owned; by name and address */
	size_t n_inlined, cap_inlined;
	bool has_inlined, has_all_inlined;    /* they were listed; all of them */
};

/* The budget of one walk, in proportion to the file. */
static inline uint64_t ts_prototypes_allowance(const struct ts_prototypes *p)
{
	return p->len + (UINT64_C(1) << 20);
}

/* ------------------------------------------------------------------------------------- location.c */

/*
 * The place of the variable @die of the function @function.
 *
 * v->kind is set to MEMORY or REGISTER, or to NOWHERE with the reason.
 */
void ts_location_find(struct ts_prototypes *p, const struct ts_variable_frame *frame, Dwarf_Die *die, Dwarf_Die *function,
		      struct ts_variable *v);

#endif
