/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "src/base/ordered.h"
#include "unit.h"

START_TEST(an_empty_set_has_no_next)
{
	struct ts_ordered o = { 0 };
	uint64_t key;

	ck_assert(!ts_ordered_next(&o, 0, &key));
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
		ck_assert_uint_eq(ts_ordered_next(&o, k, &key), next < N);
		if (next < N)
			ck_assert_uint_eq(key, next);
	}
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
	suite_add_tcase(s, tc);
	return s;
}
