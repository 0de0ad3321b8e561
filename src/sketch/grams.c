/* SPDX-License-Identifier: MIT */
#include "grams.h"

#include <stdlib.h>

#include "src/base/collections/buf.h"

/* A table of at most 2^MAX_TABLE_BITS slots is at most half full. */
#define MIN_TABLE_BITS 12u
#define MAX_TABLE_BITS 19u

/* Longer probe sequences occur with crafted input only; such windows are not recorded. */
#define MAX_DISTANCE 256u

/* A bitmap has at most a bit for each step of a segment, and at least this many: 4 KiB. */
#define MIN_BITMAP_BITS 15u
#define MAX_BITMAP_BITS 22u

/* Of 2^LISTED_GAP_BITS windows that a segment lacks a list takes one for one that it has. */
#define LISTED_GAP_BITS 6u
#define MIN_LISTED_BITS 15u

/* Nothing has been noted lately: no slot has a hash that belongs there. */
static void forget_recent(struct ts_grams *g)
{
	memset(g->recent, 0, sizeof(g->recent));
	g->recent[0] = UINT32_MAX;
}

static void free_table(struct ts_gram_table *t)
{
	free(t->hashes);
	free(t->groups);
	*t = (struct ts_gram_table){ 0 };
}

static bool make_table(struct ts_gram_table *t, unsigned n_bits)
{
	t->hashes = malloc(sizeof(*t->hashes) << n_bits);
	t->groups = calloc((size_t)1 << n_bits, sizeof(*t->groups));
	t->n_bits = n_bits;
	if (t->hashes && t->groups)
		return true;
	free_table(t);
	return false;
}

struct ts_grams *ts_grams_new(void)
{
	struct ts_grams *g = calloc(1, sizeof(*g));

	if (!g || !make_table(&g->table, MIN_TABLE_BITS)) {
		ts_grams_free(g);
		return NULL;
	}
	forget_recent(g);
	return g;
}

void ts_grams_free(struct ts_grams *g)
{
	if (!g)
		return;
	free_table(&g->table);
	free(g->bitmap);
	free(g);
}

void ts_grams_begin_group(struct ts_grams *g, unsigned group)
{
	if (group != g->group)
		forget_recent(g);
	g->group = group;
}

/* ------------------------------------------------------------------------------------------------- noting */

static void set_bit(uint8_t *bitmap, uint32_t key)
{
	bitmap[key / 8] |= (uint8_t)(1u << key % 8);
}

static size_t n_slots(const struct ts_gram_table *t)
{
	return (size_t)1 << t->n_bits;
}

/* The slot of the hash, or the empty one where it belongs; SIZE_MAX: too far away. */
static size_t slot_of(const struct ts_gram_table *t, uint32_t hash)
{
	size_t slot = hash >> (32 - t->n_bits);

	for (unsigned i = 0; i < MAX_DISTANCE; i++, slot = (slot + 1) & (n_slots(t) - 1)) {
		if (!t->groups[slot] || t->hashes[slot] == hash)
			return slot;
	}
	return SIZE_MAX;
}

static void turn_into_bitmap(struct ts_grams *g)
{
	g->bitmap = calloc((size_t)1 << (MAX_BITMAP_BITS - 3), 1);
	for (size_t i = 0; g->bitmap && i < n_slots(&g->table); i++) {
		if (g->table.groups[i])
			set_bit(g->bitmap, g->table.hashes[i] >> (32 - MAX_BITMAP_BITS));
	}
	g->is_failed |= !g->bitmap;
	free_table(&g->table);
}

static bool copy_table(struct ts_gram_table *to, const struct ts_gram_table *from)
{
	for (size_t i = 0; i < n_slots(from); i++) {
		size_t slot = from->groups[i] ? slot_of(to, from->hashes[i]) : 0;

		if (slot == SIZE_MAX)
			return false;
		if (!from->groups[i])
			continue;
		to->hashes[slot] = from->hashes[i];
		to->groups[slot] = from->groups[i];
	}
	return true;
}

/* Make the table twice as long, or a bitmap. */
static void grow(struct ts_grams *g)
{
	struct ts_gram_table longer = { 0 };

	if (g->table.n_bits < MAX_TABLE_BITS && make_table(&longer, g->table.n_bits + 1) &&
	    copy_table(&longer, &g->table)) {
		free_table(&g->table);
		g->table = longer;
		return;
	}
	free_table(&longer);
	turn_into_bitmap(g);
}

static void add_to_table(struct ts_grams *g, uint32_t hash, size_t slot)
{
	struct ts_gram_table *t = &g->table;

	if (!t->groups[slot]) {
		t->hashes[slot] = hash;
		g->n++;
	}
	t->groups[slot] |= UINT64_C(1) << g->group;
	if (g->n > n_slots(t) / 2)
		grow(g);
}

void ts_grams_add(struct ts_grams *g, uint32_t hash)
{
	size_t slot = SIZE_MAX;

	if (g->is_failed)
		return;
	if (!g->bitmap)
		slot = slot_of(&g->table, hash);
	if (slot != SIZE_MAX) {
		add_to_table(g, hash, slot);
		return;
	}
	if (!g->bitmap)
		turn_into_bitmap(g);
	if (g->bitmap)
		set_bit(g->bitmap, hash >> (32 - MAX_BITMAP_BITS));
}

/* -------------------------------------------------------------------------------------- the segment's end */

