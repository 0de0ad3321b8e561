/* SPDX-License-Identifier: MIT */
/*
 * A hash table of ordinals: it finds the items of an array by their keys.
 *
 * The caller owns the array, its items and their keys.  Items cannot be removed; when the array is emptied, the table must
 * be freed.  Hashes are those of hash.h, so that a recording cannot choose keys that collide.
 */
#ifndef TS_HASH_TABLE_H
#define TS_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zeros is an empty table. */
struct ts_hash_table {
	uint32_t *slots; /* owned; 1 + an item's ordinal each, or 0: free */
	size_t n_slots;  /* a power of two, or 0 */
};

/* Is @key the key of item @i of @user's array? */
typedef bool ts_hash_is_key(const void *user, uint32_t i, const void *key);

/* The hash of the key of item @i of @user's array. */
typedef uint64_t ts_hash_of_item(const void *user, uint32_t i);

/* The slow path of ts_hash_table_reserve(): there are too few slots.  Returns as ts_hash_table_reserve() does. */
bool ts_hash_table_grow(struct ts_hash_table *t, size_t n, size_t n_more, ts_hash_of_item *hash, const void *user);

/*
 * Provide slots for @n_more items after the first @n, with at least half of all slots free.  If the slots are new, the
 * first @n items are put into them.
 *
 * Returns true if there are enough slots.
 * Returns false if memory is exhausted, or the items are more than 2^31; the table is then unchanged.
 */
static inline bool ts_hash_table_reserve(struct ts_hash_table *t, size_t n, size_t n_more, ts_hash_of_item *hash,
					 const void *user)
{
	size_t max = t->n_slots / 2;

	return (max && n <= max && n_more <= max - n) || ts_hash_table_grow(t, n, n_more, hash, user);
}

void ts_hash_table_fini(struct ts_hash_table *t);

/* As ts_hash_table_fini(), for the thread that serves clients: the memory is freed by ts_free_later(). */
void ts_hash_table_fini_later(struct ts_hash_table *t);

/*
 * The slot of the item with @key, whose hash is @hash; if there is none, the free slot for such an item.
 *
 * Returns NULL if the table has no slots.
 */
static inline __attribute__((always_inline)) uint32_t *
ts_hash_table_slot(const struct ts_hash_table *t, uint64_t hash, ts_hash_is_key *is_key, const void *user, const void *key)
{
	size_t mask = t->n_slots - 1, i = (size_t)hash & mask;

	if (!t->n_slots)
		return NULL;
	while (t->slots[i] && !is_key(user, t->slots[i] - 1, key))
		i = (i + 1) & mask;
	return &t->slots[i];
}

#endif
