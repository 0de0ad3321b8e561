/* SPDX-License-Identifier: MIT */
/*
 * The files in memory, by names and addresses: the program, images that the user names, modules and mapped
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
	bool is_own;          /* the program's file, or a file that the user names */
	bool is_pe;
	bool is_part;         /* the address of the file's beginning is unknown: offsets in it have no meaning */
};

struct ts_loaded_files {
	struct ts_loaded_file *items; /* owned, and their paths; by address once sorted */
	size_t n, cap;
	bool is_sorted;
};

void ts_loaded_fini(struct ts_loaded_files *m);

/* Add a file; module->path is copied.  Returns false if memory is exhausted. */
bool ts_loaded_add(struct ts_loaded_files *m, const struct ts_loaded_file *module);

/* Returns the module that contains @addr, borrowed until the next addition; NULL if none is known. */
const struct ts_loaded_file *ts_loaded_at(struct ts_loaded_files *m, uint64_t addr);

/* Returns the @i-th file by address, borrowed until the next addition; NULL after the last one. */
const struct ts_loaded_file *ts_loaded_get(struct ts_loaded_files *m, size_t i);

/*
 * Is @name (@len bytes) a name of the module?  Its names are its path, the file name, and the file name without the
 * part after ".so" or the last dot; for Windows paths (with '\\', or ending in .exe, .dll, .sys) in upper or lower
 * case.
 */
bool ts_loaded_is_called(const struct ts_loaded_file *module, const char *name, size_t len);

/*
 * Find the module @name whose beginning is known; the user's own files take precedence.  *n is set to the number of
 * such modules at different addresses.
 *
 * Returns the module, borrowed until the next addition.
 * Returns NULL if no such module is known.
 * Returns NULL if there are several.
 */
const struct ts_loaded_file *ts_loaded_find(struct ts_loaded_files *m, const char *name, size_t len, unsigned *n);

#endif
