/* SPDX-License-Identifier: MIT */
#include "ranges.h"

#include <search.h>
#include <stdlib.h>

#include "src/base/collections/bisect.h"

/* Ranges that overlap are equal. */
static int compare(const void *a, const void *b)
{
	const struct ts_range *x = a, *y = b;

	return TS_ORDER(x->process, y->process) ?: x->last < y->first ? -1 : x->first > y->last;
}

void ts_ranges_fini(struct ts_ranges *rs)
{
	tdestroy(rs->root, free);
	rs->root = NULL;
}

bool ts_ranges_add(struct ts_ranges *rs, struct ts_range r)
{
	struct ts_range *item = malloc(sizeof(*item));
	struct ts_range *const *node;

	if (!item)
		return false;
	*item = r;
	node = tsearch(item, &rs->root, compare);
	if (node && *node == item)
		return true;
	free(item);
	return false;
}

const struct ts_range *ts_ranges_find(const struct ts_ranges *rs, uint32_t process, uint64_t first,
				      uint64_t last)
{
	struct ts_range key = { .first = first, .last = last, .process = process };
	const struct ts_range *lowest = NULL;
	struct ts_range *const *node;

	/* tfind() finds any one that overlaps: go on below it */
	while ((node = tfind(&key, &rs->root, compare))) {
		lowest = *node;
		if (lowest->first <= first)
			break;
		key.last = lowest->first - 1;
	}
	return lowest;
}

void ts_ranges_remove(struct ts_ranges *rs, const struct ts_range *r)
{
	tdelete(r, &rs->root, compare);
	free((void *)(uintptr_t)r);
}
