/* SPDX-License-Identifier: MIT */
/*
 * A world that lies in an index file answers as the one in memory that was saved there.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "script.h"
#include "world_lists.h"
#include "src/index/index_write.h"
#include "src/trace/chunk.h"
#include "src/timeline/world/world_builder.h"

#define PATH      "world.tsindex"
#define KIND      1u
#define TURNS     2u
#define SEGMENT   (TS_CHUNK_STEPS * TS_SEGMENT_CHUNKS)
#define N_STEPS   3000u
#define N_THREADS 4u
#define N_PLACES  400u

static const struct ts_index_key the_key = { 10, 20, 30, 40, 50, { .id = 60 }, 0, 0 };

static struct ts_error err;
static struct ts_world made, loaded;
static struct ts_world_builder builder;
static struct ts_steps b; /* where maps and modules have their texts */
static struct ts_index_file *f;

static void setup(void)
{
	ts_error_reset(&err);
	ts_world_init(&made);
	ts_world_init(&loaded);
	ts_world_builder_init(&builder, &made);
	ts_steps_init(&b);
	remove(PATH);
	f = ts_index_create(PATH, &the_key, &err);
	ck_assert_msg(f, "%s", err.text);
}

static void teardown(void)
{
	ck_assert(!builder.is_failed);
	ts_world_builder_fini(&builder);
	ts_world_fini(&made);
	ts_world_fini(&loaded);
	ts_steps_fini(&b);
	ts_index_close(f);
	remove(PATH);
}

static void make_change(struct script_random *r, uint64_t pos)
{
	static const char *const files[] = { NULL, "/bin/a", "/lib/b", "/lib/c" };
	uint64_t addr = script_below(r, 64) * 0x1000, len = 1 + script_below(r, 8) * 0x800;
	uint32_t process = (uint32_t)script_below(r, 2);
	const char *file = files[script_below(r, 4)];

	ts_steps_reset(&b);
	switch (script_below(r, 6)) {
	case 0: ts_world_unmap(&builder, pos, process, addr, len); break;
	case 1: ts_world_protect(&builder, pos, process, addr, len, TS_PROT_READ); break;
	case 2:
		ck_assert(ts_steps_load(&b, addr, len, "/lib/d", 6));
		ts_world_load(&builder, pos, process, &b, &b.modules[0]);
		break;
	case 3: ts_world_unload(&builder, pos, process, addr, len); break;
	default:
		ck_assert_ptr_nonnull(ts_steps_map(&b, addr, len, "a place", 7, file, file ? 6 : 0));
		ts_world_map(&builder, pos, process, &b, &b.maps[0]);
	}
}

/* The record of a segment, which has its turns. */
static void save_turns(uint64_t from, uint64_t end)
{
	ts_index_section(f, TURNS, 0);
	ts_turns_save(&made.turns, from, end, f);
}

static void save_segment(uint64_t end)
{
	ts_index_begin(f, 1);
	save_turns(end - SEGMENT, end);
	ck_assert_msg(ts_index_commit(f, end, false, &err), "%s", err.text);
}

/* Thread 0 runs to the end; the others end when they have run for the last time. */
static void make(struct script_random *r)
{
	for (uint64_t pos = 0; pos < N_STEPS; pos++) {
		uint64_t n =
			script_chance(r, 10) ? 1 + script_below(r, N_THREADS - pos * N_THREADS / N_STEPS) : 0;

		if (!pos || n)
			ts_world_run(&builder, pos, n ? (uint32_t)n - 1 : 0);
		if (pos == N_STEPS / 2)
			ts_world_end_thread(&builder, pos, 3);
		if (script_chance(r, 30))
			make_change(r, pos + 1);
		if ((pos + 1) % SEGMENT == 0)
			save_segment(pos + 1);
	}
}

static void save_and_load(void)
{
	struct ts_index_arrays a;
	struct ts_turn_piece piece;
	size_t n;

	ts_index_begin(f, 2);
	save_turns(ts_index_n_records(f) * SEGMENT, N_STEPS);
	ts_index_section(f, KIND, 0);
	ts_world_save(&made, f);
	ck_assert_msg(ts_index_commit(f, N_STEPS, true, &err), "%s", err.text);
	ck_assert_msg(ts_index_publish(f, &err), "%s", err.text);
	ts_index_close(f);
	f = ts_index_open(PATH, &the_key, &err);
	ck_assert_msg(f, "%s", err.text);
	n = ts_index_n_records(f);
	for (size_t i = 0; i < n; i++) {
		a = ts_index_find(f, i, TURNS, 0);
		ck_assert(ts_turns_take(&piece, &a, ts_index_n_steps(f, i)) && ts_turns_use(&loaded.turns, &piece));
	}
	a = ts_index_find(f, n - 1, KIND, 0);
	ck_assert(ts_world_use_file(&loaded, &a, N_THREADS, 2));
	ck_assert(!a.left && !a.is_bad);
}

