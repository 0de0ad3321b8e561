/* SPDX-License-Identifier: MIT */
/*
 * How far long work is, in words.  Expected values are computed by hand: after S seconds in which the share
 * grew from A to B, S * (1 - B) / (B - A) are left.
 */
#include "src/base/progress.h"

#include "unit.h"

#define SECOND INT64_C(1000000000)

static void check(struct ts_progress begun, double share, uint64_t n, double seconds, const char *expected)
{
	struct ts_buf out;

	ts_buf_init(&out);
	begun.start_ns = 5 * SECOND;
	ts_progress_put(&begun, share, n, "frames", begun.start_ns + (int64_t)(seconds * 1e9), &out);
	ck_assert_str_eq(ts_buf_text(&out), expected);
	ts_buf_fini(&out);
}

START_TEST(percent_amount_rate_and_time_left)
{
	/* a quarter in 10 s: 3 quarters in 30 s */
	check((struct ts_progress){ 0 }, 0.25, 1000000, 10, "25%, 1.0 M frames, 100.0 k/s, 30 s left");
	check((struct ts_progress){ 0 }, 0.999, 999, 1, "99%, 999 frames, 999/s, 0 s left");
	check((struct ts_progress){ 0 }, 1, 2000, 4, "100%, 2.0 k frames, 500/s, 0 s left");
}
END_TEST

START_TEST(what_an_earlier_run_did_is_not_counted)
{
	/* from 50 % to 60 % in 2 s: 40 % in 8 s; 100 frames in 2 s */
	check((struct ts_progress){ .share = 0.5, .n = 500 }, 0.6, 600, 2, "60%, 600 frames, 50/s, 8 s left");
}
END_TEST

START_TEST(what_is_not_known_is_left_out)
{
	check((struct ts_progress){ .share = TS_NO_SHARE }, TS_NO_SHARE, 10, 2, "10 frames, 5/s");
	check((struct ts_progress){ .share = TS_NO_SHARE }, 0.5, 10, 2, "50%, 10 frames, 5/s");
	check((struct ts_progress){ 0 }, 0, 0, 2, "0%, 0 frames");
	check((struct ts_progress){ 0 }, 0.5, 10, 0, "50%, 10 frames");
}
END_TEST

START_TEST(times_and_amounts_of_all_sizes)
{
	check((struct ts_progress){ 0 }, 0.5, 999, 59.4, "50%, 999 frames, 17/s, 59 s left");
	check((struct ts_progress){ 0 }, 0.5, 999950, 60, "50%, 1.0 M frames, 16.7 k/s, 1 min 0 s left");
	check((struct ts_progress){ 0 }, 0.5, UINT64_C(4500000000), 7261,
	      "50%, 4.5 G frames, 619.7 k/s, 2 h 1 min left");
	check((struct ts_progress){ 0 }, 1e-300, 1, 1, "0%, 1 frames, 1/s, 277777 h 46 min left");
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("progress");
	TCase *t = tcase_create("progress");

	tcase_add_test(t, percent_amount_rate_and_time_left);
	tcase_add_test(t, what_an_earlier_run_did_is_not_counted);
	tcase_add_test(t, what_is_not_known_is_left_out);
	tcase_add_test(t, times_and_amounts_of_all_sizes);
	suite_add_tcase(s, t);
	return s;
}
