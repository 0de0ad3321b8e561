/* SPDX-License-Identifier: MIT */
/*
 * Of two ways the shorter one is gone, as soon as it is that.
 */
#include "unit.h"

#include "src/trace/ways.h"

static struct ts_ways ways;

static void setup(void)
{
	ways = (struct ts_ways){ 0 };
}

/* One round of pieces that take @first or @second; returns how many went the second way. */
static unsigned go(int64_t first, int64_t second)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TS_WAYS_ROUND; i++) {
		bool is_second = ts_ways_is_second(&ways);

		n += is_second;
		ts_ways_note(&ways, is_second ? second : first);
	}
	return n;
}

START_TEST(both_are_tried_and_the_shorter_one_is_gone)
{
	ck_assert_uint_eq(go(10, 9), TS_WAYS_ROUND - TS_WAYS_TRIALS);
	ck_assert_uint_eq(go(10, 9), TS_WAYS_ROUND - TS_WAYS_TRIALS);
	ck_assert_uint_eq(go(9, 10), TS_WAYS_TRIALS);
	ck_assert_uint_eq(go(90, 10), TS_WAYS_ROUND - TS_WAYS_TRIALS);
	ck_assert_uint_eq(go(7, 7), TS_WAYS_TRIALS);
}
END_TEST

START_TEST(a_trial_that_was_interrupted_does_not_count)
{
	static const int64_t trials[] = { 1000000, 10, 20, 1000000 };

	for (unsigned i = 0; i < 2 * TS_WAYS_TRIALS; i++)
		ts_ways_note(&ways, trials[i]);
	ck_assert(!ts_ways_is_second(&ways));
}
END_TEST

START_TEST(what_pieces_after_the_trials_take_does_not_matter)
{
	for (unsigned i = 0; i < 2 * TS_WAYS_TRIALS; i++)
		ts_ways_note(&ways, i < TS_WAYS_TRIALS ? 10 : 5);
	ts_ways_note(&ways, 1000000);
	ts_ways_note(&ways, 1);
	ck_assert(ts_ways_is_second(&ways));
}
END_TEST

UNIT_FIXTURE_SUITE("ways", setup, NULL, both_are_tried_and_the_shorter_one_is_gone,
		   a_trial_that_was_interrupted_does_not_count,
		   what_pieces_after_the_trials_take_does_not_matter)
