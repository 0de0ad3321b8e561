/* SPDX-License-Identifier: MIT */
/*
 * Columns, rows and names of a picture: nothing is lost when columns are joined, and all is bounded.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "script.h"
#include "src/plot/areas.h"
#include "src/plot/grid.h"
#include "src/plot/labels.h"

#define N_POINTS 600u
#define N_ROWS	 5u

static struct script_random rnd;

/* Counts of [pos, pos + width) at @row, from the points themselves. */
static uint64_t count_points(const uint64_t (*points)[2], uint64_t pos, uint64_t width, uint32_t row)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < N_POINTS; i++)
		n += points[i][1] == row && points[i][0] >= pos && points[i][0] - pos < width;
	return n;
}

START_TEST(joined_columns_keep_their_counts)
{
	static uint64_t points[N_POINTS][2];
	uint64_t from = 1000 + (unsigned)_i * 7, to = from + 1 + script_below(&rnd, 100000);
	struct ts_grid g;

	rnd.state = (uint64_t)_i;
	ck_assert(ts_grid_init(&g, from, to, 0, 500, N_ROWS));
	ck_assert_uint_le(g.n_cols, 500);
	for (unsigned i = 0; i < N_POINTS; i++) {
		points[i][0] = from + script_below(&rnd, to - from);
		points[i][1] = script_below(&rnd, N_ROWS);
		ts_grid_add(&g, points[i][0], (uint32_t)points[i][1], 1);
	}
	for (size_t bound = 300; bound > 3; bound /= 3) {
		ts_grid_fit(&g, bound);
		ck_assert(g.n_cols == 1 || ts_grid_n_filled(&g) <= bound);
		ck_assert_uint_eq(g.origin % (UINT64_C(1) << g.shift), 0);
		ck_assert_uint_le(g.origin, from);
		ck_assert_uint_ge(ts_grid_pos(&g, g.n_cols), to);
		for (uint32_t col = 0; col < g.n_cols; col++) {
			bool is_right = true;

			for (uint32_t row = 0; row < N_ROWS; row++)
				is_right &= g.cells[(size_t)col * N_ROWS + row] ==
					    count_points(points, ts_grid_pos(&g, col), UINT64_C(1) << g.shift,
							 row);
			ck_assert(is_right);
		}
	}
	ts_grid_fini(&g);
}
END_TEST

START_TEST(levels_ascend)
{
	unsigned last = 1;

	ck_assert_uint_eq(ts_grid_level(0, 1000000), 0);
	ck_assert_uint_eq(ts_grid_level(1, 1000000), 1);
	for (uint32_t n = 1; n <= 1000000; n += n / 50 + 1) {
		unsigned level = ts_grid_level(n, 1000000);

		ck_assert(level == last || level == last + 1);
		last = level;
	}
	ck_assert_uint_eq(ts_grid_level(1000000, 1000000), TS_GRID_LEVELS);
	ck_assert_uint_eq(ts_grid_level(UINT32_MAX, UINT32_MAX), TS_GRID_LEVELS);
	ck_assert_uint_eq(ts_grid_level(1, 1), TS_GRID_LEVELS);
}
END_TEST

/* Addresses below 2^20 are one owner's, those from there to 2^21 another's. */
static uint32_t owner(void *user, uint32_t process, uint64_t addr, uint64_t *until)
{
	(void)user;
	(void)process;
	*until = addr < 1 << 20 ? (1 << 20) - 1 : addr < 1 << 21 ? (1 << 21) - 1 : UINT64_MAX;
	return addr < 1 << 20 ? 1 : addr < 1 << 21 ? 2 : TS_NO_LABEL;
}

