/* SPDX-License-Identifier: MIT */
/*
 * A table finds each item by its key and no other, however it grew and whichever keys share a slot.
 */
#include "unit.h"

#include <stdint.h>
#include <stdlib.h>

#include "src/base/collections/hash.h"
#include "src/base/collections/hash_table.h"

#define N_ITEMS 1000u

struct numbers {
	uint64_t items[N_ITEMS];
	uint32_t n;
	bool is_one_slot; /* all keys have the same hash */
	struct ts_hash_table by_number;
};

static bool is_number(const void *user, uint32_t i, const void *key)
{
	return ((const struct numbers *)user)->items[i] == *(const uint64_t *)key;
}

static uint64_t hash(const struct numbers *x, uint64_t number)
{
	return x->is_one_slot ? 7 : ts_hash(number, 0);
}

static uint64_t hash_of_item(const void *user, uint32_t i)
{
	return hash(user, ((const struct numbers *)user)->items[i]);
}

static uint32_t *slot_of(const struct numbers *x, uint64_t number)
{
	return ts_hash_table_slot(&x->by_number, hash(x, number), is_number, x, &number);
}

static void add(struct numbers *x, uint64_t number)
{
	uint32_t *slot;

	ck_assert(ts_hash_table_reserve(&x->by_number, x->n, 1, hash_of_item, x));
	slot = slot_of(x, number);
	ck_assert_uint_eq(*slot, 0);
	x->items[x->n++] = number;
	*slot = x->n;
}

static void expect_items(const struct numbers *x)
{
	for (uint32_t i = 0; i < N_ITEMS; i++) {
		ck_assert_uint_eq(*slot_of(x, i * UINT64_C(0x1000)), i + 1);
		ck_assert_uint_eq(*slot_of(x, i * UINT64_C(0x1000) + 1), 0);
	}
}

static void expect_to_find_items(bool is_one_slot)
{
	struct numbers *x = calloc(1, sizeof(*x));

	ck_assert_ptr_nonnull(x);
	x->is_one_slot = is_one_slot;
	ck_assert_ptr_null(slot_of(x, 0));
	for (uint64_t i = 0; i < N_ITEMS; i++)
		add(x, i * 0x1000);
	expect_items(x);
	ts_hash_table_fini(&x->by_number);
	ck_assert_ptr_null(slot_of(x, 0));
	free(x);
}

START_TEST(items_are_found_by_their_keys)
{
	expect_to_find_items(false);
}
END_TEST

START_TEST(items_of_one_slot_are_found_by_their_keys)
{
	expect_to_find_items(true);
}
END_TEST

START_TEST(half_of_the_slots_are_free)
{
	struct numbers *x = calloc(1, sizeof(*x));

	ck_assert_ptr_nonnull(x);
	for (uint64_t i = 0; i < N_ITEMS; i++) {
		add(x, i);
		ck_assert_uint_ge(x->by_number.n_slots, 2 * (size_t)x->n);
	}
	ts_hash_table_fini(&x->by_number);
	free(x);
}
END_TEST

START_TEST(slots_for_many_items_are_made_at_once)
{
	struct numbers *x = calloc(1, sizeof(*x));
	uint32_t *before;

	ck_assert_ptr_nonnull(x);
	add(x, 0);
	ck_assert(ts_hash_table_reserve(&x->by_number, x->n, N_ITEMS - 1, hash_of_item, x));
	before = x->by_number.slots;
	for (uint64_t i = 1; i < N_ITEMS; i++)
		add(x, i * 0x1000);
	ck_assert_ptr_eq(x->by_number.slots, before);
	expect_items(x);
	ts_hash_table_fini(&x->by_number);
	free(x);
}
END_TEST

START_TEST(more_items_than_ordinals_are_refused)
{
	struct numbers *x = calloc(1, sizeof(*x));

	ck_assert_ptr_nonnull(x);
	ck_assert(!ts_hash_table_reserve(&x->by_number, 0, SIZE_MAX, hash_of_item, x));
	ck_assert(!ts_hash_table_reserve(&x->by_number, 0, ((size_t)1 << 31) + 1, hash_of_item, x));
	ck_assert_ptr_null(x->by_number.slots);
	free(x);
}
END_TEST

UNIT_SUITE("hash_table", items_are_found_by_their_keys, items_of_one_slot_are_found_by_their_keys,
	   half_of_the_slots_are_free, slots_for_many_items_are_made_at_once, more_items_than_ordinals_are_refused)
