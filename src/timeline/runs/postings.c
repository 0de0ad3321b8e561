/* SPDX-License-Identifier: MIT */
#include "postings.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/index/index_blocks.h"
#include "src/index/index_write.h"

#define BLOCK_VALUES 64
#define MAX_VARINT 5 /* bytes of a 32-bit number */

bool ts_pairs_add(struct ts_pairs *p, uint32_t key, uint32_t value)
{
	return p->n < UINT32_MAX && TS_PUSH(p->items, p->n, p->cap, (struct ts_pair){ key, value });
}

void ts_pairs_fini(struct ts_pairs *p)
{
	free(p->items);
	*p = (struct ts_pairs){ 0 };
}

void ts_postings_fini(struct ts_postings *set)
{
	if (!set->file) {
		free(set->keys);
		free(set->first_block);
		free(set->blocks);
		free(set->bytes);
	}
	*set = (struct ts_postings){ 0 };
}

/*
 * Counting sort by key, stable: values stay ascending.  @end gets where each key's values end in the result.
 */
static uint32_t *sort_values(const struct ts_pairs *p, uint32_t n_keys, uint32_t *end)
{
	uint32_t *values = malloc((p->n ? p->n : 1) * sizeof(*values));
	uint32_t sum = 0;

	if (!values)
		return NULL;
	memset(end, 0, n_keys * sizeof(*end));
	for (size_t i = 0; i < p->n; i++)
		end[p->items[i].key]++;
	for (uint32_t k = 0; k < n_keys; k++) {
		uint32_t n = end[k];

		end[k] = sum;
		sum += n;
	}
	for (size_t i = 0; i < p->n; i++)
		values[end[p->items[i].key]++] = p->items[i].value;
	return values;
}

static uint8_t *put_varint(uint8_t *p, uint32_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

/* Returns what follows the number; NULL if none is found before @end. */
static inline const uint8_t *get_varint(const uint8_t *p, const uint8_t *end, uint32_t *v)
{
	uint64_t sum = 0;

	if (__builtin_expect(p < end && *p < 0x80, 1)) {
		*v = *p;
		return p + 1;
	}
	for (unsigned shift = 0; p < end && shift < 7 * MAX_VARINT; shift += 7) {
		sum |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p++ & 0x80)) {
			*v = (uint32_t)sum;
			return sum <= UINT32_MAX ? p : NULL;
		}
	}
	return NULL;
}

static void add_list(struct ts_postings *set, const uint32_t *values, uint32_t n)
{
	uint8_t *p = set->bytes + set->n_bytes;

	for (uint32_t i = 0; i < n; i++) {
		if (i % BLOCK_VALUES == 0)
			set->blocks[set->n_blocks++] =
				(struct ts_posting_block){ values[i], (uint32_t)(p - set->bytes) };
		else
			p = put_varint(p, values[i] - values[i - 1]);
	}
	set->n_bytes = (size_t)(p - set->bytes);
}

static bool alloc_set(struct ts_postings *set, const uint32_t *end, uint32_t n_keys, size_t n_values)
{
	size_t n_blocks = 0;

	for (uint32_t k = 0, start = 0; k < n_keys; start = end[k++]) {
		set->n_keys += end[k] > start;
		n_blocks += (end[k] - start + BLOCK_VALUES - 1) / BLOCK_VALUES;
	}
	set->keys = malloc((set->n_keys + 1) * sizeof(*set->keys));
	set->first_block = malloc((set->n_keys + 1) * sizeof(*set->first_block));
	set->blocks = malloc((n_blocks + 1) * sizeof(*set->blocks));
	set->bytes = malloc(n_values * MAX_VARINT + 1);
	return set->keys && set->first_block && set->blocks && set->bytes;
}

static void fill_set(struct ts_postings *set, const uint32_t *values, const uint32_t *end, uint32_t n_keys)
{
	size_t n = 0;
	uint8_t *bytes;

	for (uint32_t k = 0, start = 0; k < n_keys; start = end[k++]) {
		if (end[k] == start)
			continue;
		set->keys[n] = k;
		set->first_block[n++] = (uint32_t)set->n_blocks;
		add_list(set, values + start, end[k] - start);
	}
	set->first_block[n] = (uint32_t)set->n_blocks;
	set->blocks[set->n_blocks] = (struct ts_posting_block){ 0, (uint32_t)set->n_bytes };
	bytes = realloc(set->bytes, set->n_bytes + 1);
	if (bytes)
		set->bytes = bytes;
}

