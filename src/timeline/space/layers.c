/* SPDX-License-Identifier: MIT */
#include "layers.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/index/index_blocks.h"
#include "src/index/index_write.h"

void ts_layers_fini(struct ts_layers *l)
{
	for (unsigned i = 0; !l->file && i < TS_LAYER_LEVELS; i++) {
		free(l->levels[i].extents);
		free(l->levels[i].ends);
	}
	if (!l->file)
		free(l->items);
	*l = (struct ts_layers){ 0 };
}

/* ------------------------------------------------------------------------------------------------ blocks */

static size_t block_start(const struct ts_layer_level *level, size_t block)
{
	return block ? (size_t)level->ends[block - 1] : 0;
}

/* Room for one more block of @n_extents extents. */
static bool room_for_block(struct ts_layer_level *level, size_t n_extents)
{
	size_t need = block_start(level, level->n_blocks) + n_extents;

	if (!ts_vec_reserve(&level->ends, level->n_blocks, &level->cap_blocks, 1, sizeof(*level->ends)))
		return false;
	return ts_vec_reserve(&level->extents, 0, &level->cap_extents, need, sizeof(*level->extents));
}

/* Sort extents and join those that touch.  Returns how many are left. */
static size_t join(struct ts_extent *e, size_t n)
{
	size_t last = 0;

	TS_SORT_BY(e, n, first);
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

	level->n_extents = start + join(level->extents + start, n);
	level->ends[level->n_blocks++] = level->n_extents;
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
	size_t n = below->n_extents - start;

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
	if (!TS_PUSH(l->items, l->n, l->cap, (struct ts_layer){ pos, first, last, fill, 0 }))
		return false;
	if (add_blocks(l))
		return true;
	l->n--;
	for (size_t i = 0, n = l->n / TS_LAYER_FAN; i < TS_LAYER_LEVELS; i++, n /= TS_LAYER_FAN) {
		l->levels[i].n_blocks = n;
		l->levels[i].n_extents = block_start(&l->levels[i], n);
	}
	return false;
}

/* --------------------------------------------------------------------------------------------- looking up */

static const struct ts_layer whole_space = { .last = UINT64_MAX };

/* The file contradicts itself. */
static struct ts_layer damaged(const struct ts_layers *l)
{
	ts_index_blocks_note_damage(l->file);
	return whole_space;
}

struct ts_layer ts_layers_at(const struct ts_layers *l, uint32_t i)
{
	const struct ts_layer *x = &l->items[i];

	if (!l->file)
		return *x;
	if (!ts_index_blocks_use(l->file, x, sizeof(*x)))
		return whole_space;
	return x->first <= x->last && x->fill <= TS_FILL_ZERO && x->pos <= l->end ? *x : damaged(l);
}

uint32_t ts_layers_until(const struct ts_layers *l, uint64_t pos)
{
	uint32_t at = 0;

	TS_BISECT(at, l->n, i, ts_layers_at(l, i).pos <= pos);
	return at;
}

/* Where the extents of a block lie.  Returns false if they cannot be used. */
static bool extents_of(const struct ts_layers *l, const struct ts_layer_level *level, size_t block,
		       size_t *from, size_t *end)
{
	size_t first = block ? block - 1 : 0;

	if (!ts_index_blocks_use(l->file, &level->ends[first], (block - first + 1) * sizeof(*level->ends)))
		return false;
	*from = block_start(level, block);
	*end = (size_t)level->ends[block];
	if (!l->file || (*from <= *end && *end <= level->n_extents))
		return true;
	ts_index_blocks_note_damage(l->file);
	return false;
}

static struct ts_extent extent_at(const struct ts_layers *l, const struct ts_layer_level *level, size_t i)
{
	if (!ts_index_blocks_use(l->file, &level->extents[i], sizeof(*level->extents)))
		return (struct ts_extent){ 0, UINT64_MAX };
	return level->extents[i];
}

