/* SPDX-License-Identifier: MIT */
/*
 * The owner of an address: its module, its mapped file, or the kind of its region ("stack").
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
	uint64_t n;           /* the number of positions at which it was mapped */
	const char *name;     /* borrowed from the recording */
};

struct ts_owners {
	struct ts_owner *items; /* owned; by n, the largest first */
	size_t n, cap;
};

/*
 * Collect the owners that have names, of all positions; a fixed limit applies (owners.c).
 *
 * Returns false if memory is exhausted.  The caller calls ts_owners_fini() in both cases.
 */
bool ts_owners_init(struct ts_owners *o, const struct ts_query *q);
void ts_owners_fini(struct ts_owners *o);

/*
 * The owner that had @addr for the largest number of positions.  *until is set to an address up to which the
 * result is the same; it need not be the last such address.
 *
 * Returns the owner, borrowed until ts_owners_fini().
 * Returns NULL if the address has no owner.
 */
const struct ts_owner *ts_owners_find(const struct ts_owners *o, uint32_t process, uint64_t addr,
				      uint64_t *until);

/*
 * Returns the owner's name, borrowed from the recording; of a path the last component.  Returns NULL for
 * NULL.
 */
const char *ts_owner_name(const struct ts_owner *x);

#endif
