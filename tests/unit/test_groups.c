/* SPDX-License-Identifier: MIT */
/*
 * Which segments of a group touch a range, against a plain table of segments and bytes.
 */
#include "unit.h"

#include "script.h"
#include "src/index/index_write.h"
#include "src/timeline/space/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pages at both ends of the space, neighbours and strangers; not in order. */
static const uint64_t pages[] = { UINT64_MAX >> TS_PAGE_BITS, 7, 0, 8, 0x7ffff };
#define N_PAGES 5

static uint16_t touched[TS_GROUP_SEGMENTS][N_PAGES][TS_PAGE_LINES]; /* bytes of each line */
static struct ts_lines lines[TS_GROUP_SEGMENTS];
static const struct ts_lines *sets[TS_GROUP_SEGMENTS];
static struct ts_group group;

static void setup(void)
{
	memset(touched, 0, sizeof(touched));
	memset(lines, 0, sizeof(lines));
	for (unsigned i = 0; i < TS_GROUP_SEGMENTS; i++)
		sets[i] = &lines[i];
	group = (struct ts_group){ 0 };
}

static void teardown(void)
{
	for (unsigned i = 0; i < TS_GROUP_SEGMENTS; i++)
		ts_lines_fini(&lines[i]);
	ts_group_fini(&group);
}

/* What is in the table becomes sets. */
static void seal(void)
{
	for (unsigned i = 0; i < TS_GROUP_SEGMENTS; i++) {
		struct ts_touches t = { 0 };

		for (uint32_t page = 0; page < N_PAGES; page++) {
			for (unsigned line = 0; line < TS_PAGE_LINES; line++) {
				uint16_t bytes = touched[i][page][line];

				ck_assert(!bytes || ts_touches_add(&t, page, (uint8_t)line, 3, bytes));
			}
		}
		ck_assert(ts_lines_seal(&lines[i], &t, pages, N_PAGES, NULL));
		ts_touches_fini(&t);
	}
}

static void touch_at_random(struct script_random *r)
{
	for (unsigned i = 0; i < TS_GROUP_SEGMENTS; i++) {
		for (unsigned n = (unsigned)script_below(r, 40); n; n--) {
			unsigned line = (unsigned)script_below(r, 4) * 63 + (unsigned)script_below(r, 3);

			touched[i][script_below(r, N_PAGES)][line] = (uint16_t)(1 + script_below(r, UINT16_MAX));
		}
	}
}

/* The segments that touch a quarter of a line in which a byte of the range is. */
static uint64_t expected(uint64_t addr, uint64_t last)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < TS_GROUP_SEGMENTS * N_PAGES * TS_PAGE_LINES * 4; i++) {
		unsigned q = i % 4, line = i / 4 % TS_PAGE_LINES, page = i / 4 / TS_PAGE_LINES % N_PAGES;
		unsigned segment = i / 4 / TS_PAGE_LINES / N_PAGES;
		uint64_t start = pages[page] << TS_PAGE_BITS | line << TS_LINE_BITS | q * 4;

		if (start <= last && start + 3 >= addr && touched[segment][page][line] >> q * 4 & 0xf)
			bits |= UINT64_C(1) << segment;
	}
	return bits;
}

static void check_random_ranges(struct script_random *r, const struct ts_group *g)
{
	for (unsigned i = 0; i < 200; i++) {
		uint64_t page = pages[script_below(r, N_PAGES)] << TS_PAGE_BITS;
		uint64_t addr = page + script_below(r, 4) * 63 * TS_LINE_LEN + script_below(r, 60);
		uint64_t last = addr + script_below(r, script_chance(r, 50) ? 8 : 200);

		ck_assert_uint_eq(ts_group_segments(g, addr, last < addr ? UINT64_MAX : last),
				  expected(addr, last < addr ? UINT64_MAX : last));
	}
}

START_TEST(the_segments_that_touch_a_range_are_those_of_the_table)
{
	struct script_random r = { 5 };

	touch_at_random(&r);
	seal();
	ck_assert(ts_group_make(&group, sets, TS_GROUP_SEGMENTS));
	check_random_ranges(&r, &group);
}
END_TEST

START_TEST(a_group_of_an_index_file_says_the_same)
{
	static const struct ts_index_key key = { 10, 20, 30, 40, 50, { .id = 60 }, 0, 0 };
	struct script_random r = { 6 };
	struct ts_error err = { 0 };
	struct ts_index_file *f = ts_index_create("groups.tsindex", &key, &err);
	struct ts_index_arrays a;
	struct ts_group loaded;

	ck_assert_msg(f, "%s", err.text);
	touch_at_random(&r);
	seal();
	ck_assert(ts_group_make(&group, sets, TS_GROUP_SEGMENTS));
	ts_index_begin(f, 1);
	ts_index_section(f, 1, 0);
	ts_group_save(&group, f);
	ck_assert(ts_index_commit(f, 1, true, &err));
	a = ts_index_find(f, 0, 1, 0);
	ck_assert(ts_group_load(&loaded, &a));
	check_random_ranges(&r, &loaded);
	ts_group_fini(&loaded);
	ts_index_close(f);
	remove("groups.tsindex.part");
}
END_TEST

