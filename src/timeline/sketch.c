/* SPDX-License-Identifier: MIT */
/*
 * A list's keys ascend: a byte of the difference to the one before (the first to -1); a byte 0 is 255 of a difference
 * that goes on.  A place is the number of the only group, or PLACE_RANGE plus 8 times the eighth of the groups where the
 * key was noted first, plus that where it was noted last.
 */
#include "sketch.h"

#include <stdlib.h>
#include <string.h>

#include "src/index/index_file.h"

#define PLACE_RANGE 64u
#define N_PLACES    128u

/* A list of more keys is longer than the bitmap, and says little. */
#define MAX_LISTED (TS_TRAIT_KEYS / 12u)

/* The groups of a segment that noted a key. */
struct span {
	uint8_t first, end; /* end 0: none */
};

struct ts_sketcher {
	uint64_t keys[TS_TRAIT_KEYS / 64]; /* of the group that is being read */
	struct span spans[TS_TRAIT_KEYS];  /* of the groups of the segment before it, and of early keys */
	uint64_t segment;
	unsigned group;
	struct ts_buf late;
	bool is_cut;
};

/* ----------------------------------------------------------------------------------------------- building */

struct ts_sketcher *ts_sketcher_new(void)
{
	return calloc(1, sizeof(struct ts_sketcher));
}

void ts_sketcher_free(struct ts_sketcher *sk)
{
	if (!sk)
		return;
	ts_buf_fini(&sk->late);
	free(sk);
}

uint64_t *ts_sketcher_keys(struct ts_sketcher *sk)
{
	return sk->keys;
}

uint64_t ts_sketcher_segment(const struct ts_sketcher *sk)
{
	return sk->segment;
}

void ts_sketcher_go_on(struct ts_sketcher *sk, uint64_t segment)
{
	sk->segment = segment;
}

void ts_sketcher_note_early(struct ts_sketcher *sk, uint32_t key)
{
	sk->spans[key] = (struct span){ 0, (uint8_t)(sk->group + 1) };
}

void ts_sketcher_note_late(struct ts_sketcher *sk, uint32_t process, uint64_t addr, const uint8_t *data, unsigned len)
{
	struct ts_late late = { addr, process, len, { 0 } };

	if (sk->late.len / sizeof(late) >= TS_MAX_LATE) {
		sk->is_cut = true;
		return;
	}
	memcpy(late.data, data, len);
	ts_buf_put(&sk->late, &late, sizeof(late));
}

static void end_group(struct ts_sketcher *sk)
{
	for (uint32_t word = 0; word < TS_TRAIT_KEYS / 64; word++) {
		for (uint64_t bits = sk->keys[word]; bits; bits &= bits - 1) {
			struct span *s = &sk->spans[word * 64 + (uint32_t)__builtin_ctzll(bits)];

			if (!s->end)
				s->first = (uint8_t)sk->group;
			s->end = (uint8_t)(sk->group + 1);
		}
		sk->keys[word] = 0;
	}
}

void ts_sketcher_end_chunk(struct ts_sketcher *sk, uint64_t chunk)
{
	chunk = chunk % TS_SEGMENT_CHUNKS + 1;
	if (chunk % TS_SKETCH_GROUP || chunk == TS_SEGMENT_CHUNKS)
		return;
	end_group(sk);
	sk->group++;
}

static void put_key(struct ts_buf *keys, uint32_t difference)
{
	for (; difference > 255; difference -= 255)
		ts_buf_putc(keys, 0);
	ts_buf_putc(keys, (uint8_t)difference);
}

static uint8_t place_of(const struct span *s)
{
	unsigned last = s->end - 1u;

	return (uint8_t)(s->first == last ? last : PLACE_RANGE + s->first / 8u * 8u + last / 8u);
}

static void put_list(const struct ts_sketcher *sk, struct ts_buf *keys, struct ts_buf *places)
{
	uint32_t last = UINT32_MAX;

	for (uint32_t key = 0; key < TS_TRAIT_KEYS; key++) {
		if (!sk->spans[key].end)
			continue;
		put_key(keys, key - last);
		ts_buf_putc(places, place_of(&sk->spans[key]));
		last = key;
	}
}

static void put_bitmap(const struct ts_sketcher *sk, struct ts_buf *keys)
{
	uint8_t *p = ts_buf_add(keys, TS_TRAIT_KEYS / 8);

	for (uint32_t key = 0; p && key < TS_TRAIT_KEYS; key += 8) {
		unsigned byte = 0;

		for (unsigned i = 0; i < 8; i++)
			byte |= (unsigned)(sk->spans[key + i].end != 0) << i;
		*p++ = (uint8_t)byte;
	}
}

static uint32_t count(const struct ts_sketcher *sk)
{
	uint32_t n = 0;

	for (uint32_t key = 0; key < TS_TRAIT_KEYS; key++)
		n += sk->spans[key].end != 0;
	return n;
}

