/* SPDX-License-Identifier: MIT */
/*
 * A set of ranges of addresses in processes, each with an ordinal.  No two ranges overlap.
 *
 * It is a balanced tree (tsearch(3)).  The time of each call is logarithmic in the number of ranges.
 */
#ifndef TS_RANGES_H
#define TS_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct ts_range {
	uint64_t first, last; /* addresses, both inclusive */
	uint32_t process;
	uint32_t item;        /* the ordinal */
	uint64_t since;       /* the user's */
};

/* All zero is an empty set. */
struct ts_ranges {
	void *root; /* owned */
};

void ts_ranges_fini(struct ts_ranges *rs);

/*
 * Add a range.
 *
 * Returns true on success.
 * Returns false if memory is exhausted, or if a range of that process overlaps it.
 */
bool ts_ranges_add(struct ts_ranges *rs, struct ts_range r);

/*
 * Returns the range of @process with the lowest address that overlaps [@first, @last], borrowed until it is removed.
 * Returns NULL if no range overlaps it.
 */
const struct ts_range *ts_ranges_find(const struct ts_ranges *rs, uint32_t process, uint64_t first,
				      uint64_t last);

/* Remove and free @r, which ts_ranges_find() returned. */
void ts_ranges_remove(struct ts_ranges *rs, const struct ts_range *r);

#endif
