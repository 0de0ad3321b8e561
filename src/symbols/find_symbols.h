/* SPDX-License-Identifier: MIT */
/*
 * The search for the symbols of a recording: in the program, in files that the user names, and in the recorded modules
 * that are on this machine.
 */
#ifndef TS_SYMBOLS_FIND_SYMBOLS_H
#define TS_SYMBOLS_FIND_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/query/files/local_files.h"
#include "src/query/query.h"
#include "symbols.h"
#include "src/search/budget.h"

/* A file that the user names. */
struct ts_symbols_file {
	const char *path;     /* borrowed */
	const uint64_t *base; /* borrowed; address of its lowest page, NULL: the linked address */
};

/* The files to search for symbols; all pointers are borrowed. */
struct ts_symbols_places {
	const struct ts_symbols_file *images; /* the files of --image */
	size_t n_images;
	const struct ts_symbols_file *names; /* a list of names (name_list.c); *base is added to addresses; NULL: none */
	const char *exec;            /* the program's file; NULL: none */
	const struct ts_source *program; /* the same, if it is open already; NULL: it is not */
	const uint64_t *base;        /* its address; NULL: to be determined */
	bool is_located;             /* base is the result of ts_locate() */
	struct ts_local_files *local; /* files of this machine; NULL: only those under the sysroot are used */
	const uint64_t *process;     /* page tables of the process of a machine to which the symbols belong; NULL: all processes */
};

/* A search for the files that have symbols. */
struct ts_symbols_search {
	struct ts_symbols *symbols;     /* borrowed; files are registered there */
	struct ts_query *q;             /* borrowed */
	struct ts_symbols_places places;
	/* the progress of the search */
	size_t n_images, n_modules, n_regions;
	bool has_names, has_program;
};

/*
 * Register the next file of f->places: images, the program, modules and mapped files, in this order.
 *
 * Returns TS_MORE if files may be left.
 * Returns TS_END if no file is left.
 * Returns TS_FAIL if an image, the program or the trace cannot be read (TS_EIO).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_symbols_search_next(struct ts_symbols_search *f, struct ts_error *err);

/*
 * Search all files, and read their symbols.
 *
 * Returns false if a file or the trace cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_find_symbols(struct ts_symbols *s, struct ts_query *q, const struct ts_symbols_places *places,
		     struct ts_error *err);

/* ------------------------------------------------------------------------------------ name_list.c */

/*
 * Add the names of the file @src to @s, each @moved bytes above its address in the file.  In a .map file without
 * addresses only the names of segment 1, to which OFFSET is relative, are added.
 *
 * Returns true if the file has a name; lines of other forms are ignored.
 * Returns false if the file has no name (TS_EUSAGE).
 * Returns false if the file is larger than 64 MiB (TS_ELIMIT) or cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_name_list_read(struct ts_symbols *s, const struct ts_source *src, uint64_t moved, struct ts_error *err);

#endif
