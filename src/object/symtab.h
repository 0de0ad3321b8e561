/* SPDX-License-Identifier: MIT */
/*
 * The symbols of a file: functions and data of an ELF file's .symtab and .dynsym, entries of its linkage
 * tables (puts@plt), exports and imports of a PE file (pe_symbols.h).
 */
#ifndef TS_SYMTAB_H
#define TS_SYMTAB_H

#include <stdbool.h>
#include <stdint.h>

#include "src/source/source.h"
#include "symtab_entry.h"

/*
 * Call @use with each symbol that has a name and an address, in the order of the file.  For a file that is
 * damaged, of another kind or unreadable, only the symbols found before that are reported.
 */
void ts_symtab_walk(const struct ts_source *src, void (*use)(void *user, const struct ts_symtab_entry *e),
		    void *user);

/* As above, for the thread-local variables of an ELF file.  Their addresses are offsets in a thread's block of the file. */
void ts_symtab_walk_thread_locals(const struct ts_source *src, void (*use)(void *user, const struct ts_symtab_entry *e),
				  void *user);

/*
 * Returns the first of the @n @names, borrowed from the caller, that an ELF file has as a symbol, defined or undefined.
 * Returns NULL if the file has none of them, is of another kind, or is damaged.
 */
const char *ts_symtab_mentions(const struct ts_source *src, const char *const *names, unsigned n);

#endif
