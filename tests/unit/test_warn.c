/* SPDX-License-Identifier: MIT */
/*
 * Warnings about places: each kind once a place, however often the place is read.
 */
#include "unit.h"

#include "loaders/kit/warn.h"

static struct ts_recording rec;
static struct ts_warner w;

static void setup(void)
{
	ts_recording_init(&rec, NULL, "test");
	ts_warner_init(&w, &rec);
}

static void teardown(void)
{
	ts_recording_fini(&rec);
}

START_TEST(the_same_place_read_again_warns_once)
{
	for (unsigned i = 0; i < 3; i++)
		ts_warn_at(&w, 5, "an odd record");
	ck_assert_uint_eq(rec.n_warnings, 1);
	ck_assert_uint_eq(rec.warnings[0].count, 1);
	ck_assert_str_eq(rec.warnings[0].text, "an odd record");
}
END_TEST

START_TEST(place_0_has_its_warning)
{
	ts_warn_at(&w, 0, "odd at once");
	ts_warn_at(&w, 0, "odd at once");
	ck_assert_uint_eq(rec.n_warnings, 1);
	ck_assert_uint_eq(rec.warnings[0].count, 1);
}
END_TEST

START_TEST(each_place_counts)
{
	for (unsigned i = 0; i < 10; i++)
		ts_warn_at(&w, i, "an odd record");
	ck_assert_uint_eq(rec.n_warnings, 1);
	ck_assert_uint_eq(rec.warnings[0].count, 10);
}
END_TEST

START_TEST(a_reader_that_went_back_warns_of_nothing_new)
{
	ts_warn_at(&w, 3, "an odd record");
	ts_warn_at(&w, 8, "an odd record");
	ts_warn_at(&w, 3, "an odd record");
	ts_warn_at(&w, 4, "another kind");
	ts_warn_at(&w, 8, "an odd record");
	ck_assert_uint_eq(rec.n_warnings, 1);
	ck_assert_uint_eq(rec.warnings[0].count, 2);
}
END_TEST

START_TEST(a_place_may_have_several_kinds)
{
	for (unsigned i = 0; i < 2; i++) {
		ts_warn_at(&w, 8, "register %d", 1);
		ts_warn_at(&w, 8, "memory %d", 1);
	}
	ck_assert_uint_eq(rec.n_warnings, 2);
	ck_assert_str_eq(rec.warnings[0].text, "register 1");
	ck_assert_str_eq(rec.warnings[1].text, "memory 1");
	ck_assert_uint_eq(rec.warnings[1].count, 1);
}
END_TEST

START_TEST(a_kind_is_its_format_not_its_values)
{
	ts_warn_at(&w, 8, "register %d", 1);
	ts_warn_at(&w, 8, "register %d", 2);
	ck_assert_uint_eq(rec.n_warnings, 1);
}
END_TEST

START_TEST(each_text_may_be_a_kind)
{
	for (unsigned i = 0; i < 2; i++) {
		ts_warn_each_at(&w, 8, "register %d", 1);
		ts_warn_each_at(&w, 8, "register %d", 2);
		ts_warn_at(&w, 8, "register %d", 3);
	}
	ck_assert_uint_eq(rec.n_warnings, 3);
	ck_assert_str_eq(rec.warnings[1].text, "register 2");
	ck_assert_uint_eq(rec.warnings[1].count, 1);
	ts_warn_each_at(&w, 7, "register %d", 4);
	ck_assert_uint_eq(rec.n_warnings, 3);
	ts_warn_each_at(&w, 9, "register %d", 2);
	ck_assert_uint_eq(rec.warnings[1].count, 2);
}
END_TEST

START_TEST(a_place_with_too_many_kinds_loses_the_last_ones)
{
	for (unsigned i = 0; i <= TS_WARNER_KINDS; i++)
		ts_warn_each_at(&w, 1, "kind %u", i);
	ck_assert_uint_eq(rec.n_warnings, TS_WARNER_KINDS);
	ts_warn_each_at(&w, 2, "kind %u", TS_WARNER_KINDS);
	ck_assert_uint_eq(rec.n_warnings, TS_WARNER_KINDS + 1);
}
END_TEST

UNIT_FIXTURE_SUITE("warn", setup, teardown, the_same_place_read_again_warns_once, place_0_has_its_warning,
		   each_place_counts, a_reader_that_went_back_warns_of_nothing_new,
		   a_place_may_have_several_kinds, a_kind_is_its_format_not_its_values,
		   each_text_may_be_a_kind, a_place_with_too_many_kinds_loses_the_last_ones)
