/* SPDX-License-Identifier: MIT */
/*
 * The rows of a band in a picture: the addresses that each row shows.
 *
 * A program accesses a few areas that are far from each other.  The number of an area's rows grows with the
 * logarithm of its length, so that a small program is visible beside a large library.  Addresses between
 * areas have no row.
 */
#ifndef TS_PLOT_AREAS_H
#define TS_PLOT_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TS_NO_ROW UINT32_MAX

struct ts_area {
	uint64_t first, last; /* addresses, both inclusive */
	uint64_t step;        /* bytes of a row; the last row may have fewer */
	uint32_t process;
	uint32_t label;       /* the name of its module or file (labels.h); TS_NO_LABEL: none, or several */
	uint32_t row, n_rows; /* its first row and the number of its rows */
};

/* All zero: empty. */
struct ts_areas {
	struct ts_area *items; /* owned; by process and address */
	size_t n, cap;
	uint32_t n_rows;
	bool is_failed;        /* memory was exhausted */
	bool is_partial;       /* more processes than areas: some have no rows */
};

void ts_areas_fini(struct ts_areas *a);

/*
 * Add an access to [@first, @last] of @process, both inclusive.  Accesses may come in any order and may
 * repeat.  If memory is exhausted, is_failed is set.
 */
void ts_areas_add(struct ts_areas *a, uint32_t process, uint64_t first, uint64_t last);

/*
 * Returns the label of the module or file that contains @addr.
 * Returns TS_NO_LABEL if none does.
 * *until is set to the last address for which the result is the same.
 */
typedef uint32_t ts_area_owner(void *user, uint32_t process, uint64_t addr, uint64_t *until);

/*
 * Join the accesses into at most @max_areas areas and assign their rows, at most @max_rows.  @max_rows must
 * not be less than @max_areas.  Called once, after the last ts_areas_add().
 *
 * Returns false if memory is exhausted now, or was when an access was added.
 */
bool ts_areas_arrange(struct ts_areas *a, size_t max_areas, uint32_t max_rows,
		      ts_area_owner *owner, void *user);

/*
 * Returns the row that shows @addr of @process.
 * Returns TS_NO_ROW if no row shows it.
 */
uint32_t ts_areas_row(const struct ts_areas *a, uint32_t process, uint64_t addr);

#endif
