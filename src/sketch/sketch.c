/* SPDX-License-Identifier: MIT */
/*
 * A list's keys ascend: a byte of the difference to the one before (the first to -1); a byte 0 is 255 of a
 * difference that goes on.  A place is the number of the only group, or PLACE_RANGE plus 8 times the eighth
 * of the groups where the key was noted first, plus that where it was noted last.  The groups of such a place
 * follow in an array of their own; if this is not there, all between these two may be.
 */
#include "sketch.h"

#include <stdlib.h>

#include "src/index/index_blocks.h"
#include "src/index/index_write.h"

#define PLACE_RANGE 64u

/* A bitmap is a whole number of bytes, and no larger than memory. */
#define MIN_BITMAP_BITS 3u
#define MAX_BITMAP_BITS 26u

uint8_t ts_sketch_place(unsigned first, unsigned last)
{
	return (uint8_t)(first == last ? last : PLACE_RANGE + first / 8 * 8 + last / 8);
}

static uint64_t groups_at(uint8_t place)
{
	unsigned first = place % 64u / 8 * 8, last = place % 8u * 8 + 7;

	if (place < PLACE_RANGE)
		return UINT64_C(1) << place;
	return first <= last ? UINT64_MAX >> (63 - (last - first)) << first : UINT64_MAX;
}

void ts_sketch_fini(struct ts_sketch *s)
{
	if (!s->file) {
		free(s->keys);
		free(s->places);
		free(s->groups);
		free(s->bytes);
		free(s->pairs);
		free(s->pair_groups);
		free(s->wild);
	}
	*s = (struct ts_sketch){ 0 };
}

/* --------------------------------------------------------------------------------------------- the arrays */

void ts_sketch_save(const struct ts_sketch *s, struct ts_index_file *f)
{
	const uint32_t head[] = { s->form, s->n_bits };

	ts_index_put(f, head, 2, sizeof(head[0]));
	ts_index_put_packed(f, s->keys, s->keys_len, 1);
	ts_index_put_packed(f, s->places, s->n, 1);
	ts_index_put_packed(f, s->groups, s->n_groups, sizeof(*s->groups));
	ts_index_put_packed(f, s->bytes, s->bytes_len, 1);
	ts_index_put_packed(f, s->pairs, s->n_pairs, sizeof(*s->pairs));
	ts_index_put_packed(f, s->pair_groups, s->n_pairs, sizeof(*s->pair_groups));
	ts_index_put(f, s->wild, s->n_wild, sizeof(*s->wild));
}

static bool check(const struct ts_sketch *s)
{
	for (size_t i = 0; i < s->n_wild; i++) {
		if (s->wild[i] >= TS_SEGMENT_CHUNKS || (i && s->wild[i] <= s->wild[i - 1]))
			return false;
	}
	if (s->n_groups && s->form != TS_SKETCH_LIST)
		return false;
	if (s->bytes_len != (s->form == TS_SKETCH_NONE ? 0 : TS_SKETCH_BYTES_LEN))
		return false;
	switch (s->form) {
	case TS_SKETCH_NONE:
		return !s->keys_len && !s->n;
	case TS_SKETCH_LIST:
		return s->n_bits && s->n_bits <= 32;
	case TS_SKETCH_BITMAP:
		return s->n_bits >= MIN_BITMAP_BITS && s->n_bits <= MAX_BITMAP_BITS &&
		       s->keys_len == (size_t)1 << (s->n_bits - 3) && !s->n;
	default:
		return false;
	}
}

bool ts_sketch_load(struct ts_sketch *s, struct ts_index_arrays *a)
{
	struct ts_sketch m = { .file = a->blocks };
	const uint32_t *head = ts_index_take_n(a, sizeof(*head), 2);
	size_t n_pair_groups;

	m.keys = ts_index_take_unread(a, 1, &m.keys_len);
	m.places = ts_index_take_unread(a, 1, &m.n);
	m.groups = ts_index_take_unread(a, sizeof(*m.groups), &m.n_groups);
	m.bytes = ts_index_take_unread(a, 1, &m.bytes_len);
	m.pairs = ts_index_take_unread(a, sizeof(*m.pairs), &m.n_pairs);
	m.pair_groups = ts_index_take_unread(a, sizeof(*m.pair_groups), &n_pair_groups);
	m.wild = ts_index_take(a, sizeof(*m.wild), &m.n_wild);
	if (!head || a->is_bad || n_pair_groups != m.n_pairs)
		return false;
	m.form = head[0];
	m.n_bits = head[1];
	if (!check(&m))
		return false;
	ts_sketch_fini(s);
	*s = m;
	return true;
}

