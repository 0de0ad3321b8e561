/* SPDX-License-Identifier: MIT */
/*
 * The symbols of a recording: those of the program, of files that the user names, and of modules that the
 * trace shows and that are on this machine.
 */
#ifndef TS_ASK_FIND_SYMBOLS_H
#define TS_ASK_FIND_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/query/query.h"
#include "src/query/local_files.h"
#include "symbols.h"

/* A file that the user names. */
struct ts_symbols_file {
	const char *path;     /* borrowed */
	const uint64_t *base; /* borrowed; address of its lowest page, NULL: where it is linked */
};

/*
 * Add those of the file at @path, of which the lowest page lies at *@base (NULL: where it is linked).  A file
 * that is neither an ELF nor a PE file has none.
 *
 * Returns false if it cannot be opened (TS_EIO), or memory is exhausted.
 */
bool ts_find_symbols_of_file(struct ts_symbols *s, const char *path, const uint64_t *base,
			     struct ts_error *err);

/*
 * Add those of the program's file @exec (may be NULL), at *@base or (it is NULL) wherever it lies in memory;
 * and those of the modules and mapped files that are found under the sysroot, or that @local has: files of
 * this machine (NULL: none are used).
 *
 * Returns false if the trace or @exec cannot be read (TS_EIO), or memory is exhausted.
 */
bool ts_find_symbols(struct ts_symbols *s, struct ts_query *q, const char *exec, const uint64_t *base,
		     struct ts_local_files *local, struct ts_error *err);

#endif