static void compare_threads(uint64_t pos)
{
	ck_assert_uint_eq(ts_world_thread(&loaded, pos), ts_world_thread(&made, pos));
	ck_assert_uint_eq(ts_world_slice_end(&loaded, pos), ts_world_slice_end(&made, pos));
	for (uint32_t t = 0; t <= N_THREADS; t++) {
		ck_assert_uint_eq(ts_world_next_step(&loaded, t, pos, N_STEPS),
				  ts_world_next_step(&made, t, pos, N_STEPS));
		ck_assert_uint_eq(ts_world_prev_step(&loaded, t, pos, N_STEPS),
				  ts_world_prev_step(&made, t, pos, N_STEPS));
		ck_assert_uint_eq(ts_world_n_steps(&loaded, t, pos), ts_world_n_steps(&made, t, pos));
		ck_assert(ts_world_is_alive(&loaded, t, pos) == ts_world_is_alive(&made, t, pos));
	}
}

static void compare_regions(uint32_t process, uint64_t pos)
{
	const struct ts_region *x[256], *y[256];
	size_t n = world_regions(&made, process, pos, x, 256), at = 0, same_at = 0;
	const struct ts_module_span *m;

	ck_assert_uint_eq(world_regions(&loaded, process, pos, y, 256), n);
	for (size_t i = 0; i < n && i < 256; i++)
		ck_assert_mem_eq(x[i], y[i], sizeof(*x[i]));
	do {
		m = world_next_module(&made, process, pos, &at);
		ck_assert_int_eq(!m, !world_next_module(&loaded, process, pos, &same_at));
		ck_assert_uint_eq(at, same_at);
	} while (m);
}

static void compare_lists(void)
{
	const struct ts_region *r;
	size_t at = 0, same_at = 0;

	ck_assert_uint_gt(made.n_regions, 4 * TS_REGION_GROUP);
	ck_assert_uint_eq(loaded.n_regions, made.n_regions);
	ck_assert_uint_eq(loaded.n_modules, made.n_modules);
	for (size_t i = 0; i < made.n_regions; i++) {
		r = ts_world_region(&loaded, i);
		ck_assert_mem_eq(r, ts_world_region(&made, i), sizeof(*r));
		ck_assert_str_eq(ts_world_text(&loaded, r->desc), "a place");
	}
	for (size_t i = 0; i < made.n_modules; i++)
		ck_assert_mem_eq(ts_world_module(&loaded, i), ts_world_module(&made, i),
				 sizeof(struct ts_module_span));
	while ((r = ts_world_next_with_file(&made, made.n_regions - 1, &at)))
		ck_assert_mem_eq(r, ts_world_next_with_file(&loaded, made.n_regions - 1, &same_at),
				 sizeof(*r));
	ck_assert_ptr_null(ts_world_next_with_file(&loaded, made.n_regions - 1, &same_at));
}

START_TEST(a_world_in_a_file_answers_as_the_one_that_was_saved)
{
	struct script_random r = { (uint64_t)_i };

	make(&r);
	save_and_load();
	ck_assert(!ts_world_is_alive(&loaded, 3, N_STEPS));
	for (unsigned i = 0; i < N_PLACES; i++) {
		uint64_t pos = i < 2 ? i * N_STEPS : script_below(&r, N_STEPS + 1);

		compare_threads(pos);
		compare_regions(0, pos);
		compare_regions(1, pos);
	}
	compare_lists();
}
END_TEST

START_TEST(each_text_is_there_once)
{
	struct script_random r = { 1 };

	make(&r);
	ck_assert_uint_eq(made.texts.len, sizeof("a place") + 4 * sizeof("/bin/a"));
}
END_TEST

START_TEST(regions_that_ended_before_are_passed_over)
{
	for (uint64_t i = 0; i < 4 * TS_REGION_GROUP; i++) {
		ts_steps_reset(&b);
		ts_steps_map(&b, i * 0x1000, 0x1000, NULL, 0, NULL, 0);
		ts_world_map(&builder, 1 + i, 0, &b, &b.maps[0]);
		if (i >= TS_REGION_GROUP && i < 3 * TS_REGION_GROUP)
			ts_world_unmap(&builder, 2 + i, 0, i * 0x1000, 0x1000);
	}
	ts_world_run(&builder, 0, 0);
	save_and_load();
	ck_assert_uint_eq(ts_world_pass_regions(&made, TS_REGION_GROUP, N_STEPS), TS_REGION_GROUP);
	ck_assert_uint_eq(ts_world_pass_regions(&loaded, 0, N_STEPS), 0);
	ck_assert_uint_eq(ts_world_pass_regions(&loaded, TS_REGION_GROUP, N_STEPS), 3 * TS_REGION_GROUP);
	ck_assert_uint_eq(ts_world_pass_regions(&loaded, TS_REGION_GROUP, 2 * TS_REGION_GROUP),
			  TS_REGION_GROUP);
	ck_assert_uint_eq(ts_world_pass_regions(&loaded, TS_REGION_GROUP + 1, N_STEPS), TS_REGION_GROUP + 1);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("world_file");
	TCase *t = tcase_create("world_file");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, a_world_in_a_file_answers_as_the_one_that_was_saved, 1, 6);
	tcase_add_test(t, each_text_is_there_once);
	tcase_add_test(t, regions_that_ended_before_are_passed_over);
	suite_add_tcase(s, t);
	return s;
}
