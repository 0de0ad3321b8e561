/* SPDX-License-Identifier: MIT */
/*
 * Where a variable of a function lies while one of the function's instructions is the next one (DWARF, by libdw).
 */
#ifndef TS_VARIABLES_H
#define TS_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prototypes.h"
#include "variable_place.h"

/*
 * The variable @text: NAME, and any number of .MEMBER, ->MEMBER and [INDEX].  Of several variables of that name, it is the
 * one of the innermost scope.
 *
 * Addresses are those in memory.  One lookup walks at most as many entries as the file has bytes.
 */
void ts_variables_find(struct ts_prototypes *p, const struct ts_variable_frame *frame, const char *text, size_t len,
		       struct ts_variable *v);

/* A variable outside of functions, of which something else told where it is. */
struct ts_global {
	uint64_t addr;       /* in memory */
	bool is_thread_local;
	uint64_t off;        /* in the block of each thread, if it is */
};

/*
 * What @text, as above, is in the variable @g, of which it has the name.
 *
 * v->kind stays TS_VARIABLE_NONE if the file does not describe a variable of that name at that place.
 */
void ts_variables_find_in(struct ts_prototypes *p, const struct ts_variable_frame *frame, const struct ts_global *g,
			  const char *text, size_t len, struct ts_variable *v);

#endif
