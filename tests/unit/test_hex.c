/* SPDX-License-Identifier: MIT */
/*
 * Hex numbers of whole words are those that their digits make one by one.
 */
#include "unit.h"

#include <string.h>

#include "src/base/hex.h"

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

UNIT_SUITE("hex", each_byte_ends_a_number_or_is_its_digit, bytes_beside_each_other_do_not_mix)
