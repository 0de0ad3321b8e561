/* SPDX-License-Identifier: MIT */
/* Functions that the compiler has inlined (DWARF, by libdw). */
#ifndef TS_INLINED_H
#define TS_INLINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prototypes.h"

/*
 * Call @found for each place at which the function @name was inlined: its first instruction, as linked, and the function
 * with that code (NULL: it has no name).  A name with "::" in it is compared with the last part only.
 *
 * Returns false if the debugging information has more entries than are examined: there may be more places.
 */
bool ts_inlined_find(struct ts_prototypes *p, const char *name, size_t len,
		     void (*found)(void *user, uint64_t addr, const char *function), void *user);

#endif
