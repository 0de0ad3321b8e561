/* SPDX-License-Identifier: MIT */
/*
 * Arguments as gdb and lldb write them, and everything that is not quite one.
 */
#include "unit.h"

#include "protocol/wire/args.h"
#include "src/base/collections/buf.h"

#include <stdlib.h>
#include <string.h>

static struct rsp_args args_of(const char *text)
{
	return rsp_args(text, strlen(text));
}

static void expect_u64(const char *text, uint64_t value)
{
	struct rsp_args a = args_of(text);

	ck_assert_msg(rsp_args_u64(&a) == value, "%s", text);
	ck_assert_msg(rsp_args_done(&a), "%s", text);
}

/* A failure is sticky: nothing is left, and every read gives zeros. */
static void expect_failed(struct rsp_args *a, const char *text)
{
	size_t len = 99;
	struct rsp_tid tid;

	ck_assert_msg(!rsp_args_ok(a), "%s", text);
	ck_assert_msg(!rsp_args_done(a), "%s", text);
	ck_assert_uint_eq(a->left, 0);
	ck_assert_int_eq(rsp_args_peek(a), -1);
	ck_assert_uint_eq(rsp_args_u64(a), 0);
	ck_assert_uint_eq(rsp_args_u32(a), 0);
	ck_assert_int_eq(rsp_args_i64(a), 0);
	ck_assert_uint_eq(rsp_args_u8(a), 0);
	tid = rsp_args_tid(a);
	ck_assert(!tid.has_pid && !tid.pid && !tid.tid);
	rsp_args_rest(a, &len);
	ck_assert_uint_eq(len, 0);
	ck_assert(!rsp_args_ok(a));
}

START_TEST(numbers_of_every_length_are_read)
{
	expect_u64("0", 0);
	expect_u64("401000", 0x401000);
	expect_u64("7fffffffe6c0", 0x7fffffffe6c0);
	expect_u64("DEADbeef", 0xdeadbeef);
	expect_u64("ffffffffffffffff", UINT64_MAX);
	expect_u64("8000000000000000", (uint64_t)1 << 63);
	expect_u64("0000000000000000000000000040100a", 0x40100a);
}
END_TEST

START_TEST(a_number_that_does_not_fit_fails)
{
	static const char *const u64s[] = { "10000000000000000", "fffffffffffffffff", "18000000000000000" };
	static const char *const u32s[] = { "100000000", "ffffffff0", "ffffffffffffffff" };
	struct rsp_args a;

	for (unsigned i = 0; i < 3; i++) {
		a = args_of(u64s[i]);
		ck_assert_uint_eq(rsp_args_u64(&a), 0);
		expect_failed(&a, u64s[i]);
		a = args_of(u32s[i]);
		ck_assert_uint_eq(rsp_args_u32(&a), 0);
		expect_failed(&a, u32s[i]);
	}
	a = args_of("ffffffff");
	ck_assert_uint_eq(rsp_args_u32(&a), UINT32_MAX);
	ck_assert(rsp_args_done(&a));
}
END_TEST

START_TEST(a_number_wants_a_digit)
{
	static const char *const texts[] = { "", "g", ",4", "-1", " 1", "+1" };

	for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct rsp_args a = args_of(texts[i]);

		rsp_args_u64(&a);
		expect_failed(&a, texts[i]);
	}
}
END_TEST

START_TEST(signed_numbers_reach_both_ends)
{
	static const struct {
		const char *text;
		int64_t value;
	} good[] = { { "-1", -1 },
		     { "0", 0 },
		     { "1f", 31 },
		     { "7fffffffffffffff", INT64_MAX },
		     { "-8000000000000000", INT64_MIN },
		     { "-0", 0 } };
	static const char *const bad[] = { "8000000000000000", "-8000000000000001", "-", "--1", "", "-g" };
	struct rsp_args a;

	for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
		a = args_of(good[i].text);
		ck_assert_int_eq(rsp_args_i64(&a), good[i].value);
		ck_assert(rsp_args_done(&a));
	}
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		a = args_of(bad[i]);
		rsp_args_i64(&a);
		expect_failed(&a, bad[i]);
	}
}
END_TEST

START_TEST(an_address_and_a_length_are_read_in_order)
{
	struct rsp_args a = args_of("7fffffffe6c0,40");
	uint64_t addr = rsp_args_u64(&a);
	uint64_t len;

	rsp_args_expect(&a, ',');
	len = rsp_args_u64(&a);
	ck_assert(rsp_args_done(&a));
	ck_assert_uint_eq(addr, 0x7fffffffe6c0);
	ck_assert_uint_eq(len, 0x40);
}
END_TEST

START_TEST(what_is_left_over_is_not_done)
{
	struct rsp_args a = args_of("40,");

	rsp_args_u64(&a);
	ck_assert(rsp_args_ok(&a));
	ck_assert(!rsp_args_done(&a));
}
END_TEST

