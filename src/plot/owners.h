/* SPDX-License-Identifier: MIT */
/*
 * Whose an address is: the module, the mapped file, or the kind of region ("stack").
 */
#ifndef TS_PLOT_OWNERS_H
#define TS_PLOT_OWNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/query/query.h"

struct ts_owner {
	uint64_t first, last; /* addresses, both inclusive */
	uint32_t process;
	uint64_t n;           /* for how many positions it was there */
	const char *name;     /* borrowed from the recording */
};

struct ts_owners {
	struct ts_owner *items; /* owned; those that were there for longest come first */
	size_t n, cap;
};

/* All that were there at any time, as far as they have names.  Returns false if memory is exhausted. */
bool ts_owners_init(struct ts_owners *o, const struct ts_query *q);
void ts_owners_fini(struct ts_owners *o);

/*
 * Whose an address is, for most of the time; *until gets the last address up to which that is the answer, or
 * one before it.
 *
 * Returns NULL if it is nobody's.
 */
const struct ts_owner *ts_owners_find(const struct ts_owners *o, uint32_t process, uint64_t addr,
				      uint64_t *until);

/* Its name; a path is shortened to its last part.  NULL for NULL. */
const char *ts_owner_name(const struct ts_owner *x);

#endif
