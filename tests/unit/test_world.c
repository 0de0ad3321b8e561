/* SPDX-License-Identifier: MIT */
/*
 * Threads, events and regions over time.
 */
#include "unit.h"
#include "world_lists.h"

#include "src/timeline/world/world_builder.h"

static struct ts_world w;
static struct ts_world_builder builder;
static struct ts_steps b; /* where maps have their texts */

static void setup(void)
{
	ts_world_init(&w);
	ts_world_builder_init(&builder, &w);
	ts_steps_init(&b);
}

static void teardown(void)
{
	ck_assert(!builder.is_failed);
	ts_world_builder_fini(&builder);
	ts_world_fini(&w);
	ts_steps_fini(&b);
}

/* ------------------------------------------------------------------------------------------------ threads */

START_TEST(a_thread_s_next_and_previous_steps_skip_those_of_others)
{
	/* steps 0 1 of thread 0, 2 3 4 of thread 1, 5 of thread 0, 6 of thread 2 */
	ts_world_run(&builder, 0, 0);
	ts_world_run(&builder, 2, 1);
	ts_world_run(&builder, 5, 0);
	ts_world_run(&builder, 6, 2);
	ck_assert_uint_eq(ts_world_thread(&w, 1), 0);
	ck_assert_uint_eq(ts_world_thread(&w, 2), 1);
	ck_assert_uint_eq(ts_world_thread(&w, 100), 2);
	ck_assert_uint_eq(ts_world_next_step(&w, 0, 2, 7), 5);
	ck_assert_uint_eq(ts_world_next_step(&w, 1, 0, 7), 2);
	ck_assert_uint_eq(ts_world_next_step(&w, 1, 3, 7), 3);
	ck_assert_uint_eq(ts_world_next_step(&w, 1, 5, 7), UINT64_MAX);
	ck_assert_uint_eq(ts_world_next_step(&w, 2, 7, 7), UINT64_MAX);
	ck_assert_uint_eq(ts_world_prev_step(&w, 0, 4, 7), 1);
	ck_assert_uint_eq(ts_world_prev_step(&w, 0, 0, 7), 0);
	ck_assert_uint_eq(ts_world_prev_step(&w, 1, 1, 7), UINT64_MAX);
	ck_assert_uint_eq(ts_world_prev_step(&w, 1, 7, 7), 4);
	ck_assert_uint_eq(ts_world_prev_step(&w, 9, 7, 7), UINT64_MAX);
}
END_TEST

START_TEST(a_thread_lives_from_its_first_step_to_its_end)
{
	ts_world_run(&builder, 0, 0);
	ts_world_run(&builder, 3, 1);
	ts_world_end_thread(&builder, 5, 1); /* step 5 is its last */
	ts_world_run(&builder, 6, 0);
	ck_assert(!ts_world_is_alive(&w, 1, 2));
	ck_assert(ts_world_is_alive(&w, 1, 3));
	ck_assert(ts_world_is_alive(&w, 1, 5));
	ck_assert(!ts_world_is_alive(&w, 1, 6));
	ck_assert(ts_world_is_alive(&w, 0, 0));
	ck_assert(ts_world_is_alive(&w, 0, 4));
	ck_assert(ts_world_is_alive(&w, 0, 1000));
	ck_assert(!ts_world_is_alive(&w, 2, 4));
}
END_TEST

START_TEST(the_thread_of_the_last_step_lives_at_the_end_though_it_ended)
{
	ts_world_run(&builder, 0, 0);
	ts_world_end_thread(&builder, 4, 0);
	ck_assert(ts_world_is_alive(&w, 0, 5));
}
END_TEST

START_TEST(a_thread_that_runs_after_its_end_had_not_ended)
{
	ts_world_run(&builder, 0, 0);
	ts_world_end_thread(&builder, 1, 0);
	ts_world_run(&builder, 2, 1);
	ts_world_run(&builder, 4, 0);
	ts_world_run(&builder, 6, 1);
	ck_assert(ts_world_is_alive(&w, 0, 3));
	ck_assert(ts_world_is_alive(&w, 0, 7));
	ts_world_end_thread(&builder, 7, 0); /* ended by thread 1 */
	ts_world_end_thread(&builder, 8, 0);
	ck_assert(ts_world_is_alive(&w, 0, 7));
	ts_world_run(&builder, 9, 2);
	ck_assert(!ts_world_is_alive(&w, 0, 8));
}
END_TEST

START_TEST(the_end_of_a_thread_that_never_ran_means_nothing)
{
	ts_world_run(&builder, 0, 0);
	ts_world_end_thread(&builder, 1, 3);
	ts_world_run(&builder, 2, 3);
	ck_assert(ts_world_is_alive(&w, 3, 2));
	ck_assert(!ts_world_is_alive(&w, 2, 2));
}
END_TEST

/* ------------------------------------------------------------------------------------------------ events */

