/* SPDX-License-Identifier: MIT */
#include "covered.h"

#include <stdlib.h>

#include "src/base/collections/free_later.h"
#include "src/base/collections/hash.h"
#include "src/base/collections/vec.h"

static bool is_addr(const void *user, uint32_t i, const void *addr)
{
	return ((const struct ts_covered_table *)user)->items[i].addr == *(const uint64_t *)addr;
}

static uint64_t hash_of_item(const void *user, uint32_t i)
{
	return ts_hash(((const struct ts_covered_table *)user)->items[i].addr, 0);
}

static uint32_t *find_slot(const struct ts_covered_table *t, uint64_t addr)
{
	return ts_hash_table_slot(&t->by_addr, ts_hash(addr, 0), is_addr, t, &addr);
}

bool ts_covered_make_slots(struct ts_covered_table *t, size_t n)
{
	return ts_hash_table_reserve(&t->by_addr, t->n, n > t->n ? n - t->n : 0, hash_of_item, t);
}

struct ts_covered *ts_covered_find(struct ts_covered_table *t, uint64_t addr)
{
	uint32_t *slot;

	if (!ts_covered_make_slots(t, t->n + 1) || !ts_vec_reserve(&t->items, t->n, &t->cap, 1, sizeof(*t->items)))
		return NULL;
	slot = find_slot(t, addr);
	if (!*slot) {
		t->items[t->n++] = (struct ts_covered){ .addr = addr };
		*slot = (uint32_t)t->n;
	}
	return &t->items[*slot - 1];
}

struct ts_covered *ts_covered_look_up(const struct ts_covered_table *t, uint64_t addr)
{
	const uint32_t *slot = find_slot(t, addr);

	return slot && *slot ? &t->items[*slot - 1] : NULL;
}

void ts_covered_fini(struct ts_covered_table *t)
{
	ts_hash_table_fini_later(&t->by_addr);
	ts_free_later(t->items, t->cap * sizeof(*t->items));
}
