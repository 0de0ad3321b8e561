/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "src/frames/frames.h"

static struct ts_frame f;

static void setup(void)
{
	ts_frame_init(&f);
}

static void teardown(void)
{
	ts_frame_fini(&f);
}

/* Which of eight known bytes at @addr are left, as a word of 0 and 1; the fourth is unknown before. */
static const char *masked(uint64_t addr)
{
	static char text[9];
	uint8_t known[8] = { 1, 1, 1, 0, 1, 1, 1, 1 };

	ts_frame_mask(&f, addr, sizeof(known), known);
	for (unsigned i = 0; i < sizeof(known); i++)
		text[i] = (char)('0' + known[i]);
	return text;
}

START_TEST(only_what_was_collected_is_known)
{
	ck_assert_str_eq(masked(0x1000), "00000000");
	ts_frame_add_range(&f, 0x1001, 3);
	ts_frame_add_range(&f, 0x1002, 4);
	ts_frame_add_range(&f, 0x1006, 0);
	ck_assert_str_eq(masked(0x1000), "01101100");
	ck_assert_str_eq(masked(0x0ffc), "00000111");
	ck_assert_str_eq(masked(0x1004), "11000000");
	ck_assert_str_eq(masked(0x1006), "00000000");
}
END_TEST

START_TEST(a_range_may_end_with_the_address_space)
{
	ts_frame_add_range(&f, UINT64_MAX - 1, 2);
	ck_assert_str_eq(masked(UINT64_MAX - 7), "00000011");
	ts_frame_reset(&f);
	ts_frame_add_range(&f, 1, UINT64_MAX);
	ck_assert_str_eq(masked(0), "01101111");
}
END_TEST

START_TEST(all_of_a_whole_frame_is_in_it)
{
	f.is_whole = true;
	ck_assert_str_eq(masked(0x1000), "11101111");
}
END_TEST

START_TEST(the_last_value_of_a_variable_counts)
{
	int64_t value;

	ck_assert(!ts_frame_value(&f, 1, &value));
	ts_frame_add_var(&f, 1, 5);
	ts_frame_add_var(&f, 2, 6);
	ts_frame_add_var(&f, 1, -7);
	ck_assert(ts_frame_value(&f, 1, &value));
	ck_assert_int_eq(value, -7);
	ts_frame_reset(&f);
	ck_assert(!ts_frame_value(&f, 1, &value));
}
END_TEST

START_TEST(frames_grow)
{
	for (uint32_t i = 0; i < 1000; i++) {
		ts_frame_add_range(&f, i, 1);
		ts_frame_add_var(&f, i, i);
	}
	ck_assert(!f.is_failed);
	ck_assert_uint_eq(f.n_ranges, 1000);
	ck_assert_uint_eq(f.ranges[999].addr, 999);
	ck_assert_uint_eq(f.vars[500].number, 500);
}
END_TEST

START_TEST(a_recording_of_steps_has_a_frame_a_position)
{
	struct ts_error err;
	struct ts_frames s;

	ts_error_reset(&err);
	ts_frames_of_steps(&s, 10);
	ck_assert_uint_eq(s.n_frames, 11);
	ck_assert(ts_frames_get(&s, 10, &f, &err));
	ck_assert_uint_eq(f.pos, 10);
	ck_assert(f.is_whole && f.has_regs && f.has_pc && f.is_step && f.tracepoint == 1);
	ck_assert_uint_eq(s.ops->pos(&s, 4), 4);
	ck_assert_uint_eq(s.ops->next_of(&s, 1, 4), 4);
	ck_assert_uint_eq(s.ops->next_of(&s, 2, 4), TS_NO_FRAME);
	ck_assert_uint_eq(s.ops->next_of(&s, 1, 11), TS_NO_FRAME);
}
END_TEST

UNIT_FIXTURE_SUITE("frames", setup, teardown, only_what_was_collected_is_known,
		   a_range_may_end_with_the_address_space, all_of_a_whole_frame_is_in_it,
		   the_last_value_of_a_variable_counts, frames_grow,
		   a_recording_of_steps_has_a_frame_a_position)