bool ts_postings_seal(struct ts_postings *set, const struct ts_pairs *p, uint32_t n_keys)
{
	uint32_t *end = malloc((n_keys ? n_keys : 1) * sizeof(*end));
	uint32_t *values = end ? sort_values(p, n_keys, end) : NULL;
	bool done = false;

	*set = (struct ts_postings){ 0 };
	if (values && alloc_set(set, end, n_keys, p->n)) {
		fill_set(set, values, end, n_keys);
		done = true;
	}
	free(values);
	free(end);
	if (!done)
		ts_postings_fini(set);
	return done;
}

uint32_t ts_postings_key(const struct ts_postings *set, size_t i)
{
	ts_index_blocks_use(set->file, &set->keys[i], sizeof(*set->keys));
	return set->keys[i];
}

/* Where a block begins. */
static const struct ts_posting_block *head_of(const struct ts_postings *set, uint32_t block)
{
	ts_index_blocks_use(set->file, &set->blocks[block], sizeof(*set->blocks));
	return &set->blocks[block];
}

/*
 * Blocks [*first, *end) of the @i-th key.  Returns false, and marks the file as damaged, if they do not lie in the set.
 */
static bool blocks_of(const struct ts_postings *set, size_t i, uint32_t *first, uint32_t *end)
{
	ts_index_blocks_use(set->file, &set->first_block[i], 2 * sizeof(*set->first_block));
	*first = set->first_block[i];
	*end = set->first_block[i + 1];
	if (__builtin_expect(*first < *end && *end <= set->n_blocks, 1))
		return true;
	ts_index_blocks_note_damage(set->file);
	return false;
}

/*
 * Blocks [*first, *end) of a key; false if it has none.  Keys are distinct: a key is at the index of its own number at most, and near
 * that index if the set has most of the keys below it.
 */
static bool find_key(const struct ts_postings *set, uint32_t key, uint32_t *first, uint32_t *end)
{
	size_t at = key < set->n_keys ? key : set->n_keys, last = at, step = 1;

	for (; at && (at == set->n_keys || ts_postings_key(set, at) > key); step *= 2) {
		last = at;
		at -= step < at ? step : at;
	}
	TS_BISECT(at, last, i, ts_postings_key(set, i) < key);
	return at < set->n_keys && ts_postings_key(set, at) == key && blocks_of(set, at, first, end);
}

/* The last of blocks [first, end) whose head is <= @value, @end if none is found. */
static uint32_t find_block(const struct ts_postings *set, uint32_t first, uint32_t end, uint32_t value)
{
	uint32_t at = first;

	TS_BISECT(at, end, i, head_of(set, i)->value <= value);
	return at == first ? end : at - 1;
}

/* The bytes of a block, up to *end; none if they do not lie in the set. */
static const uint8_t *bytes_of(const struct ts_postings *set, uint32_t block, const uint8_t **end)
{
	uint32_t from = head_of(set, block)->off, to = head_of(set, block + 1)->off;

	if (__builtin_expect(from > to || to > set->n_bytes || to - from > (BLOCK_VALUES - 1) * MAX_VARINT,
			     0)) {
		ts_index_blocks_note_damage(set->file);
		from = to = 0;
	}
	ts_index_blocks_use(set->file, set->bytes + from, to - from);
	*end = set->bytes + to;
	return set->bytes + from;
}

/*
 * In one block whose head is <= @value: the last value <= @value, and the one after it (TS_NO_POSTING at the
 * block's end).
 */
static uint32_t scan_block(const struct ts_postings *set, uint32_t block, uint32_t value, uint32_t *after)
{
	const uint8_t *end, *p = bytes_of(set, block, &end);
	uint64_t v = set->blocks[block].value, next;
	uint32_t delta;

	*after = TS_NO_POSTING;
	for (; p < end; v = next) {
		p = get_varint(p, end, &delta);
		next = p ? v + delta : TS_NO_POSTING;
		if (next <= value)
			continue;
		if (next < TS_NO_POSTING)
			*after = (uint32_t)next;
		else
			ts_index_blocks_note_damage(set->file);
		break;
	}
	return (uint32_t)v;
}

