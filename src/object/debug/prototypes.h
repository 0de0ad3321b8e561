/* SPDX-License-Identifier: MIT */
/*
 * The functions in the debugging information of an ELF file: names and types of their parameters, and the type
 * of their result (DWARF, by libdw).
 *
 * A unit is read at the first look-up of one of its addresses.
 */
#ifndef TS_PROTOTYPES_H
#define TS_PROTOTYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/source/source.h"
#include "value_type.h"

#define TS_MAX_PARAMETERS 16u

/* The maximum number of registers that hold a parameter at a function's entry, by DWARF's location. */
#define TS_MAX_PIECES 4u

struct ts_register_piece {
	int16_t reg;  /* DWARF's number */
	uint16_t len; /* bytes; 0: all of the parameter */
};

struct ts_parameter {
	const char *name; /* borrowed from the table; NULL: it has none */
	struct ts_value_type type;
	struct ts_register_piece pieces[TS_MAX_PIECES]; /* in the order of its bytes */
	unsigned n_pieces; /* 0: unknown */
};

struct ts_prototype {
	uint64_t addr; /* of the first instruction, as linked */
	struct ts_value_type result;
	struct ts_parameter parameters[TS_MAX_PARAMETERS];
	unsigned n;       /* at most TS_MAX_PARAMETERS: further parameters are omitted */
	bool is_foreign;  /* its language passes arguments by another convention */
	bool is_plain;    /* a parameter is in the frame as long as it runs: its code is not optimized */
	bool is_changed;  /* the compiler may have changed its convention */
	const struct ts_placed_result *results; /* the results that have registers in the table; NULL: no result has */
	unsigned n_results;
};

struct ts_prototypes;

/*
 * The functions of the file @src, which is closed in any case; the caller frees them.  A file that is damaged, or that has no
 * debugging information, has no functions.
 *
 * Returns NULL if memory is exhausted.
 */
struct ts_prototypes *ts_prototypes_new(struct ts_source *src);
void ts_prototypes_free(struct ts_prototypes *p);

/*
 * Add the program @src, which is closed, if the file of @p is a separate file of debugging information: only the
 * program has the tables of frames.  A program that cannot be read has no frames.
 */
void ts_prototypes_add_frames(struct ts_prototypes *p, struct ts_source *src);

/* The function that begins at @addr; NULL if the file does not describe it.  Valid until ts_prototypes_free(). */
const struct ts_prototype *ts_prototypes_find(struct ts_prototypes *p, uint64_t addr);

/* -------------------------------------------------------------------------------------- inlined.c */

/*
 * Call @found for each place at which the function @name was inlined: its first instruction, as linked, and the function
 * with that code (NULL: it has no name).  A name with "::" in it is compared with the last part only.
 *
 * Returns false if the debugging information has more entries than are examined: there may be more places.
 */
bool ts_inlined_find(struct ts_prototypes *p, const char *name, size_t len,
		     void (*found)(void *user, uint64_t addr, const char *function), void *user);

#endif
