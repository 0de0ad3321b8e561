/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "src/base/collections/ordered.h"
#include "unit.h"

START_TEST(an_empty_set_has_no_next)
{
	struct ts_ordered o = { 0 };
	uint64_t key;

	ck_assert(!ts_ordered_take(&o, 0, UINT64_MAX, &key));
	ts_ordered_fini(&o);
}
END_TEST

/* Beside a bitmap, in any order of addition. */
START_TEST(the_next_number_is_that_of_a_bitmap)
{
	enum { N = 20000 };
	struct ts_ordered o = { 0 };
	uint8_t *is_in = calloc(N, 1);
	uint64_t key;

	srand((unsigned)_i + 1);
	for (unsigned i = 0; i < 3000; i++) {
		unsigned k = _i == 0 ? i * 5 : _i == 1 ? N - 1 - i * 5 : (unsigned)rand() % N;

		if (!is_in[k])
			ck_assert(ts_ordered_add(&o, k));
		is_in[k] = 1;
	}
	for (unsigned k = 0, next; k < N; k++) {
		for (next = k; next < N && !is_in[next]; next++)
			;
		ck_assert_uint_eq(ts_ordered_take(&o, k, UINT64_MAX, &key), next < N);
		if (next < N) {
			ck_assert_uint_eq(key, next);
			ck_assert(ts_ordered_add(&o, key));
		}
	}
	ts_ordered_fini(&o);
	free(is_in);
}
END_TEST

/* Numbers come and go; blocks become empty. */
START_TEST(what_was_taken_is_gone)
{
	enum { N = 4000 };
	struct ts_ordered o = { 0 };
	uint8_t *is_in = calloc(N, 1);
	uint64_t key;

	srand((unsigned)_i + 1);
	for (unsigned i = 0; i < 20000; i++) {
		unsigned k = (unsigned)rand() % N, to = k + (unsigned)rand() % 30, next = k;

		if (i / 4000 % 2 == 0 && !is_in[k]) {
			ck_assert(ts_ordered_add(&o, k));
			is_in[k] = 1;
			continue;
		}
		for (; next < N && !is_in[next]; next++)
			;
		ck_assert_uint_eq(ts_ordered_take(&o, k, to, &key), next < N && next <= to);
		if (next < N && next <= to) {
			ck_assert_uint_eq(key, next);
			is_in[next] = 0;
		}
	}
	for (unsigned k = 0; k < N; k++) {
		if (is_in[k]) {
			ck_assert(ts_ordered_take(&o, 0, UINT64_MAX, &key));
			ck_assert_uint_eq(key, k);
		}
	}
	ck_assert(!ts_ordered_take(&o, 0, UINT64_MAX, &key));
	ck_assert_uint_eq(o.n, 0);
	ts_ordered_fini(&o);
	free(is_in);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("ordered");
	TCase *tc = tcase_create("ordered");

	tcase_add_test(tc, an_empty_set_has_no_next);
	tcase_add_loop_test(tc, the_next_number_is_that_of_a_bitmap, 0, 5);
	tcase_add_loop_test(tc, what_was_taken_is_gone, 0, 3);
	suite_add_tcase(s, tc);
	return s;
}
