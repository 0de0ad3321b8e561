/* SPDX-License-Identifier: MIT */
/*
 * Slips of the finger, and words that are none.
 */
#include "src/base/text/similar.h"

#include "unit.h"

START_TEST(one_or_two_slips_are_similar)
{
	ck_assert(ts_is_similar("query", "qurey"));  /* swapped */
	ck_assert(ts_is_similar("query", "quer"));   /* missing */
	ck_assert(ts_is_similar("query", "querry")); /* added */
	ck_assert(ts_is_similar("query", "wuery"));  /* another */
	ck_assert(ts_is_similar("export", "exprtt"));
}
END_TEST

START_TEST(other_words_are_not)
{
	ck_assert(!ts_is_similar("query", "query"));
	ck_assert(!ts_is_similar("query", "index"));
	ck_assert(!ts_is_similar("export", "rt"));
	ck_assert(!ts_is_similar("query", ""));
	ck_assert(!ts_is_similar("query", "a word that is much too long to be a slip of the finger"));
}
END_TEST

START_TEST(short_words_have_one_slip)
{
	ck_assert(ts_is_similar("gdb", "gbd"));
	ck_assert(ts_is_similar("gdb", "gd"));
	ck_assert(!ts_is_similar("gdb", "xy"));
	ck_assert(!ts_is_similar("gdb", "cdx"));
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("similar");
	TCase *t = tcase_create("similar");

	tcase_add_test(t, one_or_two_slips_are_similar);
	tcase_add_test(t, other_words_are_not);
	tcase_add_test(t, short_words_have_one_slip);
	suite_add_tcase(s, t);
	return s;
}
