/* SPDX-License-Identifier: MIT */
/*
 * The symbols of a file: functions and data of an ELF file's .symtab and .dynsym, entries of its linkage
 * tables (puts@plt), exports of a PE file.
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
};

/*
 * Call @use with each symbol that has a name and an address, in the order of the file.  For a file that is
 * damaged, of another kind or unreadable, only the symbols found before that are reported.
 */
void ts_symtab_walk(const struct ts_source *src, void (*use)(void *user, const struct ts_symtab_entry *e),
		    void *user);

/*
 * Which of the @n @names an ELF file has as a symbol, defined there or needed from elsewhere.
 *
 * Returns the first name that is found; NULL if there is none, or the file is of another kind or damaged.
 */
const char *ts_symtab_mentions(const struct ts_source *src, const char *const *names, unsigned n);

#endif
