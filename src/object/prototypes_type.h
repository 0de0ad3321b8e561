/* SPDX-License-Identifier: MIT */
/* Entries of debugging information, and types as the ABI classifies them.  Private to prototypes*.c. */
#ifndef TS_PROTOTYPES_TYPE_H
#define TS_PROTOTYPES_TYPE_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "value_type.h"

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
		is_bits, is_vector, is_static;
};

/* The facts of @die; those that cannot be read, or that the budget does not allow, are absent. */
void ts_die_facts(struct ts_type_budget *b, Dwarf_Die *die, struct ts_die_facts *f);

/* As ts_die_facts(), with missing facts taken from the entry's origins. */
void ts_die_collect(struct ts_type_budget *b, Dwarf_Die *die, struct ts_die_facts *f);

/* DWARF's number of the register that holds the parameter @die when its function is entered at @addr; -1: none. */
int ts_die_register_at(Dwarf_Die *die, uint64_t addr);

/* The type of the entry @die. */
void ts_type_classify(struct ts_type_budget *b, Dwarf_Die *die, struct ts_value_type *type);

/* The length of an address of the file, in bytes. */
unsigned ts_type_addr_len(Elf *elf);

#endif
