/* SPDX-License-Identifier: MIT */
/*
 * Pages by number and layer, and which of their bytes are known.
 */
#include "unit.h"

#include "src/timeline/space/pages.h"

static struct ts_pages pages;

static void setup(void)
{
	pages = (struct ts_pages){ 0 };
}

static void teardown(void)
{
	ts_pages_fini(&pages);
}

/* Page numbers that collide in small tables: by step, at both ends. */
static uint64_t number(unsigned i)
{
	return i % 3 == 0 ? i : i % 3 == 1 ? (uint64_t)i << 20 : (UINT64_MAX >> TS_PAGE_BITS) - i;
}

START_TEST(each_page_is_found_again_among_many_and_keeps_its_place)
{
	struct ts_page *added[500];

	for (unsigned i = 0; i < 500; i++) {
		ck_assert_ptr_null(ts_pages_get(&pages, number(i), i % 7));
		added[i] = ts_pages_add(&pages, number(i), i % 7);
		ck_assert_ptr_nonnull(added[i]);
		ck_assert_uint_eq(added[i]->id, i);
	}
	for (unsigned i = 0; i < 500; i++) {
		ck_assert_ptr_eq(ts_pages_find(&pages, number(i), i % 7), added[i]);
		ck_assert_ptr_eq(ts_pages_get(&pages, number(i), i % 7), added[i]);
		ck_assert_ptr_eq(pages.by_id[i], added[i]);
	}
}
END_TEST

START_TEST(the_same_number_in_another_layer_is_another_page)
{
	struct ts_page *a = ts_pages_add(&pages, 5, 0), *b = ts_pages_add(&pages, 5, 1);

	ck_assert_ptr_ne(a, b);
	ck_assert_ptr_eq(ts_pages_get(&pages, 5, 0), a);
	ck_assert_ptr_eq(ts_pages_get(&pages, 5, 1), b);
	ck_assert_ptr_eq(ts_pages_get(&pages, 5, 0), a);
	ck_assert_ptr_null(ts_pages_get(&pages, 5, 2));
	ck_assert_ptr_null(ts_pages_get(&pages, 5 + TS_PAGE_CACHE, 0));
}
END_TEST

/* The page knows exactly the bytes from @off to @end. */
static void check_known(const struct ts_page *pg, unsigned off, unsigned end)
{
	for (unsigned i = 0; i < TS_PAGE_LEN; i++) {
		if (ts_page_knows(pg, i) != (i >= off && i < end))
			ck_abort_msg("[%u, %u): byte %u", off, end, i);
	}
}

START_TEST(exactly_the_bytes_of_a_range_become_known_and_unknown)
{
	static const unsigned offs[] = { 0, 1, 63, 64, 65, 127, 128, 4000, 4095 };
	static const unsigned lens[] = { 0, 1, 63, 64, 65, 128, 200, 4096 };
	struct ts_page *pg = ts_pages_add(&pages, 0, 0);

	for (unsigned i = 0; i < 9; i++) {
		for (unsigned j = 0; j < 8 && offs[i] + lens[j] <= TS_PAGE_LEN; j++) {
			unsigned end = offs[i] + lens[j];

			ts_page_know(pg, offs[i], lens[j]);
			check_known(pg, offs[i], end);
			ts_page_forget(pg, offs[i], lens[j]);
			check_known(pg, 0, 0);
		}
	}
	ts_page_know(pg, 0, TS_PAGE_LEN);
	ts_page_forget(pg, 100, TS_PAGE_LEN - 100);
	check_known(pg, 0, 100);
}
END_TEST

START_TEST(a_lost_byte_is_unknown_until_it_is_known_or_forgotten)
{
	struct ts_page *pg = ts_pages_add(&pages, 0, 0);

	ts_page_know(pg, 0, 256);
	ck_assert_ptr_null(pg->holes);
	ck_assert(ts_page_lose(pg, 1, 0xff0));
	for (unsigned i = 0; i < 256; i++)
		ck_assert(ts_page_knows(pg, i) == (i < 68 || i >= 76));
	ck_assert_uint_eq(pg->holes->bits[1], 0xff0);
	ck_assert_uint_eq(pg->holes->bits[0] | pg->holes->bits[2], 0);
	ts_page_know(pg, 69, 1);
	ck_assert_uint_eq(pg->holes->bits[1], 0xfd0);
	ts_page_forget(pg, 60, 10);
	ck_assert_uint_eq(pg->holes->bits[1], 0xfc0);
	ts_page_know_word(pg, 1, 0xf00);
	ck_assert_uint_eq(pg->holes->bits[1], 0xc0);
	ck_assert(ts_page_knows(pg, 72));
	ck_assert(!ts_page_knows(pg, 71));
}
END_TEST

UNIT_FIXTURE_SUITE("pages", setup, teardown, each_page_is_found_again_among_many_and_keeps_its_place,
		   the_same_number_in_another_layer_is_another_page,
		   exactly_the_bytes_of_a_range_become_known_and_unknown,
		   a_lost_byte_is_unknown_until_it_is_known_or_forgotten)