/* The bits that a number needs, of 2 or more. */
static unsigned n_bits_of(uint64_t n)
{
	return 64 - (unsigned)__builtin_clzll(n > 1 ? n - 1 : 1);
}

static unsigned bitmap_bits(uint64_t n_steps)
{
	unsigned n_bits = n_bits_of(n_steps);

	return n_bits < MIN_BITMAP_BITS ? MIN_BITMAP_BITS : n_bits > MAX_BITMAP_BITS ? MAX_BITMAP_BITS : n_bits;
}

/* A hash of the table, and the groups that noted it. */
struct item {
	uint32_t hash;
	uint64_t groups;
};

/* The hashes of the table in order, with their groups; the caller frees them. */
static struct item *sorted(const struct ts_grams *g)
{
	struct item *items = malloc(((size_t)g->n + 1) * sizeof(*items));
	size_t n = 0;

	for (size_t i = 0; items && i < n_slots(&g->table); i++) {
		struct item item = { g->table.hashes[i], g->table.groups[i] };
		size_t k = n;

		if (!item.groups)
			continue;
		/* slots are nearly in order: none is far from where it belongs */
		for (; k && items[k - 1].hash > item.hash; k--)
			items[k] = items[k - 1];
		items[k] = item;
		n++;
	}
	return items;
}

static void put_key(struct ts_buf *keys, uint64_t difference)
{
	for (; difference > 255; difference -= 255)
		ts_buf_putc(keys, 0);
	ts_buf_putc(keys, (uint8_t)difference);
}

/* A list that is being made: the arrays of a sketch. */
struct list {
	struct ts_buf keys, places, groups;
};

static void put_item(struct list *l, uint64_t difference, uint64_t groups)
{
	unsigned first = (unsigned)__builtin_ctzll(groups);
	unsigned last = 63 - (unsigned)__builtin_clzll(groups);

	put_key(&l->keys, difference);
	ts_buf_putc(&l->places, ts_sketch_place(first, last));
	if (first != last)
		ts_buf_put(&l->groups, &groups, sizeof(groups));
}

/* Hashes whose keys are the same become one.  Groups are left out if it is longer than @max bytes with them. */
static bool put_list(const struct ts_grams *g, unsigned n_bits, uint64_t max, struct list *l)
{
	struct item *items = sorted(g);
	uint64_t end = 0;

	for (size_t i = 0, next; items && i < g->n; i = next) {
		uint64_t key = items[i].hash >> (32 - n_bits), groups = 0;

		for (next = i; next < g->n && items[next].hash >> (32 - n_bits) == key; next++)
			groups |= items[next].groups;
		put_item(l, key + 1 - end, groups);
		end = key + 1;
	}
	if (l->keys.len + l->places.len + l->groups.len > max)
		ts_buf_fini(&l->groups);
	free(items);
	return items;
}

static void put_bitmap(const struct ts_grams *g, unsigned n_bits, struct ts_buf *keys)
{
	uint8_t *p = ts_buf_add(keys, (size_t)1 << (n_bits - 3));

	if (!p)
		return;
	memset(p, 0, (size_t)1 << (n_bits - 3));
	for (uint32_t i = 0; !g->bitmap && i < n_slots(&g->table); i++) {
		if (g->table.groups[i])
			set_bit(p, g->table.hashes[i] >> (32 - n_bits));
	}
	for (uint32_t i = 0; g->bitmap && i < 1u << MAX_BITMAP_BITS; i++) {
		if (g->bitmap[i / 8] >> i % 8 & 1)
			set_bit(p, i >> (MAX_BITMAP_BITS - n_bits));
	}
}

/* Begin the next segment. */
static bool start_again(struct ts_grams *g)
{
	free_table(&g->table);
	free(g->bitmap);
	g->bitmap = NULL;
	g->n = 0;
	g->group = 0;
	forget_recent(g);
	return make_table(&g->table, MIN_TABLE_BITS);
}

bool ts_grams_seal(struct ts_grams *g, uint64_t n_steps, struct ts_sketch *s)
{
	unsigned n_bits = bitmap_bits(n_steps);
	uint64_t max = UINT64_C(1) << (n_bits - 3);
	struct list l = { .keys = { 0 } };
	/* a key takes a byte for its difference, or a few more, and one for its place */
	bool is_list = !g->bitmap && (uint64_t)g->n * 9 / 4 <= max, is_done = !g->is_failed;

	if (is_list)
		n_bits = n_bits_of(g->n) + LISTED_GAP_BITS;
	if (is_list && n_bits < MIN_LISTED_BITS)
		n_bits = MIN_LISTED_BITS;
	if (is_done && is_list)
		is_done = put_list(g, n_bits, max, &l);
	else if (is_done)
		put_bitmap(g, n_bits, &l.keys);
	if (!start_again(g) || !is_done || !ts_buf_ok(&l.keys) || !ts_buf_ok(&l.places) ||
	    !ts_buf_ok(&l.groups)) {
		ts_buf_fini(&l.keys);
		ts_buf_fini(&l.places);
		ts_buf_fini(&l.groups);
		return false;
	}
	*s = (struct ts_sketch){
		.form = is_list ? TS_SKETCH_LIST : TS_SKETCH_BITMAP,
		.n_bits = n_bits,
		.keys = l.keys.data,
		.keys_len = l.keys.len,
		.places = l.places.data,
		.n = l.places.len,
		.groups = (uint64_t *)(void *)l.groups.data,
		.n_groups = l.groups.len / sizeof(uint64_t),
	};
	return true;
}