bool ts_sketcher_seal(struct ts_sketcher *sk, uint64_t next, struct ts_sketch *sketch)
{
	struct ts_buf keys = { 0 }, places = { 0 };
	bool is_list;

	end_group(sk);
	is_list = count(sk) <= MAX_LISTED;
	if (is_list)
		put_list(sk, &keys, &places);
	else
		put_bitmap(sk, &keys);
	memset(sk->spans, 0, sizeof(sk->spans));
	sk->group = 0;
	sk->segment = next;
	if (!ts_buf_ok(&keys) || !ts_buf_ok(&places) || !ts_buf_ok(&sk->late)) {
		ts_buf_fini(&keys);
		ts_buf_fini(&places);
		return false;
	}
	*sketch = (struct ts_sketch){
		.form = is_list ? TS_SKETCH_LIST : TS_SKETCH_BITMAP,
		.is_cut = sk->is_cut,
		.keys = keys.data,
		.keys_len = keys.len,
		.places = places.data,
		.n = places.len,
		.late = (struct ts_late *)(void *)sk->late.data,
		.n_late = sk->late.len / sizeof(struct ts_late),
	};
	ts_buf_init(&sk->late);
	sk->is_cut = false;
	return true;
}

/* --------------------------------------------------------------------------------------------- the arrays */

void ts_sketch_fini(struct ts_sketch *s)
{
	if (!s->is_mapped) {
		free(s->keys);
		free(s->places);
		free(s->late);
	}
	*s = (struct ts_sketch){ 0 };
}

void ts_sketch_save(const struct ts_sketch *s, struct ts_index_file *f)
{
	const uint32_t head[] = { s->form, s->is_cut };

	ts_index_put(f, head, 2, sizeof(head[0]));
	ts_index_put(f, s->keys, s->keys_len, 1);
	ts_index_put(f, s->places, s->n, 1);
	ts_index_put(f, s->late, s->n_late, sizeof(*s->late));
}

/* Has a list as many keys as places, all in range? */
static bool check_list(const struct ts_sketch *s)
{
	uint64_t key = UINT64_MAX;
	size_t n = 0;

	for (size_t i = 0; i < s->keys_len; i++) {
		key += s->keys[i] ? s->keys[i] : 255;
		n += s->keys[i] != 0;
	}
	for (size_t i = 0; i < s->n; i++) {
		if (s->places[i] >= N_PLACES)
			return false;
	}
	return n == s->n && (!s->keys_len || (s->keys[s->keys_len - 1] && key < TS_TRAIT_KEYS));
}

static bool check(const struct ts_sketch *s)
{
	for (size_t i = 0; i < s->n_late; i++) {
		if (!s->late[i].len || s->late[i].len > TS_LATE_LEN || s->late[i].addr + (s->late[i].len - 1) < s->late[i].addr)
			return false;
	}
	switch (s->form) {
	case TS_SKETCH_NONE:
		return !s->keys_len && !s->n;
	case TS_SKETCH_LIST:
		return check_list(s);
	case TS_SKETCH_BITMAP:
		return s->keys_len == TS_TRAIT_KEYS / 8 && !s->n;
	default:
		return false;
	}
}

bool ts_sketch_load(struct ts_sketch *s, struct ts_index_arrays *a)
{
	struct ts_sketch m = { .is_mapped = true };
	const uint32_t *head = ts_index_take_n(a, sizeof(*head), 2);

	m.keys = ts_index_take(a, 1, &m.keys_len);
	m.places = ts_index_take(a, 1, &m.n);
	m.late = ts_index_take(a, sizeof(*m.late), &m.n_late);
	if (!head || a->is_bad)
		return false;
	m.form = head[0];
	m.is_cut = head[1];
	if (!check(&m))
		return false;
	ts_sketch_fini(s);
	*s = m;
	return true;
}

size_t ts_sketch_mem(const struct ts_sketch *s)
{
	return s->keys_len + s->n + s->n_late * sizeof(*s->late);
}

/* ------------------------------------------------------------------------------------------------ looking up */

static uint64_t groups_at(uint8_t place)
{
	unsigned first = place % 64u / 8 * 8, last = place % 8u * 8 + 7;

	if (place < PLACE_RANGE)
		return UINT64_C(1) << place;
	return first <= last ? UINT64_MAX >> (63 - (last - first)) << first : UINT64_MAX;
}

static void look_up_list(const struct ts_sketch *s, const uint32_t *keys, size_t n, uint64_t *groups)
{
	uint32_t key = UINT32_MAX;
	size_t at = 0, k = 0;

	for (size_t i = 0; i < s->keys_len && k < n; i++) {
		key += s->keys[i] ? s->keys[i] : 255;
		if (!s->keys[i])
			continue;
		for (; k < n && keys[k] < key; k++)
			groups[k] = 0;
		if (k < n && keys[k] == key)
			groups[k++] = groups_at(s->places[at]);
		at++;
	}
	for (; k < n; k++)
		groups[k] = 0;
}

void ts_sketch_look_up(const struct ts_sketch *s, const uint32_t *keys, size_t n, uint64_t *groups)
{
	if (s->form == TS_SKETCH_LIST) {
		look_up_list(s, keys, n, groups);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		bool may = s->form == TS_SKETCH_NONE || s->keys[keys[i] / 8] >> keys[i] % 8 & 1;

		groups[i] = may ? UINT64_MAX : 0;
	}
}
