/* SPDX-License-Identifier: MIT */
/*
 * Search by halves beside a search from the first on.
 */
#include "unit.h"

#include "src/base/collections/bisect.h"

#define MAX_N 40u

START_TEST(the_first_number_that_is_not_below_is_found)
{
	for (unsigned from = 0; from <= MAX_N; from++) {
		for (unsigned end = from; end <= MAX_N; end++) {
			for (unsigned limit = 0; limit <= MAX_N; limit++) {
				unsigned at = from, expected = from;

				while (expected < end && expected < limit)
					expected++;
				TS_BISECT(at, end, i, i < limit);
				ck_assert_uint_eq(at, expected);
			}
		}
	}
}
END_TEST

START_TEST(only_numbers_of_the_range_are_looked_at)
{
	for (unsigned from = 0; from <= MAX_N; from++) {
		for (unsigned end = 0; end <= MAX_N; end++) {
			unsigned at = from, n = 0;

			unsigned n_ends = 0;

			TS_BISECT(at, (n_ends++, end), i, (ck_assert(i >= from && i < end), n++, i % 2 == 0));
			ck_assert_uint_eq(n_ends, 1);
			ck_assert_uint_le(n, end > from ? 6 : 0);
			ck_assert(end > from || at == from);
		}
	}
}
END_TEST

START_TEST(the_largest_numbers_do_not_wrap)
{
	uint64_t at = UINT64_MAX - 3;

	TS_BISECT(at, UINT64_MAX, i, i < UINT64_MAX - 1);
	ck_assert_uint_eq(at, UINT64_MAX - 1);
}
END_TEST

START_TEST(keys_are_compared_one_after_the_other)
{
	ck_assert_int_lt(TS_ORDER(UINT64_C(1), UINT64_MAX), 0);
	ck_assert_int_eq(TS_ORDER(UINT64_MAX, UINT64_MAX), 0);
	ck_assert_int_gt(TS_ORDER(UINT64_MAX, UINT64_C(1)), 0);
	for (unsigned i = 0; i < 16; i++) {
		unsigned a = i & 1, b = i >> 1 & 1, c = i >> 2 & 1, d = i >> 3;
		int order = TS_ORDER(a, b) ?: TS_ORDER(c, d);

		ck_assert_int_eq(order, (int)(2 * a + c > 2 * b + d) - (int)(2 * a + c < 2 * b + d));
	}
}
END_TEST

UNIT_SUITE("bisect", the_first_number_that_is_not_below_is_found, only_numbers_of_the_range_are_looked_at,
	   the_largest_numbers_do_not_wrap,
	   keys_are_compared_one_after_the_other)