/* Does a layer of the block overlap [first, last]? */
static bool is_in_block(const struct ts_layers *l, unsigned level_i, size_t block, uint64_t first,
			uint64_t last)
{
	const struct ts_layer_level *level = &l->levels[level_i];
	size_t at, end;

	if (!extents_of(l, level, block, &at, &end))
		return true;
	TS_BISECT(at, end, i, extent_at(l, level, i).last < first);
	return at < end && extent_at(l, level, at).first <= last;
}

/* Layer @i, if it overlaps [first, last]. */
static bool is_over(const struct ts_layers *l, uint32_t i, uint64_t first, uint64_t last,
		    struct ts_layer *layer)
{
	*layer = ts_layers_at(l, i);
	return layer->first <= last && layer->last >= first;
}

/* The newest layer of a block in which there is one. */
static uint32_t newest_in_block(const struct ts_layers *l, unsigned level, size_t block, uint64_t first,
				uint64_t last, struct ts_layer *layer)
{
	unsigned left = TS_LAYER_FAN;

	for (; level && left; level--) {
		block = block * TS_LAYER_FAN + (TS_LAYER_FAN - 1);
		for (left = TS_LAYER_FAN; left && !is_in_block(l, level - 1, block, first, last); left--)
			block--;
	}
	block = block * TS_LAYER_FAN + (TS_LAYER_FAN - 1);
	for (unsigned i = 0; left && i < TS_LAYER_FAN; i++) {
		if (is_over(l, (uint32_t)block - i, first, last, layer))
			return (uint32_t)block - i;
	}
	*layer = damaged(l);
	return 0;
}

uint32_t ts_layers_newest(const struct ts_layers *l, uint32_t n, uint64_t first, uint64_t last,
			  struct ts_layer *layer)
{
	while (n % TS_LAYER_FAN) {
		if (is_over(l, --n, first, last, layer))
			return n;
	}
	/* back over the largest blocks that end at n */
	while (n) {
		size_t block = n / TS_LAYER_FAN, len = TS_LAYER_FAN;
		unsigned level = 0;

		for (; block % TS_LAYER_FAN == 0; block /= TS_LAYER_FAN, len *= TS_LAYER_FAN)
			level++;
		if (is_in_block(l, level, block - 1, first, last))
			return newest_in_block(l, level, block - 1, first, last, layer);
		n -= (uint32_t)len;
	}
	if (!l->file)
		return TS_NO_LAYER;
	*layer = damaged(l); /* layer 0 of a recording is everywhere */
	return 0;
}

/* --------------------------------------------------------------------------------------------- index files */

void ts_layers_save(const struct ts_layers *l, struct ts_index_file *f)
{
	ts_index_put_packed(f, l->items, l->n, sizeof(*l->items));
	for (unsigned i = 0; i < TS_LAYER_LEVELS; i++) {
		ts_index_put_packed(f, l->levels[i].extents, l->levels[i].n_extents,
				    sizeof(struct ts_extent));
		ts_index_put_packed(f, l->levels[i].ends, l->levels[i].n_blocks, sizeof(uint64_t));
	}
}

bool ts_layers_load(struct ts_layers *l, struct ts_index_arrays *a, uint64_t n_steps)
{
	struct ts_layers loaded = { .file = a->blocks, .end = n_steps };
	size_t n, n_blocks;

	loaded.items = ts_index_take_unread(a, sizeof(*loaded.items), &n);
	if (!n || n >= UINT32_MAX / 2)
		return false;
	loaded.n = (uint32_t)n;
	n_blocks = n;
	for (unsigned i = 0; i < TS_LAYER_LEVELS; i++) {
		struct ts_layer_level *level = &loaded.levels[i];

		level->extents = ts_index_take_unread(a, sizeof(*level->extents), &level->n_extents);
		level->ends = ts_index_take_unread(a, sizeof(*level->ends), &level->n_blocks);
		n_blocks /= TS_LAYER_FAN;
		if (level->n_blocks != n_blocks)
			return false;
	}
	if (a->is_bad)
		return false;
	ts_layers_fini(l);
	*l = loaded;
	return true;
}
