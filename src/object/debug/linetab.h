/* SPDX-License-Identifier: MIT */
/*
 * The line table of an ELF file: the source line of each instruction (.debug_line, by libdw).
 */
#ifndef TS_LINETAB_H
#define TS_LINETAB_H

#include <stdint.h>

#include "src/source/source.h"

struct ts_linetab_entry {
	uint64_t addr; /* as linked */
	uint64_t len;  /* bytes, not 0 */
	const char *file; /* its path, or the known part of it */
	const char *folder; /* the folder of a relative path; NULL if unknown */
	uint32_t line; /* not 0 */
};

/*
 * Call @use with each range of addresses that has a line; strings are borrowed until it returns.  For a file
 * that is damaged, of another kind or unreadable, only the ranges before the error are reported, and likewise for a
 * file whose lines would need many times the memory of the file itself (see linetab.c).
 */
void ts_linetab_walk(const struct ts_source *src, void (*use)(void *user, const struct ts_linetab_entry *e),
		     void *user);

#endif
