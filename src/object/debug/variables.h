/* SPDX-License-Identifier: MIT */
/*
 * The place of a function's variable at one of the function's instructions (DWARF, by libdw).
 */
#ifndef TS_VARIABLES_H
#define TS_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prototypes.h"
#include "variable_place.h"

/*
 * Find the variable @text: NAME, and any number of .MEMBER, ->MEMBER and [INDEX].  Of several variables of that name,
 * the one in the innermost scope is used.
 *
 * Addresses are those in memory.  One look-up walks at most as many entries as the file has bytes.
 */
void ts_variables_find(struct ts_prototypes *p, const struct ts_variable_frame *frame, const char *text, size_t len,
		       struct ts_variable *v);

/* A variable outside functions, whose place the caller knows. */
struct ts_global {
	uint64_t addr;       /* in memory */
	bool is_thread_local;
	uint64_t off;        /* in the block of each thread, if it is */
};

/*
 * Find the member or element @text, as above, of the variable @g, whose name it begins with.
 *
 * v->kind stays TS_VARIABLE_NONE if the file does not describe a variable of that name at that place.
 */
void ts_variables_find_in(struct ts_prototypes *p, const struct ts_variable_frame *frame, const struct ts_global *g,
			  const char *text, size_t len, struct ts_variable *v);

#endif