uint32_t ts_postings_next(const struct ts_postings *set, uint32_t key, uint32_t value)
{
	uint32_t first, end, block, v, after;

	if (!find_key(set, key, &first, &end))
		return TS_NO_POSTING;
	block = find_block(set, first, end, value);
	if (block == end)
		return head_of(set, first)->value;
	v = scan_block(set, block, value, &after);
	if (v == value)
		return v;
	if (after != TS_NO_POSTING)
		return after;
	return block + 1 < end ? head_of(set, block + 1)->value : TS_NO_POSTING;
}

uint32_t ts_postings_prev(const struct ts_postings *set, uint32_t key, uint32_t value)
{
	uint32_t first, end, block, after;

	if (!find_key(set, key, &first, &end))
		return TS_NO_POSTING;
	block = find_block(set, first, end, value);
	return block == end ? TS_NO_POSTING : scan_block(set, block, value, &after);
}

/* Call @use with each value of a block in [@from, @to).  Returns false if its bytes are damaged, or at a value behind them. */
static bool use_block(const struct ts_postings *set, uint32_t block, uint32_t from, uint32_t to,
		      void (*use)(void *user, uint32_t value), void *user)
{
	const uint8_t *end, *p = bytes_of(set, block, &end);
	uint32_t v = set->blocks[block].value, delta;

	for (; v < to; v += delta) {
		if (v >= from)
			use(user, v);
		if (p == end)
			return true;
		p = get_varint(p, end, &delta);
		if (!p || delta >= TS_NO_POSTING - v) {
			ts_index_blocks_note_damage(set->file);
			return false;
		}
	}
	return false;
}

void ts_postings_each(const struct ts_postings *set, size_t i, void (*use)(void *user, uint32_t value),
		      void *user)
{
	uint32_t block, end;

	if (!blocks_of(set, i, &block, &end))
		return;
	while (block < end && use_block(set, block, 0, UINT32_MAX, use, user))
		block++;
}

void ts_postings_each_of(const struct ts_postings *set, uint32_t key, uint32_t from, uint32_t to,
			 void (*use)(void *user, uint32_t value), void *user)
{
	uint32_t first, end, block;

	if (!find_key(set, key, &first, &end))
		return;
	block = find_block(set, first, end, from);
	block = block == end ? first : block;
	while (block < end && head_of(set, block)->value < to && use_block(set, block, from, to, use, user))
		block++;
}

size_t ts_postings_mem(const struct ts_postings *set)
{
	return set->n_keys * (sizeof(*set->keys) + sizeof(*set->first_block)) +
	       set->n_blocks * sizeof(*set->blocks) + set->n_bytes;
}

/* -------------------------------------------------------------------------------------------- index files */

void ts_postings_save(const struct ts_postings *set, struct ts_index_file *f)
{
	ts_index_put_packed(f, set->keys, set->n_keys, sizeof(*set->keys));
	ts_index_put_packed(f, set->first_block, set->n_keys + 1, sizeof(*set->first_block));
	ts_index_put_packed(f, set->blocks, set->n_blocks + 1, sizeof(*set->blocks));
	ts_index_put_packed(f, set->bytes, set->n_bytes, 1);
}

bool ts_postings_load(struct ts_postings *set, struct ts_index_arrays *a)
{
	struct ts_postings p = { .file = a->blocks };
	size_t n_first, n_heads;

	*set = (struct ts_postings){ 0 };
	p.keys = ts_index_take_unread(a, sizeof(*p.keys), &p.n_keys);
	p.first_block = ts_index_take_unread(a, sizeof(*p.first_block), &n_first);
	p.blocks = ts_index_take_unread(a, sizeof(*p.blocks), &n_heads);
	p.bytes = ts_index_take_unread(a, 1, &p.n_bytes);
	if (a->is_bad || n_first != p.n_keys + 1 || !n_heads)
		return false;
	p.n_blocks = n_heads - 1;
	*set = p;
	return true;
}
