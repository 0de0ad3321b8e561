/* SPDX-License-Identifier: MIT */
/*
 * The table of RFC 3629 and its borders, and what must not reach a terminal.
 */
#include "unit.h"

#include <string.h>

#include "src/base/text/utf8.h"

static uint32_t code(const char *text)
{
	uint32_t c = 0;
	size_t n = ts_utf8_take(text, strlen(text), &c);

	ck_assert_uint_eq(n, strlen(text));
	return c;
}

static bool is_refused(const char *text)
{
	uint32_t c;

	return !ts_utf8_take(text, strlen(text), &c);
}

static const char *shown(const char *text)
{
	static char buf[64];

	strcpy(buf, text);
	ts_utf8_make_shown(buf, strlen(buf), false);
	return buf;
}

START_TEST(characters_have_one_form)
{
	ck_assert_uint_eq(code("a"), 'a');
	ck_assert_uint_eq(code("\x7f"), 0x7f);
	ck_assert_uint_eq(code("\xc2\x80"), 0x80);
	ck_assert_uint_eq(code("\xdf\xbf"), 0x7ff);
	ck_assert_uint_eq(code("\xe0\xa0\x80"), 0x800);
	ck_assert_uint_eq(code("\xed\x9f\xbf"), 0xd7ff);
	ck_assert_uint_eq(code("\xef\xbf\xbf"), 0xffff);
	ck_assert_uint_eq(code("\xf0\x90\x80\x80"), 0x10000);
	ck_assert_uint_eq(code("\xf4\x8f\xbf\xbf"), 0x10ffff);
	ck_assert(is_refused("\xc1\xbf"));
	ck_assert(is_refused("\xe0\x9f\xbf"));
	ck_assert(is_refused("\xf0\x8f\xbf\xbf"));
}
END_TEST

START_TEST(what_is_not_a_character_is_refused)
{
	static const char *const texts[] = { "\x80", "\xbf", "\xc2", "\xc2" "a", "\xe2\x82", "\xe2\x28\xa1", "\xed\xa0\x80",
					     "\xed\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xf0\x9f\x98" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ck_assert_msg(is_refused(texts[i]), "%zu", i);
}
END_TEST

START_TEST(a_character_ends_with_its_text)
{
	uint32_t c;

	ck_assert_uint_eq(ts_utf8_take("\xe2\x82\xac", 2, &c), 0);
	ck_assert_uint_eq(ts_utf8_take("\xe2\x82\xac", 3, &c), 3);
	ck_assert_uint_eq(c, 0x20ac);
	ck_assert_uint_eq(ts_utf8_take("\xe2\x82\xac" "a", 4, &c), 3);
}
END_TEST

START_TEST(no_control_reaches_a_terminal)
{
	ck_assert_str_eq(shown("plain, \xc3\xa4 and \xe2\x82\xac"), "plain, \xc3\xa4 and \xe2\x82\xac");
	ck_assert_str_eq(shown("\x1b[2J\x07\x7f"), "?[2J??");
	ck_assert_str_eq(shown("\x9b" "2J"), "?2J");         /* CSI in one byte */
	ck_assert_str_eq(shown("\xc2\x9b" "2J"), "??2J");    /* and as U+009B */
	ck_assert_str_eq(shown("\xc2\x9f\xc2\xa0"), "??\xc2\xa0");
	ck_assert_str_eq(shown("a\xe2\x80\xae" "b\xe2\x81\xa6" "c"), "a???b???c"); /* right to left */
	ck_assert_str_eq(shown("\xe2\x80\xa8\xe2\x80\xaf"), "???\xe2\x80\xaf");
	ck_assert_str_eq(shown("a\nb\xe2\x82"), "a?b??");
	ck_assert_str_eq(shown("a\xef\xbb\xbf" "b"), "a???b");         /* U+FEFF */
	ck_assert_str_eq(shown("a\xf3\xa0\x81\x81" "b"), "a????b");    /* a tag, U+E0041 */
	ck_assert_str_eq(shown("\xe2\x81\xa0\xef\xbf\xb9"), "??????"); /* U+2060, U+FFF9 */
	/* nobody sees U+00AD, U+115F, U+180E, U+200B, U+3164, U+FFA0; writing needs U+200C and U+200D */
	ck_assert_str_eq(shown("\xc2\xad\xe1\x85\x9f\xe1\xa0\x8e\xe2\x80\x8b\xe3\x85\xa4\xef\xbe\xa0"), "?????????????????");
	ck_assert_str_eq(shown("\xe2\x80\x8c\xe2\x80\x8d"), "\xe2\x80\x8c\xe2\x80\x8d");
	ck_assert_str_eq(shown("\xe2\x80\x8d\xef\xbf\xbd"), "\xe2\x80\x8d\xef\xbf\xbd"); /* joins emoji; U+FFFD */
}
END_TEST

START_TEST(ends_of_lines_stay_where_there_are_lines)
{
	char text[] = "a\nb\tc\r\n";

	ts_utf8_make_shown(text, strlen(text), true);
	ck_assert_str_eq(text, "a\nb?c?\n");
}
END_TEST

START_TEST(a_plain_text_ends_at_the_first_byte_that_is_not_plain)
{
	char text[20];

	for (unsigned c = 0; c < 256; c++) {
		bool is_plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';

		for (size_t at = 0; at < sizeof(text); at++) {
			memset(text, 'a', sizeof(text));
			text[at] = (char)c;
			ck_assert_uint_eq(ts_utf8_plain_len(text, sizeof(text)), is_plain ? sizeof(text) : at);
			ck_assert_uint_eq(ts_utf8_plain_len(text, at), at);
		}
	}
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = { characters_have_one_form, what_is_not_a_character_is_refused,
				       a_character_ends_with_its_text, no_control_reaches_a_terminal,
				       ends_of_lines_stay_where_there_are_lines,
				       a_plain_text_ends_at_the_first_byte_that_is_not_plain };

	return unit_suite_of("utf8", NULL, NULL, tests, sizeof(tests) / sizeof(tests[0]));
}
