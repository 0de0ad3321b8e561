/* SPDX-License-Identifier: MIT */
/*
 * Protobuf's wire format: bytes written out here, and a message of one number, bytes, and both fixed widths.
 */
#include "unit.h"

#include <string.h>

#include "loaders/kit/pbwire.h"

enum { NUMBER = 1, BYTES, WIDE, NARROW };

static const struct pb_field_def fields[] = {
	{ .name = "number", .wire = PB_VARINT },
	{ .name = "bytes", .wire = PB_BYTES },
	{ .name = "wide", .wire = PB_FIXED64 },
	{ .name = "narrow", .wire = PB_FIXED32 },
};
static const struct pb_message_def def = { .name = "message", .fields = fields, .n_fields = 4 };
static const struct pb_message_def strict = { .name = "message", .fields = fields, .n_fields = 4, .must = 1 };

static struct ts_error err;
static uint8_t exact[64]; /* the bytes end where the sanitizers watch */
static struct ts_cursor c;

/* A cursor over bytes that lie at offset 1000 of the file. */
static void put(const char *bytes, size_t len)
{
	ts_error_reset(&err);
	memcpy(exact + sizeof(exact) - len, bytes, len);
	c = ts_cursor(exact + sizeof(exact) - len, len, 1000, "test", &err);
}

static void check_error(uint64_t off, const char *words)
{
	ck_assert_int_eq(err.code, TS_ECORRUPT);
	ck_assert_msg(err.off == off && strstr(err.text, words), "%llu: %s", (unsigned long long)err.off,
		      err.text);
	ck_assert_uint_eq(c.left, 0);
}

static uint64_t varint(const char *bytes, size_t len)
{
	put(bytes, len);
	return pb_varint(&c);
}

START_TEST(varints_have_one_to_ten_bytes)
{
	ck_assert_uint_eq(varint("\x00", 1), 0);
	ck_assert_uint_eq(varint("\x7f", 1), 127);
	ck_assert_uint_eq(varint("\x80\x01", 2), 128);
	ck_assert_uint_eq(varint("\xff\x7f", 2), 16383);
	ck_assert_uint_eq(varint("\x80\x80\x01", 3), 16384);
	ck_assert_uint_eq(varint("\x84\xaa\x80\x02", 4), 0x401504);
	ck_assert_uint_eq(varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10), UINT64_MAX);
	ck_assert_uint_eq(varint("\x81\x80\x00", 3), 1); /* longer than it need be */
	ck_assert_uint_eq(varint("\x05\x06", 2), 5);
	ck_assert_uint_eq(c.left, 1);
	ck_assert_uint_eq(c.off, 1001);
}
END_TEST

/* A number of @len varint bytes, each seven bits different, with others behind it. */
START_TEST(a_varint_ends_where_it_ends_whatever_follows)
{
	for (size_t len = 1; len <= 10; len++) {
		uint8_t bytes[18];
		uint64_t want = 0;

		memset(bytes, 0xff, sizeof(bytes));
		for (size_t i = 0; i < len; i++) {
			uint8_t seven = i == 9 ? 1 : (uint8_t)(0x55 + i);

			bytes[i] = (uint8_t)(seven | (i + 1 < len ? 0x80 : 0));
			want |= (uint64_t)(seven & 0x7f) << 7 * i;
		}
		ck_assert_uint_eq(varint((const char *)bytes, len + 8), want);
		ck_assert_uint_eq(c.left, 8);
		ck_assert_uint_eq(varint((const char *)bytes, len), want);
		ck_assert_uint_eq(c.left, 0);
	}
}
END_TEST

START_TEST(varints_that_do_not_end_fail)
{
	varint("", 0);
	check_error(1000, "does not end");
	varint("\x80", 1);
	check_error(1000, "does not end");
	varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9);
	check_error(1000, "does not end");
	varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	check_error(1000, "longer than ten");
}
END_TEST

START_TEST(signs_are_in_the_lowest_bit)
{
	ck_assert_int_eq(pb_zigzag(0), 0);
	ck_assert_int_eq(pb_zigzag(1), -1);
	ck_assert_int_eq(pb_zigzag(128), 64);
	ck_assert_int_eq(pb_zigzag(UINT64_MAX), INT64_MIN);
}
END_TEST

START_TEST(fields_come_in_any_order_and_the_last_of_one_counts)
{
	struct pb_message m;

	put("\x25\1\2\3\4\x12\2ab\x08\5\x19\1\2\3\4\5\6\7\x08\x08\6", 22);
	ck_assert_msg(pb_read(&c, &def, &m), "%s", err.text);
	ck_assert_uint_eq(m.present, 0xf);
	ck_assert_uint_eq(m.v[NUMBER - 1].n, 6);
	ck_assert_ptr_null(m.v[NUMBER - 1].p);
	ck_assert_uint_eq(m.v[BYTES - 1].n, 2);
	ck_assert_mem_eq(m.v[BYTES - 1].p, "ab", 2);
	ck_assert_uint_eq(m.v[WIDE - 1].n, 8);
	ck_assert_mem_eq(m.v[WIDE - 1].p, "\1\2\3\4\5\6\7\x08", 8);
	ck_assert_uint_eq(m.v[NARROW - 1].n, 4);
	ck_assert(pb_has(&m, WIDE));
}
END_TEST

