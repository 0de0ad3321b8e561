/* SPDX-License-Identifier: MIT */
/*
 * The arrays of a section, taken from a mapped index file one after the other.  Lengths are checked; what the items
 * mean is checked by whoever takes them.
 */
#ifndef TS_INDEX_ARRAYS_H
#define TS_INDEX_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A section's arrays, in the order in which they were put. */
struct ts_index_arrays {
	uint8_t *p; /* mapped privately: changes stay in memory; valid until the file is closed */
	size_t left;
	bool is_bad;     /* something has a wrong length */
	/* borrowed from the file: set by users of the arrays if these turn out to be invalid */
	_Atomic bool *is_damaged;
};

/* The next array, of *n items; NULL (and *n is 0) if it is missing. */
void *ts_index_take(struct ts_index_arrays *a, size_t item_len, size_t *n);

/* The same, of exactly @n items. */
void *ts_index_take_n(struct ts_index_arrays *a, size_t item_len, size_t n);

#endif