START_TEST(a_wrong_separator_fails)
{
	struct rsp_args a = args_of("40;4");

	rsp_args_u64(&a);
	rsp_args_expect(&a, ',');
	expect_failed(&a, "40;4");
	a = args_of("");
	rsp_args_expect(&a, ',');
	expect_failed(&a, "");
}
END_TEST

START_TEST(optional_bytes_and_words_stay_when_they_are_others)
{
	struct rsp_args a = args_of("cmds:1\xff");

	ck_assert(!rsp_args_accept(&a, 'X'));
	ck_assert(!rsp_args_accept_word(&a, "cmdx"));
	ck_assert(!rsp_args_accept_word(&a, "cmds:1234"));
	ck_assert_int_eq(rsp_args_peek(&a), 'c');
	ck_assert(rsp_args_accept_word(&a, "cmds:"));
	ck_assert(rsp_args_accept(&a, '1'));
	ck_assert_int_eq(rsp_args_peek(&a), 0xff);
	ck_assert(rsp_args_accept(&a, '\xff'));
	ck_assert_int_eq(rsp_args_peek(&a), -1);
	ck_assert(!rsp_args_accept(&a, '1'));
	ck_assert(rsp_args_done(&a));
}
END_TEST

START_TEST(two_digits_are_a_signal)
{
	static const char *const bad[] = { "", "5", "5;", "g0", "0g" };
	struct rsp_args a = args_of("0b;");

	ck_assert_uint_eq(rsp_args_u8(&a), 11);
	ck_assert_int_eq(rsp_args_peek(&a), ';');
	a = args_of("FE1");
	ck_assert_uint_eq(rsp_args_u8(&a), 0xfe);
	ck_assert_int_eq(rsp_args_peek(&a), '1');
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		a = args_of(bad[i]);
		rsp_args_u8(&a);
		expect_failed(&a, bad[i]);
	}
}
END_TEST

START_TEST(threads_in_all_their_forms_are_read)
{
	static const struct {
		const char *text;
		struct rsp_tid tid;
	} good[] = {
		{ "0", { 0, 0, false } },
		{ "-1", { 0, -1, false } },
		{ "1", { 0, 1, false } },
		{ "0001", { 0, 1, false } },
		{ "p1.2", { 1, 2, true } },
		{ "p0.0", { 0, 0, true } },
		{ "p1.0", { 1, 0, true } },
		{ "p1.-1", { 1, -1, true } },
		{ "p32ed.32ed", { 0x32ed, 0x32ed, true } },
		{ "pa410", { 0xa410, -1, true } },
		{ "p-1", { -1, -1, true } },
		{ "p-1.-1", { -1, -1, true } },
		{ "7fffffffffffffff", { 0, INT64_MAX, false } },
	};

	for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
		struct rsp_args a = args_of(good[i].text);
		struct rsp_tid tid = rsp_args_tid(&a);

		ck_assert_msg(rsp_args_done(&a), "%s", good[i].text);
		ck_assert_int_eq(tid.pid, good[i].tid.pid);
		ck_assert_int_eq(tid.tid, good[i].tid.tid);
		ck_assert_int_eq(tid.has_pid, good[i].tid.has_pid);
	}
}
END_TEST

START_TEST(what_is_no_thread_fails)
{
	static const char *const bad[] = { "",	   "p",	   "p.1",  "p1.",   "-2",   "p-2.1", "p1.-2", "p-1.1",
					   "p-1.0", "-",   "x",	   "P1.1",  "p1.x", "8000000000000000",
					   "p8000000000000000.1" };

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct rsp_args a = args_of(bad[i]);
		struct rsp_tid tid = rsp_args_tid(&a);

		ck_assert_int_eq(tid.tid, 0);
		expect_failed(&a, bad[i]);
	}
}
END_TEST

START_TEST(a_thread_ends_where_the_next_argument_begins)
{
	struct rsp_args a = args_of("s:p1.-1;c");

	ck_assert(rsp_args_accept(&a, 's'));
	rsp_args_expect(&a, ':');
	rsp_args_tid(&a);
	ck_assert(rsp_args_accept(&a, ';'));
	ck_assert_int_eq(rsp_args_peek(&a), 'c');
}
END_TEST

START_TEST(hex_strings_become_bytes)
{
	struct rsp_args a = args_of("2f64656D6f,0");
	uint8_t bytes[8] = { 0 };

	ck_assert_uint_eq(rsp_args_hex_len(&a), 5);
	ck_assert_uint_eq(rsp_args_hex(&a, bytes, 5), 5);
	ck_assert_mem_eq(bytes, "/demo", 5);
	ck_assert_int_eq(rsp_args_peek(&a), ',');
	ck_assert_uint_eq(rsp_args_hex_len(&a), 0);
	ck_assert_uint_eq(rsp_args_hex(&a, bytes, 8), 0);
	ck_assert(rsp_args_ok(&a));
}
END_TEST

