/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow: what is in them stays, and what is new is as promised.
 */
#include "unit.h"

#include <stdint.h>
#include <stdlib.h>

#include "no_memory.h"
#include "src/base/collections/vec.h"

START_TEST(items_stay_while_the_room_doubles)
{
	uint32_t *items = NULL;
	size_t cap = 0;

	for (uint32_t n = 0; n < 100; n++) {
		ck_assert(ts_vec_reserve(&items, n, &cap, 1, sizeof(*items)));
		ck_assert_uint_gt(cap, n);
		items[n] = 7 * n;
	}
	for (uint32_t n = 0; n < 100; n++)
		ck_assert_uint_eq(items[n], 7 * n);
	ck_assert_uint_eq(cap, 128); /* 4, doubled until 100 fit */
	free(items);
}
END_TEST

START_TEST(room_that_is_there_is_left_alone)
{
	char *text = malloc(4), *before = text;
	size_t cap = 4;

	ck_assert_ptr_nonnull(text);
	ck_assert(ts_vec_reserve(&text, 3, &cap, 1, 1));
	ck_assert_ptr_eq(text, before);
	ck_assert_uint_eq(cap, 4);
	free(text);
}
END_TEST

START_TEST(an_item_is_appended_with_the_number_before_it)
{
	struct pair { size_t a, b; } *pairs = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < 9; i++)
		ck_assert(TS_PUSH(pairs, n, cap, (struct pair){ n, i }));
	ck_assert_uint_eq(n, 9);
	ck_assert_uint_eq(cap, 16);
	for (size_t i = 0; i < n; i++)
		ck_assert(pairs[i].a == i && pairs[i].b == i);
	n = cap = SIZE_MAX / sizeof(*pairs);
	ck_assert(!TS_PUSH(pairs, n, cap, (struct pair){ 0, 0 }));
	ck_assert_uint_eq(n, SIZE_MAX / sizeof(*pairs));
	free(pairs);
}
END_TEST

START_TEST(new_items_up_to_an_ordinal_are_zeros)
{
	struct pair { uint64_t a, b; } *pairs = NULL;
	size_t n = 0;

	ck_assert(ts_vec_extend(&pairs, &n, 1, sizeof(*pairs)));
	ck_assert_uint_eq(n, 2);
	pairs[1] = (struct pair){ 5, 6 };
	ck_assert(ts_vec_extend(&pairs, &n, 0, sizeof(*pairs)));
	ck_assert_uint_eq(n, 2);
	ck_assert(ts_vec_extend(&pairs, &n, 9, sizeof(*pairs)));
	ck_assert_uint_eq(n, 10);
	ck_assert_uint_eq(pairs[1].b, 6);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(pairs[i].a, i == 1 ? 5 : 0);
	free(pairs);
}
END_TEST

/* One allocation an item copies an array of 16,384 threads 16,384 times. */
START_TEST(an_array_that_grows_item_by_item_is_seldom_copied)
{
	uint32_t *items = NULL;
	size_t n = 0;
	uint32_t n_good = 0;
	int64_t n_lost;

	no_memory_start(UINT64_MAX, UINT64_MAX);
	for (uint32_t i = 0; i < 16384 && ts_vec_extend(&items, &n, i, sizeof(*items)); i++) {
		n_good += n == i + 1 && items[i] == 0;
		items[i] = i + 1;
	}
	ck_assert_uint_lt(no_memory_end(&n_lost), 200);
	ck_assert_uint_eq(n_good, 16384);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_uint_eq(items[i], i + 1);
	free(items);
}
END_TEST

START_TEST(more_than_memory_can_be_is_refused)
{
	uint64_t *items = NULL;
	size_t cap = 0, n = 0;

	ck_assert(!ts_vec_reserve(&items, 0, &cap, SIZE_MAX / 4, sizeof(*items)));
	ck_assert(!ts_vec_extend(&items, &n, SIZE_MAX, 1));
	cap = SIZE_MAX / 2 + 1;
	ck_assert(!ts_vec_reserve(&items, cap, &cap, 1, 1));
	ck_assert_ptr_null(items);
	ck_assert_uint_eq(n, 0);
}
END_TEST

UNIT_SUITE("vec", items_stay_while_the_room_doubles, room_that_is_there_is_left_alone,
	   an_item_is_appended_with_the_number_before_it,
	   new_items_up_to_an_ordinal_are_zeros, an_array_that_grows_item_by_item_is_seldom_copied,
	   more_than_memory_can_be_is_refused)
