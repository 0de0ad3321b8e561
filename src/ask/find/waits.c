/* SPDX-License-Identifier: MIT */
#include "waits.h"

#include <stdlib.h>

#include "src/base/free_later.h"
#include "src/base/vec.h"

void ts_waits_fini(struct ts_waits *w)
{
	ts_free_later(w->items, w->cap * sizeof(*w->items));
	*w = (struct ts_waits){ 0 };
}

bool ts_waits_add(struct ts_waits *w, uint64_t chunk, uint32_t item)
{
	size_t i = w->n;

	if (!ts_vec_reserve(&w->items, w->n, &w->cap, 1, sizeof(*w->items)))
		return false;
	w->n++;
	for (; i && w->items[(i - 1) / 2].chunk > chunk; i = (i - 1) / 2)
		w->items[i] = w->items[(i - 1) / 2];
	w->items[i] = (struct ts_wait){ chunk, item };
	return true;
}

struct ts_wait ts_waits_take(struct ts_waits *w)
{
	struct ts_wait first = w->items[0], last = w->items[--w->n];
	size_t i = 0, next;

	for (; (next = 2 * i + 1) < w->n; i = next) {
		if (next + 1 < w->n && w->items[next + 1].chunk < w->items[next].chunk)
			next++;
		if (w->items[next].chunk >= last.chunk)
			break;
		w->items[i] = w->items[next];
	}
	if (w->n)
		w->items[i] = last;
	return first;
}
