/* SPDX-License-Identifier: MIT */
/*
 * The files that lie in memory, by their names and addresses: the program, images that the user names, modules and mapped
 * files of the recording, and libraries of which only imported functions are known.
 */
#ifndef TS_SYMBOLS_LOADED_FILES_H
#define TS_SYMBOLS_LOADED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_loaded_file {
	uint64_t first, last; /* addresses, both inclusive */
	const char *path;     /* borrowed from the table */
	bool is_own;          /* the program's file, or one that the user names */
	bool is_pe;
	bool is_part;         /* where the file begins is not known: offsets in it have no meaning */
};

struct ts_loaded_files {
	struct ts_loaded_file *items; /* owned, and their paths; by address once sorted */
	size_t n, cap;
	bool is_sorted;
};

void ts_loaded_fini(struct ts_loaded_files *m);

/* Add one; @path is copied.  Returns false if memory is exhausted. */
bool ts_loaded_add(struct ts_loaded_files *m, const struct ts_loaded_file *module);

/* The module that @addr is in; NULL if none is known. */
const struct ts_loaded_file *ts_loaded_at(struct ts_loaded_files *m, uint64_t addr);

/* The @i-th by address; NULL after the last. */
const struct ts_loaded_file *ts_loaded_get(struct ts_loaded_files *m, size_t i);

/*
 * Is the module called @name (@len bytes)?  That is its path, the last part of that, or this without what follows ".so" or
 * the last dot; of a path of Windows (with '\\', or one that ends with .exe, .dll, .sys) in upper or lower case.
 */
bool ts_loaded_is_called(const struct ts_loaded_file *module, const char *name, size_t len);

/*
 * The module called @name whose beginning is known; one of the user's own comes before others.  *n gets how many there
 * are at different addresses.
 *
 * Returns NULL if there is none, or there are several.
 */
const struct ts_loaded_file *ts_loaded_find(struct ts_loaded_files *m, const char *name, size_t len, unsigned *n);

#endif
