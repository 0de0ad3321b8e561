/* SPDX-License-Identifier: MIT */
/*
 * A cursor reads numbers in order, never leaves its range, and remembers its first failure.
 */
#include "unit.h"

#include "src/base/cursor.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
static struct ts_error err;

static void setup(void)
{
	ts_error_reset(&err);
}

static struct ts_cursor over(size_t len)
{
	return ts_cursor(bytes, len, 0x100, "test record", &err);
}

START_TEST(numbers_are_read_in_their_byte_order)
{
	struct ts_cursor c = over(16);

	ck_assert_uint_eq(ts_u8(&c), 0x01);
	ck_assert_uint_eq(ts_u16le(&c), 0x0302);
	ck_assert_uint_eq(ts_u32le(&c), 0x07060504);
	ck_assert_uint_eq(ts_u32be(&c), 0x08090a0b);
	ck_assert_uint_eq(c.left, 5);
	ck_assert_uint_eq(c.off, 0x10b);
	c = over(16);
	ck_assert_uint_eq(ts_u64le(&c), UINT64_C(0x0807060504030201));
	ck_assert(ts_ok(&c));
}
END_TEST

START_TEST(every_read_may_end_exactly_at_the_end_and_not_one_byte_later)
{
	for (size_t len = 0; len <= 16; len++) {
		for (size_t want = 0; want <= 17; want++) {
			struct ts_cursor c = over(len);

			ts_error_reset(&err);
			ck_assert_ptr_eq(ts_take(&c, want), want <= len ? bytes : NULL);
			ck_assert(ts_ok(&c) == (want <= len));
			ck_assert_uint_eq(c.left, want <= len ? len - want : 0);
		}
	}
}
END_TEST

START_TEST(after_a_failure_all_is_zero_and_the_first_sentence_stays)
{
	struct ts_cursor c = over(6);

	ts_u32le(&c);
	ck_assert_uint_eq(ts_u64le(&c), 0);
	ck_assert_uint_eq(ts_u8(&c), 0);
	ck_assert_uint_eq(ts_u16le(&c), 0);
	ck_assert_uint_eq(ts_u32le(&c), 0);
	ck_assert(!ts_ok(&c));
	ck_assert_int_eq(err.code, TS_ETRUNC);
	ck_assert_uint_eq(err.off, 0x104);
	ck_assert_str_eq(err.text, "test record: 8 bytes needed but 2 left");
}
END_TEST

START_TEST(a_length_of_64_bits_cannot_wrap)
{
	struct ts_cursor c = over(16);

	ts_u8(&c);
	ck_assert_ptr_null(ts_take(&c, UINT64_MAX));
	ck_assert_uint_eq(c.left, 0);
}
END_TEST

START_TEST(a_count_must_fit_in_what_is_left)
{
	static const struct {
		uint64_t n;
		size_t item_len;
		bool fits;
	} cases[] = {
		{ 0, 4, true },
		{ 4, 4, true },
		{ 5, 4, false },
		{ 16, 1, true },
		{ 17, 1, false },
		{ 1, 17, false },
		{ UINT64_C(1) << 62, 8, false },
		{ UINT64_MAX, SIZE_MAX, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ts_cursor c = over(16);

		ts_error_reset(&err);
		ck_assert_uint_eq(ts_count(&c, cases[i].n, cases[i].item_len),
				  cases[i].fits ? cases[i].n : 0);
		ck_assert(ts_ok(&c) == cases[i].fits);
		ck_assert_uint_eq(c.left, cases[i].fits ? 16 : 0);
	}
}
END_TEST

START_TEST(a_part_ends_where_it_should_and_shares_the_failure)
{
	struct ts_cursor c = over(16), sub = ts_sub(&c, 4, "part");

	ck_assert_uint_eq(c.left, 12);
	ck_assert_uint_eq(sub.left, 4);
	ck_assert_uint_eq(sub.off, 0x100);
	ck_assert_uint_eq(ts_u8(&c), 5);
	ts_take(&sub, 5);
	ck_assert(!ts_ok(&c));
	ck_assert_str_eq(err.text, "part: 5 bytes needed but 4 left");
}
END_TEST

START_TEST(a_part_that_does_not_fit_is_empty)
{
	struct ts_cursor c = over(3), sub = ts_sub(&c, 4, "part");

	ck_assert_uint_eq(sub.left, 0);
	ck_assert_uint_eq(c.left, 0);
	ck_assert(!ts_ok(&sub));
}
END_TEST

START_TEST(sums_and_products_tell_of_overflow)
{
	uint64_t v;

	ck_assert(ts_add(UINT64_MAX - 1, 1, &v));
	ck_assert_uint_eq(v, UINT64_MAX);
	ck_assert(!ts_add(UINT64_MAX, 1, &v));
	ck_assert(ts_mul(UINT32_MAX, UINT32_MAX, &v));
	ck_assert(!ts_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &v));
}
END_TEST

UNIT_FIXTURE_SUITE("cursor", setup, NULL, numbers_are_read_in_their_byte_order,
		   every_read_may_end_exactly_at_the_end_and_not_one_byte_later,
		   after_a_failure_all_is_zero_and_the_first_sentence_stays, a_length_of_64_bits_cannot_wrap,
		   a_count_must_fit_in_what_is_left, a_part_ends_where_it_should_and_shares_the_failure,
		   a_part_that_does_not_fit_is_empty, sums_and_products_tell_of_overflow)