START_TEST(next_and_previous_event_are_those_of_its_kind)
{
	static const struct ts_event call = { .kind = TS_EV_SYSCALL, .number = 3 },
				     gap = { .kind = TS_EV_GAP };
	struct ts_event other = call;

	other.number = 4;
	ts_world_event(&builder, 2, 0, &call);
	ts_world_event(&builder, 4, 0, &gap);
	ts_world_event(&builder, 5, 1, &call);
	ts_world_event(&builder, 5, 1, &other);
	ck_assert_uint_eq(ts_world_find_event(&w, TS_EV_SYSCALL, 0, false)->step, 2);
	ck_assert_uint_eq(ts_world_find_event(&w, TS_EV_SYSCALL, 2, false)->step, 2);
	ck_assert_uint_eq(ts_world_find_event(&w, TS_EV_SYSCALL, 3, false)->event.number, 3);
	ck_assert_ptr_null(ts_world_find_event(&w, TS_EV_SYSCALL, 6, false));
	ck_assert_ptr_null(ts_world_find_event(&w, TS_EV_SYSCALL, 1, true));
	ck_assert_uint_eq(ts_world_find_event(&w, TS_EV_SYSCALL, 4, true)->step, 2);
	ck_assert_uint_eq(ts_world_find_event(&w, TS_EV_SYSCALL, UINT64_MAX, true)->event.number, 4);
	ck_assert_uint_eq(ts_world_find_event(&w, TS_EV_SYSCALL, 5, true)->thread, 1);
	ck_assert_uint_eq(ts_world_find_event(&w, TS_EV_GAP, 9, true)->step, 4);
	ck_assert_ptr_null(ts_world_find_event(&w, TS_EV_EXIT, 0, false));
}
END_TEST

/* ------------------------------------------------------------------------------------------------ regions */

static void map(uint64_t pos, uint32_t process, uint64_t addr, uint64_t len, const char *file)
{
	struct ts_map *m = ts_steps_map(&b, addr, len, NULL, 0, file, file ? strlen(file) : 0);

	m->prot = TS_PROT_READ;
	m->file_off = 0x100;
	ts_world_map(&builder, pos, process, &b, m);
}

/* What is mapped at the byte, NULL for nothing. */
static const struct ts_region *region_at(uint32_t process, uint64_t pos, uint64_t addr)
{
	static const struct ts_region *regions[32];
	size_t n = world_regions(&w, process, pos, regions, 32);

	ck_assert_uint_le(n, 32);
	for (size_t i = 0; i < n; i++) {
		ck_assert(i == 0 || regions[i - 1]->last < regions[i]->first);
		if (regions[i]->first <= addr && addr <= regions[i]->last)
			return regions[i];
	}
	return NULL;
}

START_TEST(a_region_lasts_from_its_map_to_its_unmap)
{
	map(3, 0, 0x1000, 0x1000, "/bin/a");
	ts_world_unmap(&builder, 7, 0, 0, UINT64_MAX);
	ck_assert_ptr_null(region_at(0, 2, 0x1000));
	ck_assert_ptr_nonnull(region_at(0, 3, 0x1000));
	ck_assert_ptr_nonnull(region_at(0, 6, 0x1fff));
	ck_assert_ptr_null(region_at(0, 6, 0x2000));
	ck_assert_ptr_null(region_at(0, 7, 0x1000));
	ck_assert_ptr_null(region_at(1, 5, 0x1000));
	ck_assert_str_eq(ts_world_text(&w, region_at(0, 3, 0x1000)->file), "/bin/a");
	ck_assert_ptr_null(ts_world_text(&w, region_at(0, 3, 0x1000)->desc));
}
END_TEST

START_TEST(a_hole_leaves_both_sides_with_their_file_offsets)
{
	map(0, 0, 0x1000, 0x3000, "/bin/a");
	ts_world_unmap(&builder, 5, 0, 0x2000, 0x1000);
	ck_assert_ptr_null(region_at(0, 5, 0x2800));
	ck_assert_uint_eq(region_at(0, 5, 0x1fff)->last, 0x1fff);
	ck_assert_uint_eq(region_at(0, 5, 0x3000)->first, 0x3000);
	ck_assert_uint_eq(region_at(0, 5, 0x3000)->file_off, 0x2100);
	ck_assert_uint_eq(region_at(0, 5, 0x1000)->file_off, 0x100);
	ck_assert_uint_eq(region_at(0, 4, 0x2800)->last, 0x3fff);
}
END_TEST

START_TEST(a_map_replaces_what_it_overlaps)
{
	map(0, 0, 0x1000, 0x2000, "/bin/a");
	map(1, 0, 0x1800, 0x2000, "/bin/b");
	ck_assert_str_eq(ts_world_text(&w, region_at(0, 1, 0x17ff)->file), "/bin/a");
	ck_assert_str_eq(ts_world_text(&w, region_at(0, 1, 0x1800)->file), "/bin/b");
	ck_assert_str_eq(ts_world_text(&w, region_at(0, 0, 0x1800)->file), "/bin/a");
	ck_assert_uint_eq(region_at(0, 1, 0x37ff)->file_off, 0x100);
}
END_TEST

