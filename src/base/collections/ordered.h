/* SPDX-License-Identifier: MIT */
/*
 * An ordered set of numbers: each addition and each search takes time logarithmic in its size.
 */
#ifndef TS_ORDERED_H
#define TS_ORDERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_ordered_block;

struct ts_ordered {
	struct ts_ordered_block **blocks; /* owned, as are the blocks; in order, none of them empty */
	size_t n, cap;
};

void ts_ordered_fini(struct ts_ordered *o);

/* Add @key, which is not in the set.  Returns false if memory is exhausted; the set is then unchanged. */
bool ts_ordered_add(struct ts_ordered *o, uint64_t key);

/*
 * Remove the smallest number >= @from from the set, if it is at most @to, and set *key to it.
 *
 * Returns false if the set has no such number.
 */
bool ts_ordered_take(struct ts_ordered *o, uint64_t from, uint64_t to, uint64_t *key);

#endif
