/* SPDX-License-Identifier: MIT */
#include "hash_table.h"

#include <stdlib.h>

#include "free_later.h"

#define MIN_SLOTS ((size_t)64)
#define MAX_ITEMS ((size_t)1 << 31)

static void put(struct ts_hash_table *t, uint64_t hash, uint32_t i)
{
	size_t at = (size_t)hash & (t->n_slots - 1);

	while (t->slots[at])
		at = (at + 1) & (t->n_slots - 1);
	t->slots[at] = i + 1;
}

bool ts_hash_table_grow(struct ts_hash_table *t, size_t n, size_t n_more, ts_hash_of_item *hash, const void *user)
{
	struct ts_hash_table grown = { .n_slots = t->n_slots ? t->n_slots : MIN_SLOTS };

	if (n > MAX_ITEMS || n_more > MAX_ITEMS - n)
		return false;
	while (grown.n_slots < 2 * (n + n_more))
		grown.n_slots *= 2;
	grown.slots = calloc(grown.n_slots, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < n; i++)
		put(&grown, hash(user, (uint32_t)i), (uint32_t)i);
	ts_hash_table_fini(t);
	*t = grown;
	return true;
}

void ts_hash_table_fini(struct ts_hash_table *t)
{
	free(t->slots);
	*t = (struct ts_hash_table){ 0 };
}

void ts_hash_table_fini_later(struct ts_hash_table *t)
{
	ts_free_later(t->slots, t->n_slots * sizeof(*t->slots));
	*t = (struct ts_hash_table){ 0 };
}
