/* SPDX-License-Identifier: MIT */
/* The debugging information of a file.  Private to prototypes.c and variables.c. */
#ifndef TS_PROTOTYPES_PARTS_H
#define TS_PROTOTYPES_PARTS_H

#include <stddef.h>

#include "prototypes_type.h"
#include "src/base/arena.h"

struct ts_prototype;

/* The addresses of a unit. */
struct ts_prototype_range {
	uint64_t first, end;
	uint32_t unit;
};

struct ts_prototype_unit {
	Dwarf_Off off;
	struct ts_prototype *items; /* owned; by address */
	size_t n, cap;
	bool is_read;
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

#endif