START_TEST(what_is_not_there_is_zero_and_no_bytes)
{
	struct pb_message m;
	struct ts_cursor sub;

	memset(&m, 0xff, sizeof(m));
	put("", 0);
	ck_assert(pb_read(&c, &def, &m));
	ck_assert(!pb_has(&m, NUMBER) && !pb_has(&m, BYTES));
	ck_assert_uint_eq(m.v[NUMBER - 1].n, 0);
	sub = pb_sub(&m, BYTES, &c);
	ck_assert_uint_eq(sub.left, 0);
	put("\x12\0", 2); /* bytes, but none */
	ck_assert(pb_read(&c, &def, &m));
	ck_assert(pb_has(&m, BYTES));
	ck_assert_ptr_nonnull(m.v[BYTES - 1].p);
}
END_TEST

START_TEST(fields_of_other_numbers_are_skipped)
{
	struct pb_message m;

	put("\x28\x96\1\xa0\6\1\x32\1x\x39\1\2\3\4\5\6\7\x08\x45\1\2\3\4\x08\x2a", 25);
	ck_assert_msg(pb_read(&c, &def, &m), "%s", err.text);
	ck_assert_uint_eq(m.present, 1);
	ck_assert_uint_eq(m.v[NUMBER - 1].n, 42);
}
END_TEST

START_TEST(parts_know_where_they_are_in_the_file)
{
	struct pb_message m;
	struct ts_cursor sub;

	put("\x08\x80\x01\x12\x03\x0a\x05x\x08\1", 10);
	ck_assert(pb_read(&c, &def, &m));
	sub = pb_sub(&m, BYTES, &c);
	ck_assert_uint_eq(sub.off, 1005);
	ck_assert_uint_eq(sub.left, 3);
	ck_assert(!pb_read(&sub, &def, &m));
	ck_assert_uint_eq(err.off, 1005); /* 0a: number is no run of bytes */
	ck_assert_ptr_nonnull(strstr(err.text, "number of message has wire type 2, not 0"));
}
END_TEST

static void check_damaged(const char *bytes, size_t len, uint64_t off, const char *words)
{
	struct pb_message m;

	put(bytes, len);
	ck_assert(!pb_read(&c, &def, &m));
	check_error(off, words);
}

START_TEST(what_is_no_field_is_damage)
{
	check_damaged("\x08", 1, 1001, "does not end");
	check_damaged("\x00\x01", 2, 1000, "field number 0");
	check_damaged("\x0b", 1, 1000, "wire type 3");
	check_damaged("\x0c", 1, 1000, "wire type 4");
	check_damaged("\x0e\x01", 2, 1000, "wire type 6");
	check_damaged("\x0f\x01", 2, 1000, "wire type 7");
	check_damaged("\x08\1\x10\1", 4, 1002, "bytes of message has wire type 0, not 2");
	check_damaged("\x12\x03xy", 4, 1002, "3 bytes, but 2 bytes are left");
	check_damaged("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\1x", 12, 1011, "18446744073709551615 bytes");
	check_damaged("\x19\1\2\3\4\5\6\7", 8, 1001, "8 bytes, but 7 bytes are left");
	check_damaged("\x25\1\2\3", 4, 1001, "4 bytes, but 3 bytes are left");
	check_damaged("\x80\x80\x80\x80\x10\1", 6, 1000, "an invalid key"); /* number 2^29 */
}
END_TEST

START_TEST(a_field_that_must_be_there_is_missed)
{
	struct pb_message m;

	put("\x12\x01x", 3);
	ck_assert(!pb_read(&c, &strict, &m));
	check_error(1000, "message without its number");
	put("\x12\x01x\x08\0", 5);
	ck_assert(pb_read(&c, &strict, &m));
}
END_TEST

START_TEST(lists_are_walked)
{
	static const struct pb_field_def elem[] = { { .name = "elem", .wire = PB_BYTES } };
	static const struct pb_message_def list = { .name = "list", .fields = elem, .n_fields = 1 };
	char text[300] = "\x0a\x01q\x18\x01\x0a\x00\x0a\x80\x01";
	struct ts_cursor item;

	ts_error_reset(&err);
	c = ts_cursor((const uint8_t *)text, 10 + 128, 1000, "test", &err);
	ck_assert(pb_next_item(&c, &list, &item));
	ck_assert(item.left == 1 && item.off == 1002 && *item.p == 'q');
	ck_assert(pb_next_item(&c, &list, &item));
	ck_assert(item.left == 0 && item.off == 1007);
	ck_assert(pb_next_item(&c, &list, &item));
	ck_assert(item.left == 128 && item.off == 1010);
	ck_assert(!pb_next_item(&c, &list, &item));
	ck_assert_int_eq(err.code, TS_OK);
	put("\x0a\x02q", 3);
	ck_assert(!pb_next_item(&c, &list, &item));
	check_error(1002, "2 bytes, but 1 bytes are left");
}
END_TEST

UNIT_SUITE("pbwire", varints_have_one_to_ten_bytes, a_varint_ends_where_it_ends_whatever_follows,
	   varints_that_do_not_end_fail, signs_are_in_the_lowest_bit,
	   fields_come_in_any_order_and_the_last_of_one_counts, what_is_not_there_is_zero_and_no_bytes,
	   fields_of_other_numbers_are_skipped, parts_know_where_they_are_in_the_file,
	   what_is_no_field_is_damage, a_field_that_must_be_there_is_missed, lists_are_walked)
