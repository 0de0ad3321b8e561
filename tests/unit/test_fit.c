/* SPDX-License-Identifier: MIT */
/*
 * Cells that are cut, with characters of one and two places, and columns that share a line.
 */
#include "unit.h"

#include <string.h>

#include "src/base/text/fit.h"

static const char *fitted(const char *text, uint32_t width, bool keeps_end)
{
	static struct ts_buf out;

	ts_buf_fini(&out);
	ts_buf_init(&out);
	ts_fit_put(&out, text, width, keeps_end);
	return ts_buf_text(&out);
}

START_TEST(what_fits_is_whole)
{
	ck_assert_str_eq(fitted("", 0, false), "");
	ck_assert_str_eq(fitted("abc", 3, false), "abc");
	ck_assert_str_eq(fitted("/a/b", 4, true), "/a/b");
	ck_assert_str_eq(fitted("目录", 4, false), "目录");
}
END_TEST

START_TEST(what_is_cut_is_marked)
{
	ck_assert_str_eq(fitted("abcd", 3, false), "ab…");
	ck_assert_str_eq(fitted("abcd", 1, false), "…");
	ck_assert_str_eq(fitted("abcd", 0, false), "");
	ck_assert_str_eq(fitted("目录目", 4, false), "目…");
	ck_assert_str_eq(fitted("\xff\xff\xff", 2, false), "\xff…");
}
END_TEST

START_TEST(of_a_file_the_end_is_kept)
{
	ck_assert_str_eq(fitted("/usr/lib/x/libx.so", 10, true), "…/libx.so");
	ck_assert_str_eq(fitted("/usr/lib/x/libx.so", 11, true), "…/x/libx.so");
	ck_assert_str_eq(fitted("/usr/lib/libverylong.so", 8, true), "…long.so");
	ck_assert_str_eq(fitted("/usr/lib/", 4, true), "…ib/");
	ck_assert_str_eq(fitted("/目目目", 4, true), "…目");
}
END_TEST

START_TEST(the_widest_columns_give_way)
{
	struct ts_fit_column columns[] = { { .width = 10 }, { .width = 40, .may_be_cut = true }, { .width = 20, .may_be_cut = true } };

	ts_fit_columns(columns, 3, 74);
	ck_assert_uint_eq(columns[1].width, 40);
	ts_fit_columns(columns, 3, 54);
	ck_assert_uint_eq(columns[0].width + columns[1].width + columns[2].width + 4, 54);
	ck_assert_uint_eq(columns[1].width, 20);
	ts_fit_columns(columns, 3, 1);
	ck_assert_uint_eq(columns[0].width, 10);
	ck_assert_uint_eq(columns[1].width, TS_FIT_LEAST);
	columns[2] = (struct ts_fit_column){ .width = 30, .may_be_cut = true, .least = 18 };
	ts_fit_columns(columns, 3, 1);
	ck_assert_uint_eq(columns[2].width, 18);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = { what_fits_is_whole, what_is_cut_is_marked, of_a_file_the_end_is_kept,
				       the_widest_columns_give_way };

	return unit_suite_of("fit", NULL, NULL, tests, sizeof(tests) / sizeof(tests[0]));
}
