/* SPDX-License-Identifier: MIT */
/*
 * A saved edge is two varints, differences of which the lowest bit is the sign: of its call to the call of
 * the edge before it, and of the target to the call.
 */
#include "edges.h"

#include <stdlib.h>

#include "src/base/buf.h"
#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/index/index_write.h"

void ts_call_edges_fini(struct ts_call_edges *s)
{
	free(s->items);
	free(s->table);
}

static void put_in_table(struct ts_call_edges *s, uint32_t edge)
{
	uint32_t at = (uint32_t)ts_hash(s->items[edge].pc, s->items[edge].target) & (s->n_table - 1);

	while (s->table[at])
		at = (at + 1) & (s->n_table - 1);
	s->table[at] = edge + 1;
}

static bool grow_table(struct ts_call_edges *s)
{
	uint32_t n = s->n_table ? s->n_table : 256;
	uint32_t *table;

	while (n <= 2 * s->n)
		n *= 2;
	table = calloc(n, sizeof(*table));
	if (!table)
		return false;
	free(s->table);
	s->table = table;
	s->n_table = n;
	for (uint32_t i = 0; i < s->n; i++)
		put_in_table(s, i);
	return true;
}

static bool add(struct ts_call_edges *s, uint64_t pc, uint64_t target)
{
	if (!ts_vec_reserve(&s->items, s->n, &s->cap, 1, sizeof(*s->items)))
		return false;
	s->items[s->n++] = (struct ts_call_edge){ pc, target };
	return true;
}

uint32_t ts_call_edges_number(struct ts_call_edges *s, uint64_t pc, uint64_t target)
{
	uint32_t at;

	if (2 * s->n >= s->n_table && !grow_table(s))
		return TS_NO_EDGE;
	at = (uint32_t)ts_hash(pc, target) & (s->n_table - 1);
	for (; s->table[at]; at = (at + 1) & (s->n_table - 1)) {
		const struct ts_call_edge *x = &s->items[s->table[at] - 1];

		if (x->pc == pc && x->target == target)
			return s->table[at] - 1;
	}
	if (!add(s, pc, target))
		return TS_NO_EDGE;
	s->table[at] = s->n;
	return s->n - 1;
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

/* What is left of the bytes of an index file; they may be anything. */
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
	return grow_table(s);
}
