/* SPDX-License-Identifier: MIT */
/*
 * Dynamic printf formats: which are taken, and what they print.  Expected texts are those of C's printf,
 * worked out by hand.
 */
#include "unit.h"

#include "src/agent/ax.h"
#include "src/agent/ax_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 64

/* Known memory: 64 bytes at 0x1000. */
static uint8_t memory[64];

static size_t get_mem(void *user, uint64_t addr, uint8_t *bytes, size_t len)
{
	(void)user;
	if (addr < 0x1000 || addr >= 0x1040)
		return 0;
	if (len > 0x1040 - addr)
		len = (size_t)(0x1040 - addr);
	memcpy(bytes, memory + (addr - 0x1000), len);
	return len;
}

static struct ts_ax_env env = { .addr_mask = UINT64_MAX, .mem = get_mem };

static void setup(void)
{
	memset(memory, 'm', sizeof memory);
	env.addr_mask = UINT64_MAX;
}

static bool check_format(const char *format, unsigned n_args)
{
	return ts_ax_format_check((const uint8_t *)format, strlen(format) + 1, n_args);
}

static void expect_n(const char *expected, const char *format, unsigned n_args, const uint64_t *args)
{
	char text[TEXT_MAX + 1];
	size_t len;

	ck_assert_msg(check_format(format, n_args), "%s", format);
	text[TEXT_MAX] = '!';
	len = ts_ax_format(&env, format, args, text, TEXT_MAX);
	ck_assert_int_eq(text[TEXT_MAX], '!');
	ck_assert_uint_le(len, TEXT_MAX);
	text[len] = '\0';
	ck_assert_str_eq(text, expected);
}

/* One argument. */
static void expect(const char *expected, const char *format, uint64_t arg)
{
	expect_n(expected, format, 1, &arg);
}

START_TEST(plain_text_is_printed_as_it_is)
{
	expect("", "", 0);
	expect("hello, 100 # $ }", "hello, 100 # $ }", 0);
	expect("100%", "100%%", 0);
}
END_TEST

START_TEST(escapes_of_the_source_are_undone)
{
	expect("k=5\n", "k=%d\\n", 5);
	expect("\\ \a \b \033 \f \r \t \v \" '", "\\\\ \\a \\b \\e \\f \\r \\t \\v \\\" \\'", 0);
}
END_TEST

START_TEST(an_int_is_the_low_32_bits)
{
	expect("-1", "%d", 0xffffffff);
	expect("-1", "%i", UINT64_MAX);
	expect("4294967295", "%u", UINT64_MAX);
	expect("ffffffff", "%x", UINT64_MAX);
	expect("-2147483648", "%d", 0x1280000000);
	expect("37777777777", "%o", UINT64_MAX);
}
END_TEST

START_TEST(modifiers_say_how_wide_a_number_is)
{
	expect("-1", "%hhd", 0x12ff);
	expect("255", "%hhu", 0x12ff);
	expect("-1", "%hd", 0x1ffff);
	expect("65535", "%hu", UINT64_MAX);
	expect("-9223372036854775808", "%lld", (uint64_t)1 << 63);
	expect("18446744073709551615", "%llu", UINT64_MAX);
	expect("ffffffffffffffff", "%jx", UINT64_MAX);
}
END_TEST

START_TEST(a_long_is_as_wide_as_an_address)
{
	expect("18446744073709551615", "%lu", UINT64_MAX);
	expect("18446744073709551615", "%zu", UINT64_MAX);
	env.addr_mask = UINT32_MAX;
	expect("4294967295", "%lu", UINT64_MAX);
	expect("4294967295", "%zu", UINT64_MAX);
	expect("-1", "%ld", 0xffffffff);
	expect("18446744073709551615", "%llu", UINT64_MAX);
}
END_TEST

