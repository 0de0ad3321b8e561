/* SPDX-License-Identifier: MIT */
#include "layers.h"

#include <stdlib.h>

void ts_layers_fini(struct ts_layers *l)
{
	free(l->items);
	free(l->lo);
	free(l->hi);
	*l = (struct ts_layers){ 0 };
}

/* Node 1 is the root, node i has children 2i and 2i + 1, leaf cap + i is item i. */
static void widen(struct ts_layers *l, uint32_t item)
{
	for (size_t node = (size_t)l->cap + item; node; node /= 2) {
		if (l->items[item].first < l->lo[node])
			l->lo[node] = l->items[item].first;
		if (l->items[item].last > l->hi[node])
			l->hi[node] = l->items[item].last;
	}
}

static bool grow(struct ts_layers *l)
{
	uint32_t cap = l->cap ? l->cap * 2 : 16;
	struct ts_layer *items = cap < UINT32_MAX / 2 ? realloc(l->items, cap * sizeof(*items)) : NULL;
	uint64_t *lo, *hi;

	if (!items)
		return false;
	l->items = items;
	lo = malloc(2 * (size_t)cap * sizeof(*lo));
	hi = malloc(2 * (size_t)cap * sizeof(*hi));
	if (!lo || !hi) {
		free(lo);
		free(hi);
		return false;
	}
	free(l->lo);
	free(l->hi);
	l->lo = lo;
	l->hi = hi;
	l->cap = cap;
	for (size_t i = 0; i < 2 * (size_t)cap; i++) {
		lo[i] = UINT64_MAX;
		hi[i] = 0;
	}
	for (uint32_t i = 0; i < l->n; i++)
		widen(l, i);
	return true;
}

bool ts_layers_add(struct ts_layers *l, uint64_t pos, uint64_t first, uint64_t last, enum ts_fill fill)
{
	if (l->n == l->cap && !grow(l))
		return false;
	l->items[l->n] = (struct ts_layer){ pos, first, last, fill };
	widen(l, l->n++);
	return true;
}

uint32_t ts_layers_until(const struct ts_layers *l, uint64_t pos)
{
	uint32_t lo = 0, n = l->n;

	while (n) {
		uint32_t half = n / 2;

		if (l->items[lo + half].pos <= pos) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo;
}

/* The newest item below @n in the subtree of @node, whose leaves are items [from, from + width). */
static uint32_t newest_in(const struct ts_layers *l, size_t node, uint32_t from, uint32_t width, uint32_t n, uint64_t first,
			  uint64_t last)
{
	uint32_t found;

	if (from >= n || l->lo[node] > last || l->hi[node] < first)
		return TS_NO_LAYER;
	if (width == 1)
		return from;
	width /= 2;
	found = newest_in(l, 2 * node + 1, from + width, width, n, first, last);
	return found != TS_NO_LAYER ? found : newest_in(l, 2 * node, from, width, n, first, last);
}

uint32_t ts_layers_newest(const struct ts_layers *l, uint32_t n, uint64_t first, uint64_t last)
{
	return l->n ? newest_in(l, 1, 0, l->cap, n, first, last) : TS_NO_LAYER;
}
