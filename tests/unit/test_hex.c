/* SPDX-License-Identifier: MIT */
/*
 * Hex numbers of whole words are those that their digits make one by one.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/text/hex.h"

static void expect_one(const char text[32])
{
	uint64_t wanted = 0, got;
	unsigned n = 0, got_n;

	for (; n < 16 && ts_hex_digit((uint8_t)text[n]) >= 0; n++)
		wanted = wanted << 4 | (uint64_t)ts_hex_digit((uint8_t)text[n]);
	got = ts_hex_number(text, &got_n);
	ck_assert_msg(got_n == n && got == wanted, "%.16s: %u digits, %llx", text, got_n, (unsigned long long)got);
}

START_TEST(each_byte_ends_a_number_or_is_its_digit)
{
	for (unsigned at = 0; at < 16; at++) {
		for (unsigned byte = 0; byte < 256; byte++) {
			char text[32] = "0123456789abcDEFghijklmnopqrstu";

			text[at] = (char)byte;
			expect_one(text);
			memset(text, 'f', 16);
			text[at] = (char)byte;
			expect_one(text);
		}
	}
}
END_TEST

START_TEST(bytes_beside_each_other_do_not_mix)
{
	for (unsigned first = 0; first < 256; first++) {
		for (unsigned second = 0; second < 256; second++) {
			char text[32] = "0000000000000000000000000000000";

			text[7] = (char)first;
			text[8] = (char)second;
			expect_one(text);
			text[2] = (char)first;
			text[3] = (char)second;
			expect_one(text);
		}
	}
}
END_TEST

START_TEST(bytes_are_pairs_of_digits_up_to_what_is_none)
{
	for (size_t len = 0; len <= 24; len++) {
		for (size_t at = 0; at <= len; at++) {
			char *text = malloc(len + 1); /* of this length, so that a byte behind it is seen */
			uint8_t bytes[12], max = (uint8_t)(at % 13);
			size_t wanted = at / 2 < len / 2 ? at / 2 : len / 2, n;

			for (size_t i = 0; i < len; i++)
				text[i] = i == at ? 'g' : "0123456789abCDEFfedcba98"[i];
			n = ts_hex_bytes(text, len, bytes, max);
			ck_assert_uint_eq(n, wanted < max ? wanted : max);
			for (size_t i = 0; i < n; i++)
				ck_assert_uint_eq(bytes[i], (unsigned)(ts_hex_digit((uint8_t)text[2 * i]) << 4 | ts_hex_digit((uint8_t)text[2 * i + 1])));
			free(text);
		}
	}
}
END_TEST

UNIT_SUITE("hex", each_byte_ends_a_number_or_is_its_digit, bytes_beside_each_other_do_not_mix,
	   bytes_are_pairs_of_digits_up_to_what_is_none)
