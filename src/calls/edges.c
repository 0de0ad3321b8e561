/* SPDX-License-Identifier: MIT */
/*
 * A saved edge is two varints, differences of which the lowest bit is the sign: of its call to the call of
 * the edge before it, and of the target to the call.
 */
#include "edges.h"

#include <stdlib.h>

#include "src/base/collections/buf.h"
#include "src/base/collections/hash.h"
#include "src/base/collections/vec.h"
#include "src/index/index_write.h"

void ts_call_edges_fini(struct ts_call_edges *s)
{
	free(s->items);
	ts_hash_table_fini(&s->by_edge);
}

static bool is_edge(const void *user, uint32_t i, const void *key)
{
	const struct ts_call_edge *x = &((const struct ts_call_edges *)user)->items[i], *y = key;

	return x->pc == y->pc && x->target == y->target;
}

static uint64_t hash_of_item(const void *user, uint32_t i)
{
	const struct ts_call_edge *x = &((const struct ts_call_edges *)user)->items[i];

	return ts_hash(x->pc, x->target);
}

static bool add(struct ts_call_edges *s, uint64_t pc, uint64_t target)
{
	return TS_PUSH(s->items, s->n, s->cap, (struct ts_call_edge){ pc, target });
}

uint32_t ts_call_edges_number(struct ts_call_edges *s, uint64_t pc, uint64_t target)
{
	const struct ts_call_edge edge = { pc, target };
	uint32_t *slot;

	if (!ts_hash_table_reserve(&s->by_edge, s->n, 1, hash_of_item, s))
		return TS_NO_EDGE;
	slot = ts_hash_table_slot(&s->by_edge, ts_hash(pc, target), is_edge, s, &edge);
	if (!*slot) {
		if (!add(s, pc, target))
			return TS_NO_EDGE;
		*slot = s->n;
	}
	return *slot - 1;
}

/* -------------------------------------------------------------------------------------------- index files */

/* The lowest bit is the sign. */
static uint64_t difference(uint64_t from, uint64_t to)
{
	return (to - from) << 1 ^ ((to - from) >> 63 ? UINT64_MAX : 0);
}

static void put_varint(struct ts_buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		ts_buf_putc(out, (uint8_t)(value | 0x80));
	ts_buf_putc(out, (uint8_t)value);
}

void ts_call_edges_save(struct ts_call_edges *s, struct ts_index_file *f)
{
	struct ts_buf bytes;

	ts_buf_init(&bytes);
	for (; s->n_saved < s->n; s->n_saved++) {
		const struct ts_call_edge *x = &s->items[s->n_saved];

		put_varint(&bytes, difference(s->n_saved ? x[-1].pc : 0, x->pc));
		put_varint(&bytes, difference(x->pc, x->target));
	}
	ts_index_put_buf(f, &bytes);
	ts_buf_fini(&bytes);
}

static unsigned varint_len(uint64_t value)
{
	return (63 - (unsigned)__builtin_clzll(value | 1)) / 7 + 1;
}

uint64_t ts_call_edges_saved_len(const struct ts_call_edges *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct ts_call_edge *x = &s->items[i];

		sum += varint_len(difference(i ? x[-1].pc : 0, x->pc)) + varint_len(difference(x->pc, x->target));
	}
	return sum;
}

/* The unread bytes of an index file, which may be anything. */
struct bytes {
	const uint8_t *p, *end;
};

/* Returns false if no number ends there. */
static bool take_difference(struct bytes *b, uint64_t from, uint64_t *to)
{
	uint64_t value = 0;

	for (unsigned shift = 0; b->p < b->end && shift < 64; shift += 7) {
		uint8_t byte = *b->p++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte >= 0x80)
			continue;
		*to = from + (value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
		return true;
	}
	return false;
}

bool ts_call_edges_load(struct ts_call_edges *s, struct ts_index_arrays *a, bool is_known)
{
	size_t n;
	const uint8_t *p = ts_index_take(a, 1, &n);
	struct bytes b = { p, p };

	if (is_known || !n)
		return !a->is_bad;
	b.end += n;
	while (b.p < b.end) {
		uint64_t pc, target;

		if (!take_difference(&b, s->n ? s->items[s->n - 1].pc : 0, &pc) ||
		    !take_difference(&b, pc, &target) || !add(s, pc, target))
			return false;
	}
	s->n_saved = s->n;
	return ts_hash_table_reserve(&s->by_edge, s->n, 1, hash_of_item, s);
}