START_TEST(a_protection_concerns_what_is_mapped_only)
{
	map(0, 0, 0x1000, 0x2000, NULL);
	ts_world_protect(&builder, 4, 0, 0x2000, 0x8000, TS_PROT_EXEC);
	ck_assert_uint_eq(region_at(0, 4, 0x1fff)->prot, TS_PROT_READ);
	ck_assert_uint_eq(region_at(0, 4, 0x2000)->prot, TS_PROT_EXEC);
	ck_assert_uint_eq(region_at(0, 3, 0x2000)->prot, TS_PROT_READ);
	ck_assert_ptr_null(region_at(0, 4, 0x3000));
}
END_TEST

START_TEST(regions_reach_both_ends_of_the_address_space)
{
	map(0, 0, 0, 16, NULL);
	map(0, 0, UINT64_MAX - 15, 16, NULL);
	ck_assert_ptr_nonnull(region_at(0, 0, 0));
	ck_assert_ptr_nonnull(region_at(0, 0, UINT64_MAX));
	ts_world_unmap(&builder, 1, 0, UINT64_MAX, 1);
	ck_assert_ptr_null(region_at(0, 1, UINT64_MAX));
	ck_assert_uint_eq(region_at(0, 1, UINT64_MAX - 1)->last, UINT64_MAX - 1);
	ts_world_unmap(&builder, 2, 0, 0, 0);
	ck_assert_ptr_nonnull(region_at(0, 2, 0));
}
END_TEST

START_TEST(more_regions_than_asked_for_are_counted)
{
	const struct ts_region *two[2];

	for (uint64_t i = 0; i < 5; i++)
		map(0, 0, (5 - i) * 0x1000, 0x1000, NULL);
	ck_assert_uint_eq(world_regions(&w, 0, 0, two, 2), 5);
	ck_assert_uint_eq(world_regions(&w, 0, 0, NULL, 0), 5);
}
END_TEST

/* ------------------------------------------------------------------------------------------------ modules */

static void load(uint64_t pos, uint32_t process, uint64_t addr, uint64_t len)
{
	struct ts_module m = { .addr = addr, .len = len, .file = TS_NO_DATA };

	ts_world_load(&builder, pos, process, &b, &m);
}

static unsigned count_modules(uint32_t process, uint64_t pos)
{
	unsigned n = 0;

	for (size_t at = 0; world_next_module(&w, process, pos, &at);)
		n++;
	return n;
}

START_TEST(a_module_goes_when_a_part_of_it_is_unloaded_or_loaded_over)
{
	load(0, 0, 0x1000, 0x1000);
	load(0, 0, 0x3000, 0x1000);
	load(0, 1, 0x1000, 0x1000);
	load(2, 0, 0x1fff, 0x1002); /* over both */
	ts_world_unload(&builder, 4, 0, 0x1000, 0xfff);
	ck_assert_uint_eq(count_modules(0, 1), 2);
	ck_assert_uint_eq(count_modules(0, 2), 1);
	ck_assert_uint_eq(count_modules(0, 4), 1);
	ts_world_unload(&builder, 5, 0, 0x3000, 1);
	ck_assert_uint_eq(count_modules(0, 4), 1);
	ck_assert_uint_eq(count_modules(0, 5), 0);
	ck_assert_uint_eq(count_modules(1, 5), 1);
}
END_TEST

START_TEST(what_has_no_bytes_or_passes_the_end_of_the_address_space_is_nowhere)
{
	map(0, 0, 0x1000, 0, NULL);
	map(0, 0, UINT64_MAX, 2, NULL);
	load(0, 0, 0x1000, 0);
	load(0, 0, UINT64_MAX, 2);
	ck_assert_uint_eq(world_regions(&w, 0, 0, NULL, 0), 0);
	ck_assert_uint_eq(count_modules(0, 0), 0);
}
END_TEST

UNIT_FIXTURE_SUITE("world", setup, teardown, a_thread_s_next_and_previous_steps_skip_those_of_others,
		   a_thread_lives_from_its_first_step_to_its_end,
		   the_thread_of_the_last_step_lives_at_the_end_though_it_ended,
		   a_thread_that_runs_after_its_end_had_not_ended,
		   the_end_of_a_thread_that_never_ran_means_nothing,
		   next_and_previous_event_are_those_of_its_kind, a_region_lasts_from_its_map_to_its_unmap,
		   a_hole_leaves_both_sides_with_their_file_offsets, a_map_replaces_what_it_overlaps,
		   a_protection_concerns_what_is_mapped_only, regions_reach_both_ends_of_the_address_space,
		   more_regions_than_asked_for_are_counted,
		   a_module_goes_when_a_part_of_it_is_unloaded_or_loaded_over,
		   what_has_no_bytes_or_passes_the_end_of_the_address_space_is_nowhere)
