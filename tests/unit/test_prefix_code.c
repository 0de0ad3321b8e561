/* SPDX-License-Identifier: MIT */
/*
 * Prefix codes: lengths by hand, and that no code begins another one, bit by bit.
 */
#include "unit.h"

#include "script.h"
#include "src/calls/prefix_code.h"

#define N_SYMBOLS 200u

static uint32_t n_of_len[TS_MAX_CODE_LEN + 1];
static struct ts_prefix_code code;

static void setup(void)
{
	memset(n_of_len, 0, sizeof(n_of_len));
}

START_TEST(a_symbol_has_as_many_bits_as_it_is_rare)
{
	ck_assert_uint_eq(ts_code_len(8, 8), 1);
	ck_assert_uint_eq(ts_code_len(4, 8), 1);
	ck_assert_uint_eq(ts_code_len(3, 8), 2);
	ck_assert_uint_eq(ts_code_len(2, 8), 2);
	ck_assert_uint_eq(ts_code_len(1, 8), 3);
	ck_assert_uint_eq(ts_code_len(1, 9), 4);
	ck_assert_uint_eq(ts_code_len(1, UINT32_MAX), TS_MAX_CODE_LEN);
}
END_TEST

/* By the definition of canonical codes: each is the one before plus 1, extended by zeros. */
static void check_codes(void)
{
	uint32_t naive = 0, symbol = 0;

	for (unsigned len = 1; len <= TS_MAX_CODE_LEN; len++, naive <<= 1) {
		for (uint32_t i = 0; i < n_of_len[len]; i++, symbol++, naive++) {
			uint32_t low = TS_MAX_CODE_LEN - len ? UINT32_MAX >> len : 0, bits = naive << (TS_MAX_CODE_LEN - len);
			unsigned got;

			ck_assert_uint_eq(ts_prefix_code_of(&code, symbol, len), naive);
			ck_assert_uint_eq(ts_prefix_code_find(&code, bits, &got), symbol);
			ck_assert_uint_eq(got, len);
			ck_assert_uint_eq(ts_prefix_code_find(&code, bits | low, &got), symbol);
			ck_assert_uint_eq(got, len);
		}
	}
}

START_TEST(what_was_coded_is_found_again)
{
	struct script_random rnd = { (uint64_t)_i };
	uint32_t counts[N_SYMBOLS], total = 0, n = 1 + (uint32_t)script_below(&rnd, N_SYMBOLS);

	for (uint32_t i = 0; i < n; i++)
		total += counts[i] = 1 + (uint32_t)(script_below(&rnd, 1 << 20) >> script_below(&rnd, 20));
	for (uint32_t i = 0; i < n; i++)
		n_of_len[ts_code_len(counts[i], total)]++;
	ck_assert(ts_prefix_code_init(&code, n_of_len));
	check_codes();
}
END_TEST

START_TEST(codes_of_all_lengths_fill_the_space)
{
	unsigned len;

	for (unsigned i = 1; i <= TS_MAX_CODE_LEN; i++)
		n_of_len[i] = 1;
	n_of_len[TS_MAX_CODE_LEN] = 2;
	ck_assert(ts_prefix_code_init(&code, n_of_len));
	ck_assert_uint_eq(ts_prefix_code_find(&code, UINT32_MAX, &len), TS_MAX_CODE_LEN);
	ck_assert_uint_eq(len, TS_MAX_CODE_LEN);
	check_codes();
}
END_TEST

START_TEST(more_symbols_than_codes_are_refused)
{
	n_of_len[1] = 2;
	ck_assert(ts_prefix_code_init(&code, n_of_len));
	n_of_len[TS_MAX_CODE_LEN] = 1;
	ck_assert(!ts_prefix_code_init(&code, n_of_len));
	n_of_len[1] = UINT32_MAX;
	ck_assert(!ts_prefix_code_init(&code, n_of_len));
}
END_TEST

START_TEST(bits_that_are_no_code_are_no_symbol)
{
	unsigned len;

	ck_assert(ts_prefix_code_init(&code, n_of_len));
	ck_assert_uint_eq(ts_prefix_code_find(&code, 0, &len), TS_NO_SYMBOL);
	n_of_len[2] = 3;
	ck_assert(ts_prefix_code_init(&code, n_of_len));
	ck_assert_uint_eq(ts_prefix_code_find(&code, UINT32_C(0xbfffffff), &len), 2);
	ck_assert_uint_eq(ts_prefix_code_find(&code, UINT32_C(0xc0000000), &len), TS_NO_SYMBOL);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("prefix_code");
	TCase *tc = tcase_create("prefix_code");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_symbol_has_as_many_bits_as_it_is_rare);
	tcase_add_loop_test(tc, what_was_coded_is_found_again, 0, 50);
	tcase_add_test(tc, codes_of_all_lengths_fill_the_space);
	tcase_add_test(tc, more_symbols_than_codes_are_refused);
	tcase_add_test(tc, bits_that_are_no_code_are_no_symbol);
	suite_add_tcase(s, tc);
	return s;
}