START_TEST(odd_and_oversized_hex_strings_fail)
{
	uint8_t bytes[4] = { 0xaa, 0xaa, 0xaa, 0xaa };
	struct rsp_args a = args_of("123");

	ck_assert_uint_eq(rsp_args_hex(&a, bytes, 4), 0);
	expect_failed(&a, "123");
	a = args_of("0102030405");
	ck_assert_uint_eq(rsp_args_hex(&a, bytes, 4), 0);
	expect_failed(&a, "0102030405");
	ck_assert_mem_eq(bytes, "\xaa\xaa\xaa\xaa", 4);
}
END_TEST

START_TEST(hex_strings_are_added_to_a_buffer)
{
	struct rsp_args a = args_of("7768657265");
	struct ts_buf buf;

	ts_buf_init(&buf);
	ts_buf_puts(&buf, ">");
	rsp_args_hex_buf(&a, &buf);
	ck_assert(rsp_args_done(&a));
	ck_assert_str_eq(ts_buf_text(&buf), ">where");
	a = args_of("776");
	rsp_args_hex_buf(&a, &buf);
	ck_assert(!rsp_args_ok(&a));
	ck_assert_str_eq(ts_buf_text(&buf), ">where");
	a = args_of("");
	rsp_args_hex_buf(&a, &buf);
	ck_assert(rsp_args_done(&a));
	ts_buf_fini(&buf);
}
END_TEST

START_TEST(text_is_taken_up_to_a_separator)
{
	struct rsp_args a = args_of("features:read:target.xml:0,1000");
	size_t len;
	const uint8_t *text = rsp_args_until(&a, ":", &len);

	ck_assert_uint_eq(len, 8);
	ck_assert_mem_eq(text, "features", 8);
	ck_assert_int_eq(rsp_args_peek(&a), ':');
	rsp_args_until(&a, ",;", &len);
	ck_assert_uint_eq(len, 18);
	rsp_args_until(&a, ";", &len);
	ck_assert_uint_eq(len, 5);
	ck_assert(rsp_args_done(&a));
}
END_TEST

START_TEST(zero_bytes_are_bytes)
{
	struct rsp_args a = rsp_args("a\0b:\0", 5);
	size_t len;

	rsp_args_until(&a, ":", &len);
	ck_assert_uint_eq(len, 3);
	rsp_args_expect(&a, ':');
	ck_assert_mem_eq(rsp_args_rest(&a, &len), "\0", 1);
	ck_assert_uint_eq(len, 1);
	ck_assert(rsp_args_done(&a));
}
END_TEST

static void read_one(struct rsp_args *a, int reader)
{
	struct ts_buf buf;
	uint8_t bytes[4];
	size_t len;

	switch (reader) {
	case 0: rsp_args_u64(a); break;
	case 1: rsp_args_u32(a); break;
	case 2: rsp_args_i64(a); break;
	case 3: rsp_args_u8(a); break;
	case 4: rsp_args_tid(a); break;
	case 5: rsp_args_hex(a, bytes, sizeof bytes); break;
	case 6: rsp_args_until(a, ";", &len); break;
	case 7: rsp_args_accept_word(a, "cmds:"); break;
	case 8: rsp_args_expect(a, ','); break;
	case 9:
		ts_buf_init(&buf);
		rsp_args_hex_buf(a, &buf);
		ts_buf_fini(&buf);
		break;
	}
}

/* Each reader over each cut of a packet, in a block of its length (the sanitizers watch), stays within it. */
START_TEST(a_packet_cut_anywhere_is_safe)
{
	static const char text[] = "p1.-1:7fffffffe6c0,40;-12;cmds:0,X1e,26000622100222d4";

	for (size_t from = 0; from < sizeof text; from++) {
		for (size_t len = 0; from + len < sizeof text; len++) {
			uint8_t *block = malloc(len + !len);

			ck_assert_ptr_nonnull(block);
			memcpy(block, text + from, len);
			for (int reader = 0; reader < 10; reader++) {
				struct rsp_args a = rsp_args(block, len);

				read_one(&a, reader);
				ck_assert_uint_le(a.left, len);
				ck_assert(rsp_args_ok(&a) ? a.p + a.left == block + len : !a.left);
			}
			free(block);
		}
	}
}
END_TEST

UNIT_SUITE("args", numbers_of_every_length_are_read, a_number_that_does_not_fit_fails, a_number_wants_a_digit,
	   signed_numbers_reach_both_ends, an_address_and_a_length_are_read_in_order,
	   what_is_left_over_is_not_done, a_wrong_separator_fails,
	   optional_bytes_and_words_stay_when_they_are_others, two_digits_are_a_signal,
	   threads_in_all_their_forms_are_read, what_is_no_thread_fails,
	   a_thread_ends_where_the_next_argument_begins, hex_strings_become_bytes,
	   odd_and_oversized_hex_strings_fail, hex_strings_are_added_to_a_buffer,
	   text_is_taken_up_to_a_separator, zero_bytes_are_bytes, a_packet_cut_anywhere_is_safe)
