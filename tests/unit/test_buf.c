/* SPDX-License-Identifier: MIT */
/*
 * A buffer holds what was appended; one that could not grow says so and changes no more.
 */
#include "unit.h"

#include "src/base/collections/buf.h"

#include <string.h>

static struct ts_buf b;

static void setup(void)
{
	ts_buf_init(&b);
}

static void teardown(void)
{
	ts_buf_fini(&b);
}

START_TEST(bytes_stand_in_the_order_in_which_they_came)
{
	for (unsigned i = 0; i < 1000; i++) {
		ts_buf_putc(&b, (uint8_t)i);
		ts_buf_put(&b, "abc", i % 4);
	}
	ck_assert(ts_buf_ok(&b));
	ck_assert_uint_eq(b.len, 1000 + 250 * (0 + 1 + 2 + 3));
	for (unsigned i = 0, at = 0; i < 1000; at += 1 + i++ % 4) {
		ck_assert_uint_eq(b.data[at], (uint8_t)i);
		ck_assert_int_eq(memcmp(b.data + at + 1, "abc", i % 4), 0);
	}
}
END_TEST

START_TEST(text_is_terminated_behind_its_length)
{
	ck_assert_str_eq(ts_buf_text(&b), "");
	ts_buf_puts(&b, "pc=");
	ts_buf_printf(&b, "%04x%s", 0xbeef, ";");
	ck_assert_uint_eq(b.len, 8);
	ck_assert_str_eq(ts_buf_text(&b), "pc=beef;");
	ck_assert_uint_eq(b.len, 8);
	ts_buf_printf(&b, "%0300d", 1);
	ck_assert_uint_eq(b.len, 308);
	ck_assert_uint_eq(strlen(ts_buf_text(&b)), 308);
}
END_TEST

START_TEST(the_text_of_a_good_buffer_needs_no_memory)
{
	for (unsigned len = 1; len < 600; len++) {
		size_t cap;

		ts_buf_fini(&b);
		if (len % 2)
			ts_buf_putc(&b, 'a');
		while (b.len < len)
			len % 3 ? ts_buf_putc(&b, 'a') : ts_buf_put(&b, "aaaaaa", len - b.len < 6 ? len - b.len : 6);
		cap = b.cap;
		ck_assert_uint_eq(strlen(ts_buf_text(&b)), len);
		ck_assert_uint_eq(b.cap, cap);
	}
}
END_TEST

START_TEST(hex_is_two_small_digits_a_byte)
{
	static const uint8_t bytes[] = { 0x00, 0x0f, 0xa5, 0xff };

	ts_buf_hex(&b, bytes, 4);
	ts_buf_hex(&b, bytes, 0);
	ck_assert_str_eq(ts_buf_text(&b), "000fa5ff");
}
END_TEST

START_TEST(consuming_drops_from_the_front)
{
	ts_buf_puts(&b, "abcdef");
	ts_buf_consume(&b, 0);
	ts_buf_consume(&b, 4);
	ck_assert_str_eq(ts_buf_text(&b), "ef");
	ts_buf_consume(&b, 2);
	ck_assert_uint_eq(b.len, 0);
}
END_TEST

START_TEST(a_buffer_that_cannot_grow_keeps_its_bytes_and_the_failure)
{
	ts_buf_puts(&b, "abc");
	ck_assert_ptr_null(ts_buf_add(&b, SIZE_MAX));
	ck_assert(!ts_buf_ok(&b));
	ts_buf_puts(&b, "def");
	ck_assert_uint_eq(b.len, 3);
	ck_assert_int_eq(memcmp(b.data, "abc", 3), 0);
	ck_assert_str_eq(ts_buf_text(&b), "");
	ts_buf_reset(&b);
	ck_assert(ts_buf_ok(&b));
	ts_buf_puts(&b, "ghi");
	ck_assert_str_eq(ts_buf_text(&b), "ghi");
}
END_TEST

START_TEST(hex_of_more_than_half_the_memory_is_refused)
{
	ts_buf_hex(&b, "x", SIZE_MAX / 2 + 1);
	ck_assert(!ts_buf_ok(&b));
	ck_assert_uint_eq(b.len, 0);
}
END_TEST

/* 10^13 - 1 of 10^13: rounded to the next it would be 100%, and in double the last digits are lost. */
START_TEST(only_the_last_position_is_all)
{
	ts_buf_position(&b, 1, 3);
	ts_buf_position(&b, UINT64_C(9999999999999), UINT64_C(10000000000000));
	ts_buf_position(&b, UINT64_MAX - 1, UINT64_MAX - 1);
	ts_buf_position(&b, 0, 0);
	ts_buf_position(&b, UINT64_C(1152921504606846975), UINT64_C(11529215046068469760));
	ck_assert_str_eq(ts_buf_text(&b), "position 1 of 3 (33.33%)"
					  "position 9999999999999 of 10000000000000 (99.99%)"
					  "position 18446744073709551614 of 18446744073709551614 (100.00%)"
					  "position 0 of 0 (100.00%)"
					  "position 1152921504606846975 of 11529215046068469760 (9.99%)");
}
END_TEST

UNIT_FIXTURE_SUITE("buf", setup, teardown, bytes_stand_in_the_order_in_which_they_came,
		   text_is_terminated_behind_its_length, the_text_of_a_good_buffer_needs_no_memory,
		   hex_is_two_small_digits_a_byte, consuming_drops_from_the_front,
		   a_buffer_that_cannot_grow_keeps_its_bytes_and_the_failure,
		   hex_of_more_than_half_the_memory_is_refused, only_the_last_position_is_all)
