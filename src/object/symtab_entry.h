/* SPDX-License-Identifier: MIT */
/*
 * A symbol of a file.
 */
#ifndef TS_SYMTAB_ENTRY_H
#define TS_SYMTAB_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

struct ts_symtab_entry {
	uint64_t addr; /* as linked */
	uint64_t len;  /* bytes, 0 if unknown */
	uint64_t room; /* bytes to the end of its section or segment, 0 if it is in none */
	const char *name;
	const char *file; /* the source file of a local symbol; NULL: global, or unknown */
	bool is_function;
	bool is_indirect; /* a function whose address is that of its resolver (STT_GNU_IFUNC) */
	bool is_open; /* its end is unknown: code up to the next symbol may not belong to it */
};

#endif
