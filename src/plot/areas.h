/* SPDX-License-Identifier: MIT */
/*
 * The rows of a band: which addresses are shown where.
 *
 * What a program touches is a few areas far from each other.  Each area gets rows by the logarithm of its
 * length, so that a small program is seen beside a large library; between areas there is nothing.
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
	uint32_t label;       /* whose it is; labels.h */
	uint32_t row, n_rows;
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

/* Something lies at [@first, @last] of @process; in any order, and as often as there are accesses. */
void ts_areas_add(struct ts_areas *a, uint32_t process, uint64_t first, uint64_t last);

/*
 * Returns the label that owns an address, TS_NO_LABEL if none does.  *until is set to the last address of that
 * answer.
 */
typedef uint32_t ts_area_owner(void *user, uint32_t process, uint64_t addr, uint64_t *until);

/*
 * All is added: at most @max_areas areas with at most @max_rows rows together, which is not less.
 *
 * Returns false if memory is or was exhausted.
 */
bool ts_areas_arrange(struct ts_areas *a, size_t max_areas, uint32_t max_rows,
		      ts_area_owner *owner, void *user);

/* The row that shows an address; TS_NO_ROW if there is none. */
uint32_t ts_areas_row(const struct ts_areas *a, uint32_t process, uint64_t addr);

#endif
