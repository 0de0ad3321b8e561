/* SPDX-License-Identifier: MIT */
/* DWARF's expressions for places, DWARF 5 section 2.5.  Private to variables.c. */
#ifndef TS_LOCATION_H
#define TS_LOCATION_H

#include "prototypes_parts.h"
#include "variable_place.h"

/*
 * The place of the variable @die of the function @function.
 *
 * v->kind is set to MEMORY or REGISTER, or to NOWHERE with the reason.
 */
void ts_location_find(struct ts_prototypes *p, const struct ts_variable_frame *frame, Dwarf_Die *die, Dwarf_Die *function,
		      struct ts_variable *v);

#endif