START_TEST(where_a_group_knows_nothing_all_segments_are_looked_at)
{
	touched[3][1][0] = 1;
	ck_assert_uint_eq(ts_group_segments(&group, 0, 7), TS_GROUP_ALL);
	seal();
	ck_assert(ts_group_make(&group, sets, TS_GROUP_SEGMENTS));
	ck_assert_uint_eq(ts_group_segments(&group, 7 << TS_PAGE_BITS, (7 << TS_PAGE_BITS) + 3), 1 << 3);
	ck_assert_uint_eq(ts_group_segments(&group, (7 << TS_PAGE_BITS) + 4, (7 << TS_PAGE_BITS) + 99), 0);
	ck_assert_uint_eq(ts_group_segments(&group, 0, UINT64_MAX), TS_GROUP_ALL);
}
END_TEST

/* 2^21 lines are 8,192 pages of 256. */
static void seal_many(unsigned segment, uint64_t first_page, uint32_t n)
{
	uint64_t *addrs = malloc(n * sizeof(*addrs));
	struct ts_touches t = { 0 };

	ck_assert_ptr_nonnull(addrs);
	for (uint32_t page = 0; page < n; page++) {
		addrs[page] = first_page + page;
		for (unsigned line = 0; line < TS_PAGE_LINES; line++)
			ck_assert(ts_touches_add(&t, page, (uint8_t)line, 0, 1));
	}
	ck_assert(ts_lines_seal(&lines[segment], &t, addrs, n, NULL));
	ts_touches_fini(&t);
	free(addrs);
}

START_TEST(a_group_of_too_many_lines_says_nothing)
{
	seal_many(0, 0, 8192);
	ck_assert(ts_group_make(&group, sets, TS_GROUP_SEGMENTS));
	ck_assert_uint_eq(ts_group_segments(&group, 0, 0), 1);
	ts_group_fini(&group);
	seal_many(1, 8192, 1);
	ck_assert(ts_group_make(&group, sets, TS_GROUP_SEGMENTS));
	ck_assert_uint_eq(ts_group_segments(&group, 0, 0), TS_GROUP_ALL);
}
END_TEST

START_TEST(the_segments_of_a_run_are_those_that_have_its_key)
{
	struct ts_postings postings[TS_GROUP_SEGMENTS];
	const struct ts_postings *runs[TS_GROUP_SEGMENTS];
	struct script_random r = { 7 };
	uint64_t want[20] = { 0 };
	struct ts_run_group g = { 0 };

	ck_assert_uint_eq(ts_run_group_segments(&g, 0), TS_GROUP_ALL);
	for (unsigned i = 0; i < TS_GROUP_SEGMENTS; i++) {
		struct ts_pairs pairs = { 0 };

		for (uint32_t k = 0; k < 5; k++) {
			uint32_t run = (uint32_t)script_below(&r, 20);

			want[run] |= UINT64_C(1) << i;
			ck_assert(ts_pairs_add(&pairs, run, k));
		}
		ck_assert(ts_postings_seal(&postings[i], &pairs, 20));
		ts_pairs_fini(&pairs);
		runs[i] = &postings[i];
	}
	ck_assert(ts_run_group_make(&g, runs, TS_GROUP_SEGMENTS, 20));
	for (uint32_t run = 0; run < 20; run++)
		ck_assert_uint_eq(ts_run_group_segments(&g, run), want[run]);
	ck_assert_uint_eq(ts_run_group_segments(&g, 20), 0); /* a later one */
	ts_run_group_fini(&g);
	for (unsigned i = 0; i < TS_GROUP_SEGMENTS; i++)
		ts_postings_fini(&postings[i]);
}
END_TEST

/* ---------------------------------------------------------------------------------------- next, previous */

#define N_SEGMENTS (3 * TS_GROUP_SEGMENTS + 5)

static uint64_t bits_of(const void *user, size_t g)
{
	return ((const uint64_t *)user)[g];
}

static bool has(const uint64_t *bits, size_t segment)
{
	return bits[segment / TS_GROUP_SEGMENTS] >> segment % TS_GROUP_SEGMENTS & 1;
}

START_TEST(the_nearest_segment_is_found_across_groups)
{
	static const uint64_t cases[][4] = {
		{ 0 }, { TS_GROUP_ALL, TS_GROUP_ALL, TS_GROUP_ALL, TS_GROUP_ALL }, { 1 },
		{ 0, UINT64_C(1) << (TS_GROUP_SEGMENTS - 1) }, { 2, 0, 0, 1 << 4 },
		{ 0, 0, 0, 1 << 5 }, /* there is no such segment */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t from = 0; from <= N_SEGMENTS; from++) {
			size_t next = from, prev = from;

			while (next < N_SEGMENTS && !has(cases[i], next))
				next++;
			while (prev && !has(cases[i], prev - 1))
				prev--;
			ck_assert_uint_eq(ts_groups_next(bits_of, cases[i], from, N_SEGMENTS), next);
			ck_assert_uint_eq(ts_groups_prev(bits_of, cases[i], from), prev - 1);
		}
	}
}
END_TEST

UNIT_FIXTURE_SUITE("groups", setup, teardown, the_segments_that_touch_a_range_are_those_of_the_table,
		   a_group_of_an_index_file_says_the_same, where_a_group_knows_nothing_all_segments_are_looked_at,
		   a_group_of_too_many_lines_says_nothing, the_segments_of_a_run_are_those_that_have_its_key,
		   the_nearest_segment_is_found_across_groups)
