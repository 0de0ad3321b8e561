/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "src/ask/output/kept.h"

static struct ts_kept k;
static struct ts_row row;

static void setup(void)
{
	k = (struct ts_kept){ 0 };
	ts_row_init(&row);
}

static void teardown(void)
{
	ts_row_fini(&row);
	ts_kept_fini(&k);
}

/* Rows with the numbers from 0 to @n - 1, each with a text. */
static void put_rows(uint64_t n, uint64_t max)
{
	for (uint64_t i = 0; i < n; i++) {
		ts_row_reset(&row);
		row.cells[0].number = i;
		ts_buf_puts(&row.texts, "a text");
		ck_assert(ts_kept_put(&k, &row, max));
	}
}

static void take_rows(uint64_t first, size_t n, bool is_reverse)
{
	for (size_t i = 0; i < n; i++) {
		struct ts_row *got = ts_kept_take(&k, is_reverse);

		ck_assert_ptr_nonnull(got);
		ck_assert_uint_eq(got->cells[0].number, is_reverse ? first + (n - 1 - i) : first + i);
		ck_assert_str_eq(ts_buf_text(&got->texts), "a text");
	}
	ck_assert_ptr_null(ts_kept_take(&k, is_reverse));
	ck_assert(ts_kept_is_empty(&k));
}

static const uint64_t maxima[] = { 1, 2, 255, 256, 257, 1000 };

#define N_MAXIMA (sizeof(maxima) / sizeof(maxima[0]))

START_TEST(the_last_rows_are_kept_in_their_order)
{
	for (size_t i = 0; i < N_MAXIMA; i++) {
		put_rows(1000, maxima[i]);
		take_rows(1000 - maxima[i], (size_t)maxima[i], false);
		ts_kept_fini(&k);
	}
}
END_TEST

START_TEST(what_a_reversed_cursor_found_is_taken_from_the_end)
{
	for (size_t i = 0; i < N_MAXIMA; i++) {
		put_rows(maxima[i], maxima[i]);
		take_rows(0, (size_t)maxima[i], true);
		ts_kept_fini(&k);
	}
}
END_TEST

START_TEST(fewer_rows_than_are_wanted_take_no_room_for_more)
{
	put_rows(300, UINT64_MAX);
	ck_assert_uint_eq(k.n_blocks, 2);
	take_rows(0, 300, false);
}
END_TEST

START_TEST(what_is_forgotten_is_not_taken)
{
	put_rows(1000, 600);
	ck_assert_uint_eq(ts_kept_take(&k, false)->cells[0].number, 400);
	ck_assert(!ts_kept_is_empty(&k));
	ts_kept_forget(&k);
	ck_assert(ts_kept_is_empty(&k));
	ck_assert_ptr_null(ts_kept_take(&k, false));
}
END_TEST

UNIT_FIXTURE_SUITE("kept", setup, teardown, the_last_rows_are_kept_in_their_order,
		   what_a_reversed_cursor_found_is_taken_from_the_end,
		   fewer_rows_than_are_wanted_take_no_room_for_more, what_is_forgotten_is_not_taken)