START_TEST(flags_width_and_precision_are_those_of_printf)
{
	expect("[   42]", "[%5d]", 42);
	expect("[42   ]", "[%-5d]", 42);
	expect("[00042]", "[%05d]", 42);
	expect("[+42]", "[%+d]", 42);
	expect("[ 42]", "[% d]", 42);
	expect("[0x2a]", "[%#x]", 42);
	expect("[0X2A]", "[%#X]", 42);
	expect("[  0042]", "[%6.4d]", 42);
	expect("[]", "[%.0d]", 0);
	expect("[-042]", "[%.3lld]", (uint64_t)-42);
	expect("[42]", "[%'d]", 42);
	expect("[42  ]", "[%----------------4d]", 42);
}
END_TEST

START_TEST(characters_are_printed_in_their_width)
{
	expect("[A]", "[%c]", 0x141);
	expect("[  A]", "[%3c]", 'A');
	expect("[A  ]", "[%-3c]", 'A');
}
END_TEST

START_TEST(pointers_are_as_wide_as_an_address)
{
	expect("0x7fffffffe6c0", "%p", 0x7fffffffe6c0);
	expect("(nil)", "%p", 0);
	expect("[      0x10]", "[%10p]", 16);
	env.addr_mask = UINT32_MAX;
	expect("0xffffffff", "%p", UINT64_MAX);
}
END_TEST

START_TEST(strings_are_read_from_memory)
{
	memcpy(memory, "hello", 6);
	expect("hello!", "%s!", 0x1000);
	expect("lo", "%s", 0x1003);
	expect("[     hello]", "[%10s]", 0x1000);
	expect("[hello     ]", "[%-10s]", 0x1000);
	expect("[hel]", "[%.3s]", 0x1000);
	expect("[]", "[%.0s]", 0x1000);
	expect("[]", "[%.0s]", 0x5000);
	expect("(null)", "%s", 0);
	env.addr_mask = UINT32_MAX;
	expect("hello", "%s", 0xffffffff00001000);
	expect("(null)", "%s", 0xffffffff00000000);
}
END_TEST

START_TEST(a_string_that_is_unknown_says_so)
{
	expect("<unavailable>", "%s", 0x5000);
	expect("[mmmm<unavailable>]", "[%s]", 0x103c);
	expect("[mmmm]", "[%.4s]", 0x103c);
}
END_TEST

START_TEST(arguments_are_taken_in_order)
{
	static const uint64_t args[] = { 1, 0x1000, 'c', 0xff, 7 };

	memcpy(memory, "two", 4);
	expect_n("1 two c ff\n", "%d %s %c %x\\n", 4, args);
	expect_n("1 two", "%d %s", 5, args);
}
END_TEST

START_TEST(formats_that_ask_for_more_than_there_is_are_refused)
{
	ck_assert(check_format("%d%%%d", 2));
	ck_assert(!check_format("%d%%%d", 1));
	ck_assert(!check_format("%d", 0));
}
END_TEST

START_TEST(conversions_that_gdb_does_not_have_are_refused)
{
	static const char *const bad[] = {
		"%", "%n", "%f", "%e", "%g", "%a", "%Lf", "%*d", "%.*d", "%ls", "%lc", "%hs", "%lp", "%5",
		"%l", "%-", "%.", "%hhhd", "%llld", "%y", "%5%", "%S", "%C", "%m", "%1$d", "%1001d",
		"%.1001d", "%99999999999999999999d", "%.4294967297d",
	};

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ck_assert_msg(!check_format(bad[i], 9), "%s", bad[i]);
}
END_TEST

START_TEST(escapes_that_gdb_does_not_have_are_refused)
{
	static const char *const bad[] = { "\\", "\\x41", "\\101", "\\0", "\\q", "a\\" };

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		ck_assert_msg(!check_format(bad[i], 9), "%s", bad[i]);
}
END_TEST

