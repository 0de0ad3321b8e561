/* SPDX-License-Identifier: MIT */
/*
 * What comes out of a heap is what qsort() would give, whatever went in and when.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "src/base/collections/heap.h"

#define MAX_ITEMS 400

/* Longer than a word, and no multiple of one. */
struct item {
	unsigned key;
	unsigned char rest[7];
};

static bool is_less(const void *user, const void *x, const void *y)
{
	int sign = *(const int *)user;
	unsigned a = ((const struct item *)x)->key, b = ((const struct item *)y)->key;

	return sign > 0 ? a < b : a > b;
}

static int compare(const void *x, const void *y)
{
	unsigned a = ((const struct item *)x)->key, b = ((const struct item *)y)->key;

	return (a > b) - (a < b);
}

static struct item some_item(struct script_random *rnd, unsigned max)
{
	struct item it = { .key = (unsigned)script_below(rnd, max) };

	memset(it.rest, (int)it.key, sizeof(it.rest));
	return it;
}

static void check_whole(const struct item *it)
{
	for (unsigned i = 0; i < sizeof(it->rest); i++)
		ck_assert_uint_eq(it->rest[i], it->key & 0xff);
}

START_TEST(items_come_out_in_order)
{
	struct script_random rnd = { (uint64_t)_i };
	unsigned n = (unsigned)script_below(&rnd, MAX_ITEMS), max = 1 + (unsigned)script_below(&rnd, 600);
	int sign = _i % 2 ? 1 : -1;
	struct item items[MAX_ITEMS], got;
	struct ts_heap h;

	ts_heap_init(&h, sizeof(struct item), is_less, &sign);
	for (unsigned i = 0; i < n; i++) {
		items[i] = some_item(&rnd, max);
		ck_assert(ts_heap_put(&h, &items[i]));
	}
	qsort(items, n, sizeof(items[0]), compare);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_uint_eq(((const struct item *)ts_heap_first(&h))->key, items[sign > 0 ? i : n - 1 - i].key);
		ck_assert(ts_heap_take(&h, &got));
		ck_assert_uint_eq(got.key, items[sign > 0 ? i : n - 1 - i].key);
		check_whole(&got);
	}
	ck_assert_ptr_null(ts_heap_first(&h));
	ck_assert(!ts_heap_take(&h, &got));
	ts_heap_fini(&h);
}
END_TEST

/* Beside it a plain list, of which the least is looked for. */
START_TEST(items_may_go_in_between)
{
	struct script_random rnd = { (uint64_t)_i };
	unsigned n_of[300] = { 0 }, n = 0;
	int sign = 1;
	struct ts_heap h;

	ts_heap_init(&h, sizeof(struct item), is_less, &sign);
	for (unsigned i = 0; i < 2000; i++) {
		struct item it = some_item(&rnd, 300);
		unsigned least = 0;

		if (script_chance(&rnd, i < 1000 ? 60 : 40)) {
			ck_assert(ts_heap_put(&h, &it));
			n_of[it.key]++;
			n++;
			continue;
		}
		ck_assert_int_eq(ts_heap_take(&h, &it), n > 0);
		if (!n)
			continue;
		while (!n_of[least])
			least++;
		ck_assert_uint_eq(it.key, least);
		n_of[least]--;
		n--;
	}
	ts_heap_fini(&h);
}
END_TEST

START_TEST(what_is_dropped_leaves_the_order)
{
	struct script_random rnd = { (uint64_t)_i };
	unsigned n = 1 + (unsigned)script_below(&rnd, MAX_ITEMS), last = 0;
	int sign = 1;
	struct item it;
	struct ts_heap h;

	ts_heap_init(&h, sizeof(struct item), is_less, &sign);
	ck_assert(!ts_heap_drop(&h));
	for (unsigned i = 0; i < n; i++) {
		it = some_item(&rnd, 1000);
		ck_assert(ts_heap_put(&h, &it));
	}
	for (unsigned i = 0; i < n / 2; i++)
		ck_assert(ts_heap_drop(&h));
	for (unsigned i = n / 2; i < n; i++) {
		ck_assert(ts_heap_take(&h, &it));
		ck_assert_uint_ge(it.key, last);
		last = it.key;
	}
	ck_assert(!ts_heap_take(&h, &it));
	ts_heap_fini(&h);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("heap");
	TCase *tc = tcase_create("heap");

	tcase_add_loop_test(tc, items_come_out_in_order, 0, 60);
	tcase_add_loop_test(tc, items_may_go_in_between, 0, 20);
	tcase_add_loop_test(tc, what_is_dropped_leaves_the_order, 0, 10);
	suite_add_tcase(s, tc);
	return s;
}
