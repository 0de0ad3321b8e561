/* SPDX-License-Identifier: MIT */
/*
 * The newest layer over a range, against a walk over all of them.
 */
#include "unit.h"

#include <string.h>

#include "script.h"
#include "src/timeline/space/layers.h"

static struct ts_layers layers;

static void setup(void)
{
	layers = (struct ts_layers){ 0 };
}

static void teardown(void)
{
	ts_layers_fini(&layers);
}

static void add(uint64_t pos, uint64_t first, uint64_t last)
{
	ck_assert(ts_layers_add(&layers, pos, first, last, TS_FILL_ZERO));
}

static uint32_t newest(uint32_t n, uint64_t first, uint64_t last)
{
	struct ts_layer layer;
	uint32_t i = ts_layers_newest(&layers, n, first, last, &layer);

	ck_assert(i == TS_NO_LAYER || !memcmp(&layer, &layers.items[i], sizeof(layer)));
	return i;
}

static uint32_t newest_by_walk(uint32_t n, uint64_t first, uint64_t last)
{
	while (n-- > 0) {
		if (layers.items[n].first <= last && layers.items[n].last >= first)
			return n;
	}
	return TS_NO_LAYER;
}

START_TEST(the_newest_of_any_number_of_layers_is_the_one_that_a_walk_finds)
{
	struct script_random r = { 9 };

	for (unsigned i = 0; i < 1200; i++) {
		uint64_t first = script_below(&r, 100000);

		add(i, first, first + script_below(&r, script_chance(&r, 2) ? 50000 : 8));
		for (unsigned j = 0; j < 20; j++) {
			uint32_t n = (uint32_t)script_below(&r, i + 2);
			uint64_t a = script_below(&r, 100500), z = a + script_below(&r, 30);

			if (newest(n, a, z) != newest_by_walk(n, a, z))
				ck_abort_msg("the newest of %u layers over %lu..%lu", n, (long)a, (long)z);
		}
	}
}
END_TEST

START_TEST(layers_reach_both_ends_of_the_address_space)
{
	add(0, UINT64_MAX, UINT64_MAX);
	add(0, 0, 0);
	ck_assert_uint_eq(newest(2, 0, UINT64_MAX), 1);
	ck_assert_uint_eq(newest(2, 1, UINT64_MAX), 0);
	ck_assert_uint_eq(newest(2, 1, UINT64_MAX - 1), TS_NO_LAYER);
	ck_assert_uint_eq(newest(1, 0, 0), TS_NO_LAYER);
}
END_TEST

START_TEST(adjacent_layers_at_the_top_join_without_a_wrap)
{
	for (uint64_t i = 0; i < 64; i++)
		add(0, UINT64_MAX - i, UINT64_MAX - i);
	for (uint64_t i = 0; i < 64; i++)
		ck_assert_uint_eq(newest(64, UINT64_MAX - i, UINT64_MAX), i);
	ck_assert_uint_eq(newest(64, 0, UINT64_MAX - 64), TS_NO_LAYER);
}
END_TEST

START_TEST(layers_up_to_a_position_include_all_of_that_position)
{
	add(0, 0, 9);
	add(5, 0, 9);
	add(5, 0, 9);
	add(8, 0, 9);
	ck_assert_uint_eq(ts_layers_until(&layers, 0), 1);
	ck_assert_uint_eq(ts_layers_until(&layers, 4), 1);
	ck_assert_uint_eq(ts_layers_until(&layers, 5), 3);
	ck_assert_uint_eq(ts_layers_until(&layers, 7), 3);
	ck_assert_uint_eq(ts_layers_until(&layers, UINT64_MAX), 4);
}
END_TEST

START_TEST(no_layers_have_no_newest)
{
	ck_assert_uint_eq(newest(0, 0, UINT64_MAX), TS_NO_LAYER);
	ck_assert_uint_eq(ts_layers_until(&layers, 7), 0);
}
END_TEST

UNIT_FIXTURE_SUITE("layers", setup, teardown, the_newest_of_any_number_of_layers_is_the_one_that_a_walk_finds,
		   layers_reach_both_ends_of_the_address_space,
		   adjacent_layers_at_the_top_join_without_a_wrap,
		   layers_up_to_a_position_include_all_of_that_position, no_layers_have_no_newest)
