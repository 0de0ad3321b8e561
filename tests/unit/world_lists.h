/* SPDX-License-Identifier: MIT */
/* What is there at a position of a world, by looking at all items. */
#ifndef TS_TESTS_WORLD_LISTS_H
#define TS_TESTS_WORLD_LISTS_H

#include <stdlib.h>

#include "src/timeline/world/world.h"

static inline int compare_by_address(const void *a, const void *b)
{
	const struct ts_region *x = *(const struct ts_region *const *)a, *y = *(const struct ts_region *const *)b;

	return (x->first > y->first) - (x->first < y->first);
}

/* The regions of @process at position @pos, by address: up to @max go to @out.  Returns their number. */
static inline size_t world_regions(const struct ts_world *w, uint32_t process, uint64_t pos,
				   const struct ts_region **out, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; (i = ts_world_pass_regions(w, i, pos)) < w->n_regions; i++) {
		const struct ts_region *r = ts_world_region(w, i);

		if (r->from > pos)
			break;
		if (r->process != process || pos >= r->until)
			continue;
		if (n < max)
			out[n] = r;
		n++;
	}
	if (max)
		qsort(out, n < max ? n : max, sizeof(const struct ts_region *), compare_by_address);
	return n;
}

/* The next module of @process at position @pos after the one before *at (0 at first), as they appeared; NULL after the last. */
static inline const struct ts_module_span *world_next_module(const struct ts_world *w, uint32_t process, uint64_t pos,
							     size_t *at)
{
	while (*at < w->n_modules) {
		const struct ts_module_span *m = ts_world_module(w, (*at)++);

		if (m->process == process && m->from <= pos && pos < m->until)
			return m;
	}
	return NULL;
}

#endif
