/* SPDX-License-Identifier: MIT */
#include "covered.h"

#include <stdlib.h>

#include "src/base/free_in_steps.h"
#include "src/base/hash.h"
#include "src/base/vec.h"

/* The slot of the item with this address, or where it belongs. */
static uint32_t *find_slot(const struct ts_covered_table *t, uint64_t addr)
{
	size_t i = (size_t)ts_hash(addr, 0);

	while (t->slots[i & (t->n_slots - 1)] && t->items[t->slots[i & (t->n_slots - 1)] - 1].addr != addr)
		i++;
	return &t->slots[i & (t->n_slots - 1)];
}

bool ts_covered_make_slots(struct ts_covered_table *t, size_t n)
{
	size_t n_slots = 1024;
	uint32_t *slots;

	while (n_slots < 2 * n)
		n_slots *= 2;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return false;
	free(t->slots);
	t->slots = slots;
	t->n_slots = n_slots;
	for (size_t i = 0; i < t->n; i++)
		*find_slot(t, t->items[i].addr) = (uint32_t)i + 1;
	return true;
}

/* Make room for another item, and keep half of the slots free. */
static bool make_room(struct ts_covered_table *t)
{
	if (2 * (t->n + 1) > t->n_slots && !ts_covered_make_slots(t, 2 * (t->n + 1)))
		return false;
	return ts_vec_reserve(&t->items, t->n, &t->cap, 1, sizeof(*t->items));
}

struct ts_covered *ts_covered_find(struct ts_covered_table *t, uint64_t addr)
{
	uint32_t *slot;

	if (!make_room(t))
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
	uint32_t item = t->n_slots ? *find_slot(t, addr) : 0;

	return item ? &t->items[item - 1] : NULL;
}

bool ts_covered_give_back_some(struct ts_covered_table *t)
{
	size_t len = t->slots ? t->n_slots * sizeof(*t->slots) : t->cap * sizeof(*t->items);
	void *memory = t->slots ? (void *)t->slots : t->items;
	bool has_more = ts_give_back_some(&memory, &len);

	if (t->slots) {
		t->slots = memory;
		t->n_slots = len / sizeof(*t->slots);
		return true;
	}
	t->items = memory;
	t->cap = len / sizeof(*t->items);
	return has_more;
}

void ts_covered_fini(struct ts_covered_table *t)
{
	free(t->slots);
	free(t->items);
}
