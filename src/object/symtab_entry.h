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
	uint64_t room; /* bytes to the end of its section, or of its segment, 0 if it is in none */
	const char *name;
	const char *file; /* the source file that it is local to; NULL: it is global, or that is not known */
	bool is_function;
	bool is_indirect; /* a function whose address is that of its resolver (STT_GNU_IFUNC) */
	bool is_open; /* where it ends is not known: code after it, up to the next symbol, may not be its own */
};

#endif
