/* SPDX-License-Identifier: MIT */
/*
 * The line table of an ELF file: which line of the source each instruction was made of (.debug_line, by
 * libdw).
 */
#ifndef TS_LINETAB_H
#define TS_LINETAB_H

#include <stdint.h>

#include "src/source/source.h"

struct ts_linetab_entry {
	uint64_t addr; /* as linked */
	uint64_t len;  /* bytes, not 0 */
	const char *file; /* its path, or what is known of it */
	const char *folder; /* in which a path that is not absolute begins; NULL if unknown */
	uint32_t line; /* not 0 */
};

/*
 * Call @use with each range of addresses that has a line; strings are borrowed until it returns.  Of a file
 * that is damaged, of another kind or unreadable, only those found before that are reported; and of one whose
 * lines would take many times the memory of the file itself (see linetab.c).
 */
void ts_linetab_walk(const struct ts_source *src, void (*use)(void *user, const struct ts_linetab_entry *e),
		     void *user);

#endif
