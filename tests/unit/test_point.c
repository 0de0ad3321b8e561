/* SPDX-License-Identifier: MIT */
/*
 * The encoding of decode points: bytes written out here, and whatever a damaged index may hold in their
 * place.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "src/trace/point.h"
#include "src/trace/reader.h"

static struct ts_error err;
static struct ts_buf b;
static uint8_t exact[64]; /* the bytes end where the sanitizers watch */
static struct ts_point p, to;

static void start(void)
{
	ts_buf_init(&b);
	to = ts_point_write(&b);
}

static void stop(void)
{
	ts_buf_fini(&b);
}

/* A point of these bytes. */
static void put(const char *bytes, size_t len)
{
	ts_error_reset(&err);
	memcpy(exact + sizeof(exact) - len, bytes, len);
	p = ts_point_open(exact + sizeof(exact) - len, len, &err);
}

/* A point of what was written to b. */
static void put_written(void)
{
	ck_assert(ts_buf_ok(&b));
	put((const char *)b.data, b.len);
}

static void check_refused(void)
{
	ck_assert_int_eq(err.code, TS_ECORRUPT);
	ck_assert_str_eq(err.text, "the decode point belongs to another trace");
	ck_assert_uint_eq(p.left, 0);
	ck_assert_uint_eq(ts_point_number(&p, 99, UINT64_MAX), 0);
	ck_assert(!ts_point_close(&p));
}

static void check_bytes(const char *bytes, size_t len)
{
	ck_assert_uint_eq(b.len, len);
	ck_assert_mem_eq(b.data, bytes, len);
	ts_buf_reset(&b);
}

START_TEST(numbers_have_the_fewest_bytes)
{
	ts_point_number(&to, 0, UINT64_MAX);
	check_bytes("\0", 1);
	ts_point_number(&to, 127, UINT64_MAX);
	check_bytes("\x7f", 1);
	ts_point_number(&to, 128, UINT64_MAX);
	check_bytes("\x80\x01", 2);
	ts_point_number(&to, 0x401504, UINT64_MAX); /* 100 0000 0001 0101 0000 0100 */
	check_bytes("\x84\xaa\x80\x02", 4);
	ts_point_number(&to, UINT64_MAX, UINT64_MAX);
	check_bytes("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
}
END_TEST

START_TEST(numbers_come_back)
{
	static const uint64_t numbers[] = { 0,         1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX / 2,
					    UINT64_MAX };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		ts_point_number(&to, numbers[i], UINT64_MAX);
		ts_point_number(&to, 5, UINT64_MAX);
		put_written();
		ck_assert_uint_eq(ts_point_number(&p, 99, numbers[i]), numbers[i]);
		ck_assert_uint_eq(ts_point_between(&p, 99, 5, 5), 5);
		ck_assert(ts_point_close(&p));
		ts_buf_reset(&b);
	}
}
END_TEST

static void check_no_number(const char *bytes, size_t len)
{
	put(bytes, len);
	ck_assert_uint_eq(ts_point_number(&p, 99, UINT64_MAX), 0);
	check_refused();
}