START_TEST(every_address_has_a_row)
{
	struct ts_areas a = { 0 };
	uint64_t addrs[500];
	uint32_t last = 0;

	for (unsigned i = 0; i < 500; i++) {
		/* everywhere, but half of them close together */
		addrs[i] = script_random(&rnd) >> (i % 2 ? 40 : i % 64);
		ts_areas_add(&a, 0, addrs[i], addrs[i]);
	}
	ts_areas_add(&a, 0, UINT64_MAX, UINT64_MAX);
	ts_areas_add(&a, 0, 0, 0);
	ck_assert(ts_areas_arrange(&a, 10, 64, owner, NULL));
	ck_assert_uint_le(a.n, 10);
	ck_assert_uint_le(a.n_rows, 64);
	for (unsigned i = 0; i < 500; i++)
		ck_assert_uint_lt(ts_areas_row(&a, 0, addrs[i]), a.n_rows);
	ck_assert_uint_eq(ts_areas_row(&a, 0, 0), 0);
	ck_assert_uint_eq(ts_areas_row(&a, 0, UINT64_MAX), a.n_rows - 1);
	ck_assert_uint_eq(ts_areas_row(&a, 1, addrs[0]), TS_NO_ROW);
	for (size_t i = 0; i < a.n; i++) {
		ck_assert_uint_eq(a.items[i].row, last);
		ck_assert_uint_eq(ts_areas_row(&a, 0, a.items[i].first), a.items[i].row);
		ck_assert_uint_eq(ts_areas_row(&a, 0, a.items[i].last),
				  a.items[i].row + a.items[i].n_rows - 1);
		last += a.items[i].n_rows;
	}
	ts_areas_fini(&a);
}
END_TEST

/* Memory of two owners that touch each other is two areas; what lies far away is another one. */
START_TEST(owners_have_their_areas)
{
	struct ts_areas a = { 0 };

	ts_areas_add(&a, 0, (1 << 20) - 100, (1 << 20) + 99);
	ts_areas_add(&a, 0, 1 << 19, (1 << 19) + 7);
	ts_areas_add(&a, 0, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 7);
	ts_areas_add(&a, 3, 1 << 20, 1 << 20);
	ck_assert(ts_areas_arrange(&a, 10, 64, owner, NULL));
	ck_assert_uint_eq(a.n, 4);
	ck_assert_uint_eq(a.items[0].first, 1 << 19);
	ck_assert_uint_eq(a.items[0].last, (1 << 20) - 1);
	ck_assert_uint_eq(a.items[0].label, 1);
	ck_assert_uint_eq(a.items[1].last, (1 << 20) + 99);
	ck_assert_uint_eq(a.items[1].label, 2);
	ck_assert_uint_eq(a.items[2].label, TS_NO_LABEL);
	ck_assert_uint_eq(a.items[3].process, 3);
	ts_areas_fini(&a);
}
END_TEST

START_TEST(names_are_bounded)
{
	struct ts_labels l;
	char name[300];

	ck_assert(ts_labels_init(&l));
	ck_assert_uint_eq(ts_labels_add(&l, NULL), TS_NO_LABEL);
	for (unsigned i = 0; i < TS_MAX_LABELS; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		ck_assert_uint_eq(ts_labels_add(&l, name), i);
	}
	ck_assert_uint_eq(ts_labels_add(&l, "f7"), 7);
	ck_assert(!l.is_full);
	ck_assert_uint_eq(ts_labels_add(&l, "another"), TS_NO_LABEL);
	ck_assert(l.is_full);
	ts_labels_fini(&l);
	ck_assert(ts_labels_init(&l));
	snprintf(name, sizeof(name), "%0250d", 1);
	ck_assert_uint_eq(ts_labels_add(&l, name), 0);
	ck_assert_uint_eq(strlen(ts_labels_text(&l, 0)), TS_MAX_LABEL_LEN + 3);
	ts_labels_fini(&l);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("plot_grid");
	TCase *tc = tcase_create("plot_grid");

	tcase_add_loop_test(tc, joined_columns_keep_their_counts, 0, 10);
	tcase_add_test(tc, levels_ascend);
	tcase_add_test(tc, every_address_has_a_row);
	tcase_add_test(tc, owners_have_their_areas);
	tcase_add_test(tc, names_are_bounded);
	suite_add_tcase(s, tc);
	return s;
}
