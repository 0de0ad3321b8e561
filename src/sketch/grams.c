/* SPDX-License-Identifier: MIT */
#include "grams.h"

#include <stdlib.h>

#include "src/base/buf.h"

/* A table of at most 2^MAX_TABLE_BITS slots is at most half full. */
#define MIN_TABLE_BITS 12u
#define MAX_TABLE_BITS 19u

/* A window farther from its slot was put there by somebody who wants this to take long. */
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
	free(t->spans);
	*t = (struct ts_gram_table){ 0 };
}

static bool make_table(struct ts_gram_table *t, unsigned n_bits)
{
	t->hashes = malloc(sizeof(*t->hashes) << n_bits);
	t->spans = calloc((size_t)1 << n_bits, sizeof(*t->spans));
	t->n_bits = n_bits;
	if (t->hashes && t->spans)
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
		if (!t->spans[slot] || t->hashes[slot] == hash)
			return slot;
	}
	return SIZE_MAX;
}

static void turn_into_bitmap(struct ts_grams *g)
{
	g->bitmap = calloc((size_t)1 << (MAX_BITMAP_BITS - 3), 1);
	for (size_t i = 0; g->bitmap && i < n_slots(&g->table); i++) {
		if (g->table.spans[i])
			set_bit(g->bitmap, g->table.hashes[i] >> (32 - MAX_BITMAP_BITS));
	}
	g->is_failed |= !g->bitmap;
	free_table(&g->table);
}

static bool copy_table(struct ts_gram_table *to, const struct ts_gram_table *from)
{
	for (size_t i = 0; i < n_slots(from); i++) {
		size_t slot = from->spans[i] ? slot_of(to, from->hashes[i]) : 0;

		if (slot == SIZE_MAX)
			return false;
		if (!from->spans[i])
			continue;
		to->hashes[slot] = from->hashes[i];
		to->spans[slot] = from->spans[i];
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
	unsigned first = t->spans[slot] & 0xff;

	if (!t->spans[slot]) {
		t->hashes[slot] = hash;
		first = g->group;
		g->n++;
	}
	t->spans[slot] = (uint16_t)(first | (g->group + 1) << 8);
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

/* The hashes of the table in order, each with its span in the lowest 16 bits; the caller frees them. */
static uint64_t *sorted(const struct ts_grams *g)
{
	uint64_t *items = malloc(((size_t)g->n + 1) * sizeof(*items));
	size_t n = 0;

	for (size_t i = 0; items && i < n_slots(&g->table); i++) {
		uint64_t item = (uint64_t)g->table.hashes[i] << 16 | g->table.spans[i];
		size_t k = n;

		if (!g->table.spans[i])
			continue;
		/* slots are nearly in order: none is far from where it belongs */
		for (; k && items[k - 1] > item; k--)
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

/* Hashes whose keys are the same become one. */
static bool put_list(const struct ts_grams *g, unsigned n_bits, struct ts_buf *keys, struct ts_buf *places)
{
	uint64_t *items = sorted(g), end = 0;

	for (size_t i = 0, next; items && i < g->n; i = next) {
		uint64_t key = items[i] >> (48 - n_bits);
		unsigned first = 63, last = 0;

		for (next = i; next < g->n && items[next] >> (48 - n_bits) == key; next++) {
			unsigned from = items[next] & 0xff, to = (items[next] >> 8 & 0xff) - 1;

			first = from < first ? from : first;
			last = to > last ? to : last;
		}
		put_key(keys, key + 1 - end);
		ts_buf_putc(places, ts_sketch_place(first, last));
		end = key + 1;
	}
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
		if (g->table.spans[i])
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
	struct ts_buf keys = { 0 }, places = { 0 };
	/* a key takes a byte for its difference, or a few more, and one for its place */
	bool is_list = !g->bitmap && (uint64_t)g->n * 9 / 4 <= UINT64_C(1) << (n_bits - 3),
	     is_done = !g->is_failed;

	if (is_list)
		n_bits = n_bits_of(g->n) + LISTED_GAP_BITS;
	if (is_list && n_bits < MIN_LISTED_BITS)
		n_bits = MIN_LISTED_BITS;
	if (is_done && is_list)
		is_done = put_list(g, n_bits, &keys, &places);
	else if (is_done)
		put_bitmap(g, n_bits, &keys);
	if (!start_again(g) || !is_done || !ts_buf_ok(&keys) || !ts_buf_ok(&places)) {
		ts_buf_fini(&keys);
		ts_buf_fini(&places);
		return false;
	}
	*s = (struct ts_sketch){
		.form = is_list ? TS_SKETCH_LIST : TS_SKETCH_BITMAP,
		.n_bits = n_bits,
		.keys = keys.data,
		.keys_len = keys.len,
		.places = places.data,
		.n = places.len,
	};
	return true;
}