/* --------------------------------------------------------------------------------------------- looking up */

/* The groups of a key, before which @n_before others have several. */
static uint64_t groups_of(const struct ts_sketch *s, uint8_t place, size_t n_before)
{
	if (place < PLACE_RANGE || !s->n_groups)
		return groups_at(place);
	if (n_before >= s->n_groups) {
		ts_index_blocks_note_damage(s->file);
		return UINT64_MAX;
	}
	ts_index_blocks_use(s->file, &s->groups[n_before], sizeof(*s->groups));
	if (!s->groups[n_before])
		ts_index_blocks_note_damage(s->file);
	return s->groups[n_before];
}

static void look_up_list(const struct ts_sketch *s, const uint32_t *hashes, size_t n, uint64_t *groups)
{
	unsigned shift = 32 - s->n_bits;
	uint64_t key = UINT64_MAX;
	size_t at = 0, k = 0, n_before = 0;

	for (size_t i = 0; i < s->keys_len && k < n; i++) {
		key += s->keys[i] ? s->keys[i] : 255;
		if (!s->keys[i])
			continue;
		if (__builtin_expect(at == s->n, 0)) {
			ts_index_blocks_note_damage(s->file);
			break;
		}
		for (; k < n && hashes[k] >> shift < key; k++)
			groups[k] = 0;
		for (; k < n && hashes[k] >> shift == key; k++)
			groups[k] = groups_of(s, s->places[at], n_before);
		n_before += s->places[at++] >= PLACE_RANGE;
	}
	for (; k < n; k++)
		groups[k] = 0;
}

void ts_sketch_look_up(const struct ts_sketch *s, const uint32_t *hashes, size_t n, uint64_t *groups)
{
	/* whether a file is damaged is checked before its matches are reported */
	ts_index_blocks_use(s->file, s->keys, s->keys_len);
	ts_index_blocks_use(s->file, s->places, s->n);
	if (s->form == TS_SKETCH_LIST) {
		look_up_list(s, hashes, n, groups);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t key = s->form == TS_SKETCH_BITMAP ? hashes[i] >> (32 - s->n_bits) : 0;
		bool may = s->form == TS_SKETCH_NONE || s->keys[key / 8] >> key % 8 & 1;

		groups[i] = may ? UINT64_MAX : 0;
	}
}

/* All groups that a segment has. */
#define ALL_GROUPS (UINT64_MAX >> (64 - (TS_SEGMENT_CHUNKS + TS_SKETCH_GROUP - 1) / TS_SKETCH_GROUP))

uint64_t ts_sketch_pair_groups(const struct ts_sketch *s, unsigned pair)
{
	size_t lo = 0, n = s->n_pairs;
	int below = -1, above = 65536;

	if (s->form == TS_SKETCH_NONE)
		return UINT64_MAX;
	ts_index_blocks_use(s->file, s->pairs, s->n_pairs * sizeof(*s->pairs));
	while (n) {
		int middle = s->pairs[lo + n / 2];
		bool is_before = middle < (int)pair;

		if (middle <= below || middle >= above)
			ts_index_blocks_note_damage(s->file);
		*(is_before ? &below : &above) = middle;
		lo += is_before ? n / 2 + 1 : 0;
		n = is_before ? n - n / 2 - 1 : n / 2;
	}
	if (lo == s->n_pairs || s->pairs[lo] != pair)
		return 0;
	ts_index_blocks_use(s->file, &s->pair_groups[lo], sizeof(*s->pair_groups));
	if (!s->pair_groups[lo] || s->pair_groups[lo] & ~ALL_GROUPS)
		ts_index_blocks_note_damage(s->file);
	return s->pair_groups[lo];
}

const uint8_t *ts_sketch_chunks(const struct ts_sketch *s, uint8_t b)
{
	const uint8_t *chunks = s->bytes + b * TS_SKETCH_BYTE_LEN;

	if (s->form == TS_SKETCH_NONE)
		return NULL;
	ts_index_blocks_use(s->file, chunks, TS_SKETCH_BYTE_LEN);
	return chunks;
}
