/* SPDX-License-Identifier: MIT */
/*
 * Ranges against an array of bytes: which range each byte belongs to.
 */
#include "unit.h"

#include "src/timeline/space/ranges.h"

#define N_PROCESSES 2u
#define N_BYTES	    64u
#define NONE	    UINT32_MAX

static struct ts_ranges rs;
static uint32_t owner[N_PROCESSES][N_BYTES];
static uint32_t seed;

static void setup(void)
{
	rs = (struct ts_ranges){ 0 };
	seed = 1;
	memset(owner, 0xff, sizeof(owner));
}

static void teardown(void)
{
	ts_ranges_fini(&rs);
}

static uint32_t below(uint32_t n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % n;
}

static uint32_t lowest_owner(uint32_t process, uint64_t first, uint64_t last)
{
	for (uint64_t i = first; i <= last; i++) {
		if (owner[process][i] != NONE)
			return owner[process][i];
	}
	return NONE;
}

static void fill(const struct ts_range *r, uint32_t item)
{
	for (uint64_t i = r->first; i <= r->last; i++)
		owner[r->process][i] = item;
}

START_TEST(the_lowest_range_that_overlaps_is_found)
{
	for (uint32_t item = 0; item < 20000; item++) {
		uint64_t first = below(N_BYTES), room = N_BYTES - first;
		struct ts_range r = { first, first + below(room < 8 ? (uint32_t)room : 8), below(N_PROCESSES), item, 0 };
		const struct ts_range *found = ts_ranges_find(&rs, r.process, r.first, r.last);

		ck_assert_uint_eq(found ? found->item : NONE, lowest_owner(r.process, r.first, r.last));
		if (!found) {
			ck_assert(ts_ranges_add(&rs, r));
			fill(&r, item);
			continue;
		}
		ck_assert(!ts_ranges_add(&rs, r));
		if (below(2)) {
			fill(found, NONE);
			ts_ranges_remove(&rs, found);
		}
	}
}
END_TEST

START_TEST(ranges_reach_both_ends_of_the_address_space)
{
	ck_assert(ts_ranges_add(&rs, (struct ts_range){ 0, 0, 1, 5, 0 }));
	ck_assert(ts_ranges_add(&rs, (struct ts_range){ UINT64_MAX, UINT64_MAX, 1, 6, 0 }));
	ck_assert_uint_eq(ts_ranges_find(&rs, 1, 0, UINT64_MAX)->item, 5);
	ck_assert_uint_eq(ts_ranges_find(&rs, 1, 1, UINT64_MAX)->item, 6);
	ck_assert_ptr_null(ts_ranges_find(&rs, 1, 1, UINT64_MAX - 1));
	ck_assert_ptr_null(ts_ranges_find(&rs, 0, 0, UINT64_MAX));
	ck_assert_ptr_null(ts_ranges_find(&rs, 2, 0, UINT64_MAX));
}
END_TEST

UNIT_FIXTURE_SUITE("ranges", setup, teardown, the_lowest_range_that_overlaps_is_found,
		   ranges_reach_both_ends_of_the_address_space)