START_TEST(a_format_must_end_with_its_only_nul)
{
	ck_assert(!ts_ax_format_check((const uint8_t *)"", 0, 0));
	ck_assert(ts_ax_format_check((const uint8_t *)"", 1, 0));
	ck_assert(!ts_ax_format_check((const uint8_t *)"ab", 2, 0));
	ck_assert(!ts_ax_format_check((const uint8_t *)"a\0b", 4, 0));
	ck_assert(!ts_ax_format_check((const uint8_t *)"%\0d", 4, 1));
}
END_TEST

START_TEST(long_text_is_cut_with_dots)
{
	char format[TEXT_MAX + 2];
	char cut[TEXT_MAX + 1];

	memset(format, 'x', sizeof format);
	format[TEXT_MAX] = '\0';
	expect(format, format, 0);
	format[TEXT_MAX] = 'x';
	format[TEXT_MAX + 1] = '\0';
	memset(cut, 'x', TEXT_MAX - 3);
	strcpy(cut + TEXT_MAX - 3, "...");
	expect(cut, format, 0);
	memset(cut, 'm', TEXT_MAX - 3);
	expect(cut, "%s", 0x1000); /* 64 known bytes, but more to say */
	memset(cut, ' ', TEXT_MAX - 3);
	expect(cut, "%1000d", 1);
	expect(cut, "%1000s", 0x103f);
	memset(cut, '0', TEXT_MAX - 3);
	expect(cut, "%.1000d", 0);
}
END_TEST

static size_t get_mem_everywhere(void *user, uint64_t addr, uint8_t *bytes, size_t len)
{
	(void)user;
	(void)addr;
	memset(bytes, 's', len);
	return len;
}

START_TEST(a_string_without_end_fills_the_text)
{
	struct ts_ax_env endless = { .addr_mask = UINT64_MAX, .mem = get_mem_everywhere };
	static char text[TS_AX_MAX_TEXT];
	uint64_t arg = 1;

	ck_assert_uint_eq(ts_ax_format(&endless, "%s", &arg, text, sizeof text), sizeof text);
	ck_assert_mem_eq(text + sizeof text - 4, "s...", 4);
}
END_TEST

/* A percent sign and every four characters out of those that mean something. */
START_TEST(every_short_format_is_safe)
{
	static const char letters[] = "%\\-+ #0'19.hljztdiouxXcspnfa*";
	uint64_t args[] = { 0x1000, 0x1000, 0x1000, 0x1000 };
	char text[TEXT_MAX];
	char format[8];

	for (const char *a = letters; *a; a++) {
		for (const char *b = letters; *b; b++) {
			for (const char *c = letters; *c; c++) {
				for (const char *d = letters; *d; d++) {
					snprintf(format, sizeof format, "%%%c%c%c%c", *a, *b, *c, *d);
					if (check_format(format, 4))
						ts_ax_format(&env, format, args, text, sizeof text);
				}
			}
		}
	}
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {
		plain_text_is_printed_as_it_is,
		escapes_of_the_source_are_undone,
		an_int_is_the_low_32_bits,
		modifiers_say_how_wide_a_number_is,
		a_long_is_as_wide_as_an_address,
		flags_width_and_precision_are_those_of_printf,
		characters_are_printed_in_their_width,
		pointers_are_as_wide_as_an_address,
		strings_are_read_from_memory,
		a_string_that_is_unknown_says_so,
		arguments_are_taken_in_order,
		formats_that_ask_for_more_than_there_is_are_refused,
		conversions_that_gdb_does_not_have_are_refused,
		escapes_that_gdb_does_not_have_are_refused,
		a_format_must_end_with_its_only_nul,
		long_text_is_cut_with_dots,
		a_string_without_end_fills_the_text,
		every_short_format_is_safe,
	};
	Suite *suite = suite_create("ax_format");
	TCase *tcase = tcase_create("ax_format");

	tcase_add_checked_fixture(tcase, setup, NULL);
	for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}
