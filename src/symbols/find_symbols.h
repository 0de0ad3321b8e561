/* SPDX-License-Identifier: MIT */
/*
 * The symbols of a recording: those of the program, of files that the user names, and of modules that the
 * trace shows and that are on this machine.
 */
#ifndef TS_SYMBOLS_FIND_SYMBOLS_H
#define TS_SYMBOLS_FIND_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/query/local_files.h"
#include "src/query/query.h"
#include "symbols.h"
#include "src/search/budget.h"

/* A file that the user names. */
struct ts_symbols_file {
	const char *path;     /* borrowed */
	const uint64_t *base; /* borrowed; address of its lowest page, NULL: where it is linked */
};

/* Where symbols are looked for; all pointers are borrowed. */
struct ts_symbols_places {
	const struct ts_symbols_file *images; /* files that were in memory, as the user says */
	size_t n_images;
	const struct ts_symbols_file *names; /* a list of names (name_list.h); *base is added to addresses; NULL: none */
	const char *exec;            /* the program's file; NULL: none */
	const struct ts_source *program; /* the same, if it is open already; NULL: it is not */
	const uint64_t *base;        /* where it lies; NULL: wherever it lies in memory */
	bool is_located;             /* base is what ts_locate() has found */
	struct ts_local_files *local; /* files of this machine; NULL: only those under the sysroot are used */
	const uint64_t *process;     /* page tables of the one process of a machine that has these symbols; NULL: all have */
};

/* A search for the files that have symbols. */
struct ts_symbols_search {
	struct ts_symbols *symbols;     /* borrowed; files are noted there */
	struct ts_query *q;             /* borrowed */
	struct ts_symbols_places places;
	/* what has been looked at */
	size_t n_images, n_modules, n_regions;
	bool has_names, has_program;
};

/*
 * Note the next file that is found at @f->places, of images, the program, modules and mapped files in turn.
 *
 * Returns TS_GOT_PENDING if there may be more, TS_GOT_END if not.  Returns TS_GOT_FAIL if an image, @exec or the
 * trace cannot be read (TS_EIO), or memory is exhausted.
 */
enum ts_got ts_symbols_search_next(struct ts_symbols_search *f, struct ts_error *err);

/*
 * Search, and read what is found.
 *
 * Returns false if a file or the trace cannot be read (TS_EIO), or memory is exhausted.
 */
bool ts_find_symbols(struct ts_symbols *s, struct ts_query *q, const struct ts_symbols_places *places,
		     struct ts_error *err);

#endif
