/* SPDX-License-Identifier: MIT */
#include "layers.h"

#include <stdlib.h>
#include <string.h>

void ts_layers_fini(struct ts_layers *l)
{
	free(l->items);
	for (unsigned i = 0; i < TS_LAYER_LEVELS; i++) {
		free(l->levels[i].extents);
		free(l->levels[i].ends);
	}
	*l = (struct ts_layers){ 0 };
}

/* ------------------------------------------------------------------------------------------------ blocks */

static size_t block_start(const struct ts_layer_level *level, size_t block)
{
	return block ? level->ends[block - 1] : 0;
}

/* Room for one more block of @n_extents extents. */
static bool room_for_block(struct ts_layer_level *level, size_t n_extents)
{
	size_t need = block_start(level, level->n_blocks) + n_extents;

	if (level->n_blocks == level->cap_blocks) {
		size_t cap = level->cap_blocks ? level->cap_blocks * 2 : 8;
		size_t *ends = realloc(level->ends, cap * sizeof(*ends));

		if (!ends)
			return false;
		level->ends = ends;
		level->cap_blocks = cap;
	}
	if (need > level->cap_extents) {
		size_t cap = level->cap_extents * 2 > need ? level->cap_extents * 2 : need;
		struct ts_extent *extents = realloc(level->extents, cap * sizeof(*extents));

		if (!extents)
			return false;
		level->extents = extents;
		level->cap_extents = cap;
	}
	return true;
}

static int compare_extents(const void *a, const void *b)
{
	const struct ts_extent *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Sort extents and join those that touch.  Returns how many are left. */
static size_t join(struct ts_extent *e, size_t n)
{
	size_t last = 0;

	qsort(e, n, sizeof(*e), compare_extents);
	for (size_t i = 1; i < n; i++) {
		if (e[i].first > e[last].last && e[i].first - e[last].last > 1)
			e[++last] = e[i];
		else if (e[i].last > e[last].last)
			e[last].last = e[i].last;
	}
	return last + 1;
}

/* The @n extents that were appended to a level's blocks become one more block. */
static void close_block(struct ts_layer_level *level, size_t n)
{
	size_t start = block_start(level, level->n_blocks);

	level->ends[level->n_blocks++] = start + join(level->extents + start, n);
}

/* The last TS_LAYER_FAN layers are a block. */
static bool add_lowest(struct ts_layers *l)
{
	struct ts_layer_level *level = &l->levels[0];
	struct ts_extent *e;

	if (!room_for_block(level, TS_LAYER_FAN))
		return false;
	e = level->extents + block_start(level, level->n_blocks);
	for (uint32_t i = l->n - TS_LAYER_FAN; i < l->n; i++)
		*e++ = (struct ts_extent){ l->items[i].first, l->items[i].last };
	close_block(level, TS_LAYER_FAN);
	return true;
}

/* The last TS_LAYER_FAN blocks of the level below are a block of this one. */
static bool add_higher(struct ts_layer_level *level, const struct ts_layer_level *below)
{
	size_t start = block_start(below, below->n_blocks - TS_LAYER_FAN);
	size_t n = below->ends[below->n_blocks - 1] - start;

	if (!room_for_block(level, n))
		return false;
	memcpy(level->extents + block_start(level, level->n_blocks), below->extents + start,
	       n * sizeof(*below->extents));
	close_block(level, n);
	return true;
}

static bool add_blocks(struct ts_layers *l)
{
	uint32_t n = l->n / TS_LAYER_FAN;

	if (l->n % TS_LAYER_FAN)
		return true;
	if (!add_lowest(l))
		return false;
	for (unsigned i = 1; i < TS_LAYER_LEVELS && n % TS_LAYER_FAN == 0; i++, n /= TS_LAYER_FAN) {
		if (!add_higher(&l->levels[i], &l->levels[i - 1]))
			return false;
	}
	return true;
}

bool ts_layers_add(struct ts_layers *l, uint64_t pos, uint64_t first, uint64_t last, enum ts_fill fill)
{
	if (l->n == l->cap) {
		uint32_t cap = l->cap ? l->cap * 2 : 16;
		struct ts_layer *items =
			cap < UINT32_MAX / 2 ? realloc(l->items, cap * sizeof(*items)) : NULL;

		if (!items)
			return false;
		l->items = items;
		l->cap = cap;
	}
	l->items[l->n++] = (struct ts_layer){ pos, first, last, fill };
	if (add_blocks(l))
		return true;
	l->n--;
	for (size_t i = 0, n = l->n / TS_LAYER_FAN; i < TS_LAYER_LEVELS; i++, n /= TS_LAYER_FAN)
		l->levels[i].n_blocks = n;
	return false;
}

/* --------------------------------------------------------------------------------------------- looking up */

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

/* Does a layer of the block overlap [first, last]? */
static bool is_in_block(const struct ts_layer_level *level, size_t block, uint64_t first, uint64_t last)
{
	size_t lo = block_start(level, block), end = level->ends[block], n = end - lo;

	while (n) {
		size_t half = n / 2;

		if (level->extents[lo + half].last < first) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo < end && level->extents[lo].first <= last;
}

/* The newest layer of a block in which there is one. */
static uint32_t newest_in_block(const struct ts_layers *l, unsigned level, size_t block, uint64_t first,
				uint64_t last)
{
	uint32_t i;

	while (level--) {
		block = block * TS_LAYER_FAN + (TS_LAYER_FAN - 1);
		while (!is_in_block(&l->levels[level], block, first, last))
			block--;
	}
	i = (uint32_t)block * TS_LAYER_FAN + (TS_LAYER_FAN - 1);
	while (l->items[i].first > last || l->items[i].last < first)
		i--;
	return i;
}

uint32_t ts_layers_newest(const struct ts_layers *l, uint32_t n, uint64_t first, uint64_t last)
{
	while (n % TS_LAYER_FAN) {
		n--;
		if (l->items[n].first <= last && l->items[n].last >= first)
			return n;
	}
	/* back over the largest blocks that end at n */
	while (n) {
		size_t block = n / TS_LAYER_FAN, len = TS_LAYER_FAN;
		unsigned level = 0;

		for (; block % TS_LAYER_FAN == 0; block /= TS_LAYER_FAN, len *= TS_LAYER_FAN)
			level++;
		if (is_in_block(&l->levels[level], block - 1, first, last))
			return newest_in_block(l, level, block - 1, first, last);
		n -= (uint32_t)len;
	}
	return TS_NO_LAYER;
}