START_TEST(what_is_no_number_is_refused)
{
	check_no_number("", 0);
	check_no_number("\x80", 1);
	check_no_number("\x80\x00", 2);                                  /* 0 in two bytes */
	check_no_number("\x81\x80\x00", 3);                              /* 1 in three */
	check_no_number("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10); /* 2^65 - 1 */
	check_no_number("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10);
	check_no_number("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11);
}
END_TEST

START_TEST(numbers_out_of_their_range_are_refused)
{
	bool is_set = true;

	put("\x08", 1);
	ck_assert_uint_eq(ts_point_number(&p, 99, 7), 0);
	check_refused();
	put("\x04", 1);
	ck_assert_uint_eq(ts_point_between(&p, 99, 5, 7), 5);
	check_refused();
	put("\x02", 1);
	ck_assert(!TS_POINT(&p, is_set, 1));
	check_refused();
	put("\x01", 1);
	ck_assert(TS_POINT(&p, is_set, 1));
	ck_assert(ts_point_close(&p));
}
END_TEST

START_TEST(counts_are_held_against_the_bytes_left)
{
	put("\x03"
	    "aabbcc",
	    7);
	ck_assert_uint_eq(ts_point_count(&p, 99, 3, 2), 3);
	put("\x03"
	    "aabbc",
	    6);
	ck_assert_uint_eq(ts_point_count(&p, 99, 3, 2), 0);
	check_refused();
	put("\x04"
	    "aabbccdd",
	    9);
	ck_assert_uint_eq(ts_point_count(&p, 99, 3, 2), 0);
	check_refused();
	put("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
	ck_assert_uint_eq(ts_point_count(&p, 99, UINT64_MAX, 8), 0);
	check_refused();
}
END_TEST

START_TEST(bytes_have_a_largest_length)
{
	char bytes[4] = "abc";

	ck_assert_uint_eq(ts_point_bytes(&to, bytes, 3, 3), 3);
	check_bytes("\3abc", 4);
	put("\3abc", 4);
	memset(bytes, 'x', 3);
	ck_assert(ts_point_bytes(&p, bytes, 9, 3) == 3 && !strcmp(bytes, "abc") && ts_point_close(&p));
	put("\3abc", 4);
	ck_assert_uint_eq(ts_point_bytes(&p, bytes, 9, 2), 0);
	check_refused();
	put("\3ab", 3);
	ck_assert_uint_eq(ts_point_bytes(&p, bytes, 9, 3), 0);
	check_refused();
	put("\0", 1);
	ck_assert(ts_point_bytes(&p, bytes, 9, 3) == 0 && ts_point_close(&p));
	ck_assert_str_eq(bytes, "abc");
}
END_TEST

START_TEST(bytes_of_a_known_length_have_no_other)
{
	char bytes[4] = "abc";

	ck_assert(ts_point_fixed(&to, bytes, 3));
	check_bytes("abc", 3);
	memset(bytes, 'x', 3);
	put("abc", 3);
	ck_assert(ts_point_fixed(&p, bytes, 3) && ts_point_close(&p));
	ck_assert_str_eq(bytes, "abc");
	put("de", 2);
	ck_assert(!ts_point_fixed(&p, bytes, 3));
	ck_assert_str_eq(bytes, "abc");
	check_refused();
}
END_TEST

START_TEST(changes_take_space_for_what_differs)
{
	uint8_t base[300], now[300], back[300];

	memset(base, 7, sizeof(base));
	memcpy(now, base, sizeof(now));
	ts_point_change(&to, now, base, sizeof(now));
	check_bytes("\0\0", 2);
	now[0] = 1;
	now[199] = 2;
	now[200] = 3;
	ts_point_change(&to, now, base, sizeof(now));
	check_bytes("\0\1\1\xc6\1\2\2\3\0\0", 10);
	now[299] = 4;
	ts_point_change(&to, now, base, sizeof(now));
	put_written();
	ck_assert(ts_point_change(&p, back, base, sizeof(back)));
	ck_assert(ts_point_close(&p));
	ck_assert_mem_eq(back, now, sizeof(now));
}
END_TEST

static void check_no_change(const char *bytes, size_t len)
{
	static const uint8_t base[4];
	uint8_t *four = calloc(1, 4);

	put(bytes, len);
	ck_assert(!ts_point_change(&p, four, base, 4));
	check_refused();
	free(four);
}

START_TEST(changes_cannot_leave_their_bytes)
{
	check_no_change("\5\0", 2);
	check_no_change("\0\5abcde\0\0", 9);
	check_no_change("\4\1a\0\0", 5);
	check_no_change("\2\2ab\0\1a\0\0", 9);
	check_no_change("\1\1a\4\1b\0\0", 8); /* leaves them after a difference */
	check_no_change("\1\1a", 3);          /* no end */
	check_no_change("\1\0", 2);           /* an end that passes over bytes */
	check_no_change("\0\2a", 3);
}
END_TEST

START_TEST(ends_come_back)
{
	struct ts_end end = { .pc = 0x401504, .has_pc = true, .is_fault = true, .is_assumed = true };
	struct ts_end back = { 0 };

	ts_point_end(&to, &end);
	put_written();
	ts_point_end(&p, &back);
	ck_assert(ts_point_close(&p));
	ck_assert(back.pc == end.pc && back.has_pc && !back.has_exit && back.is_fault && back.is_assumed);
	put("\x40\1", 2); /* a flag that nobody knows */
	ts_point_end(&p, &back);
	ck_assert(!back.has_pc && !back.pc);
	check_refused();
}
END_TEST

START_TEST(flags_are_bits_of_one_number)
{
	bool one = true, two = false, three = true;

	TS_POINT_FLAGS(&to, &one, &two, &three);
	check_bytes("\5", 1);
	put("\6", 1);
	TS_POINT_FLAGS(&p, &one, &two, &three);
	ck_assert(!one && two && three && ts_point_close(&p));
	put("\x8", 1);
	TS_POINT_FLAGS(&p, &one, &two, &three);
	ck_assert(!one && !two && !three);
	check_refused();
}
END_TEST

START_TEST(a_point_ends_where_its_fields_do)
{
	put("\1\2", 2);
	ck_assert_uint_eq(ts_point_number(&p, 99, 1), 1);
	ck_assert(!ts_point_close(&p));
	check_refused();
}
END_TEST

UNIT_FIXTURE_SUITE("point", start, stop, numbers_have_the_fewest_bytes, numbers_come_back,
		   what_is_no_number_is_refused, numbers_out_of_their_range_are_refused,
		   counts_are_held_against_the_bytes_left, bytes_have_a_largest_length,
		   bytes_of_a_known_length_have_no_other, changes_take_space_for_what_differs,
		   changes_cannot_leave_their_bytes, ends_come_back, flags_are_bits_of_one_number, a_point_ends_where_its_fields_do)
