/* SPDX-License-Identifier: MIT */
/*
 * Threads of a recording are found by their ids, however many there are.
 */
#include "unit.h"

#include "loaders/kit/threads.h"

static struct ts_recording rec;
static struct threads table;
static struct ts_error err;

static void setup(void)
{
	static const struct ts_recording_ops ops;

	ts_recording_init(&rec, &ops, "test");
	table = (struct threads){ 0 };
	ts_error_reset(&err);
}

static void teardown(void)
{
	threads_fini(&table);
	ts_recording_fini(&rec);
}

static uint32_t find(uint32_t process, uint64_t tid)
{
	return threads_find(&table, &rec, process, 7, tid, 0x123, &err);
}

START_TEST(a_thread_has_one_ordinal)
{
	ck_assert_uint_eq(find(0, 100), 0);
	ck_assert_uint_eq(find(0, 200), 1);
	ck_assert_uint_eq(find(0, 100), 0);
	ck_assert_uint_eq(find(1, 100), 2); /* of another process */
	ck_assert_uint_eq(find(0, 200), 1);
	ck_assert_uint_eq(rec.n_threads, 3);
	ck_assert_uint_eq(rec.n_processes, 2);
	ck_assert_uint_eq(rec.threads[1].tid, 200);
	ck_assert_uint_eq(rec.threads[1].pid, 7);
}
END_TEST

/* Ids that differ in any part only, and that an index or a twin brought. */
START_TEST(thousands_are_told_apart)
{
	for (uint32_t i = 0; i < 3000; i++)
		ck_assert_uint_eq(find(i % 3, (uint64_t)(i / 3) << 20 * (i % 3)), i);
	ck_assert_uint_eq(ts_recording_add_thread(&rec, 0, 7, 0xabcdef), 3000);
	ck_assert_uint_eq(find(0, 0xabcdef), 3000);
	for (uint32_t i = 3000; i-- > 0;)
		ck_assert_uint_eq(find(i % 3, (uint64_t)(i / 3) << 20 * (i % 3)), i);
	threads_fini(&table);
	ck_assert_uint_eq(find(0, 0xabcdef), 3000); /* a table made anew */
	ck_assert_uint_eq(rec.n_threads, 3001);
}
END_TEST

START_TEST(there_are_not_more_than_the_bound)
{
	for (uint32_t i = 0; i < THREADS_MAX; i++)
		ck_assert_uint_eq(find(0, 1 + i), i);
	ck_assert_uint_eq(find(0, 1 + THREADS_MAX), TS_NO_THREAD);
	ck_assert_int_eq(err.code, TS_ELIMIT);
	ck_assert_uint_eq(err.off, 0x123);
	ck_assert_str_eq(err.text, "more than 16384 threads");
	ts_error_reset(&err);
	ck_assert_uint_eq(find(0, THREADS_MAX), THREADS_MAX - 1); /* those that are there are found */
	ck_assert_int_eq(err.code, TS_OK);
}
END_TEST

UNIT_FIXTURE_SUITE("threads", setup, teardown, a_thread_has_one_ordinal, thousands_are_told_apart,
		   there_are_not_more_than_the_bound)
