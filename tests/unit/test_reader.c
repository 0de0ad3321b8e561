/* SPDX-License-Identifier: MIT */
/*
 * What loaders note about a recording: threads and warnings.
 */
#include "unit.h"

#include "src/trace/reader.h"

static struct ts_recording rec;

static void setup(void)
{
	ts_recording_init(&rec, NULL, "test");
}

static void teardown(void)
{
	ts_recording_fini(&rec);
}

START_TEST(a_thread_is_found_again_by_its_process_and_id)
{
	for (uint32_t i = 0; i < 50; i++)
		ck_assert_uint_eq(ts_recording_thread(&rec, i % 3, 100, i), i);
	for (uint32_t i = 0; i < 50; i++)
		ck_assert_uint_eq(ts_recording_thread(&rec, i % 3, 100, i), i);
	ck_assert_uint_eq(rec.n_threads, 50);
	ck_assert_uint_eq(rec.n_processes, 3);
	ck_assert_uint_eq(rec.threads[31].tid, 31);
	ck_assert_uint_eq(rec.threads[31].pid, 100);
	ck_assert_uint_eq(rec.threads[31].process, 1);
	ck_assert_str_eq(rec.threads[31].name, "");
}
END_TEST

START_TEST(the_same_id_in_another_process_is_another_thread)
{
	ck_assert_uint_eq(ts_recording_thread(&rec, 0, 1, 1), 0);
	ck_assert_uint_eq(ts_recording_thread(&rec, 4, 1, 1), 1);
	ck_assert_uint_eq(rec.n_processes, 5);
}
END_TEST

START_TEST(the_same_warning_is_counted_and_kept_once)
{
	for (int i = 0; i < 6; i++)
		ts_recording_warn(&rec, "oddity %d", i % 2);
	ck_assert_uint_eq(rec.n_warnings, 2);
	ck_assert_str_eq(rec.warnings[1].text, "oddity 1");
	ck_assert_uint_eq(rec.warnings[0].count, 3);
	ck_assert_uint_eq(rec.warnings[1].count, 3);
}
END_TEST

START_TEST(past_the_last_kind_all_others_are_counted_as_one)
{
	uint64_t sum = 0;

	for (int i = 0; i < TS_MAX_WARNINGS + 10; i++)
		ts_recording_warn(&rec, "oddity %d", i);
	ts_recording_warn(&rec, "oddity 0");
	ck_assert_uint_eq(rec.n_warnings, TS_MAX_WARNINGS);
	ck_assert_uint_eq(rec.warnings[0].count, 2);
	ck_assert_str_eq(rec.warnings[TS_MAX_WARNINGS - 2].text, "oddity 30");
	ck_assert_str_eq(rec.warnings[TS_MAX_WARNINGS - 1].text, "other oddities");
	for (unsigned i = 0; i < rec.n_warnings; i++)
		sum += rec.warnings[i].count;
	ck_assert_uint_eq(sum, TS_MAX_WARNINGS + 11);
}
END_TEST

START_TEST(a_long_warning_is_cut_and_still_recognised)
{
	for (int i = 0; i < 2; i++)
		ts_recording_warn(&rec, "%0600d", 7);
	ck_assert_uint_eq(rec.n_warnings, 1);
	ck_assert_uint_eq(strlen(rec.warnings[0].text), sizeof(rec.warnings[0].text) - 1);
}
END_TEST

UNIT_FIXTURE_SUITE("reader", setup, teardown, a_thread_is_found_again_by_its_process_and_id,
		   the_same_id_in_another_process_is_another_thread,
		   the_same_warning_is_counted_and_kept_once,
		   past_the_last_kind_all_others_are_counted_as_one,
		   a_long_warning_is_cut_and_still_recognised)
