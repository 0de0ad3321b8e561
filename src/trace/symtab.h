/* SPDX-License-Identifier: MIT */
/*
 * The symbols of a file: functions and data of an ELF file's .symtab and .dynsym, entries of its linkage
 * tables (puts@plt), exports and imports of a PE file (pe_symbols.h).
 */
#ifndef TS_SYMTAB_H
#define TS_SYMTAB_H

#include <stdbool.h>
#include <stdint.h>

#include "source.h"

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

/*
 * Call @use with each symbol that has a name and an address, in the order of the file.  For a file that is
 * damaged, of another kind or unreadable, only the symbols found before that are reported.
 */
void ts_symtab_walk(const struct ts_source *src, void (*use)(void *user, const struct ts_symtab_entry *e),
		    void *user);

#endif
