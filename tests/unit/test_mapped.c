/* SPDX-License-Identifier: MIT */
/*
 * Modules out of a memory map: files that are mapped from their beginning, however they were split since.
 */
#include "src/query/files/mapped.h"

#include <string.h>

#include "src/timeline/world/world_builder.h"
#include "unit.h"

static struct ts_world world;
static struct ts_world_builder builder;
static struct ts_steps batch;
static struct ts_mapped mapped;

static void setup(void)
{
	ts_world_init(&world);
	ts_world_builder_init(&builder, &world);
	ts_steps_init(&batch);
	mapped = (struct ts_mapped){ 0 };
}

static void teardown(void)
{
	ts_mapped_fini(&mapped);
	ts_steps_fini(&batch);
	ts_world_builder_fini(&builder);
	ts_world_fini(&world);
}

static void map(uint64_t pos, uint64_t addr, uint64_t len, const char *file, uint64_t file_off)
{
	struct ts_map *m = ts_steps_map(&batch, addr, len, NULL, 0, file, strlen(file));

	m->prot = TS_PROT_READ | TS_PROT_EXEC;
	m->file_off = file_off;
	ts_world_map(&builder, pos, 0, &batch, m);
}

static const struct ts_module_span *build(size_t n)
{
	ck_assert(ts_mapped_build(&mapped, &world, world.n_regions));
	ck_assert_uint_eq(mapped.n, n);
	return mapped.items;
}

/* As a dynamic linker maps a library: the whole file, then its segments over it. */
START_TEST(a_library_is_one_module_however_it_was_mapped)
{
	const struct ts_module_span *m;

	map(10, 0x7000, 0x5000, "/lib/a.so", 0);
	map(20, 0x8000, 0x2000, "/lib/a.so", 0x1000);
	map(30, 0xa000, 0x2000, "/lib/a.so", 0x2000); /* .data: one page of the file less than of memory */
	ts_world_protect(&builder, 40, 0, 0x7000, 0x800, TS_PROT_READ | TS_PROT_WRITE);
	m = build(1);
	ck_assert_uint_eq(m->from, 10);
	ck_assert_uint_eq(m->until, UINT64_MAX);
	ck_assert_uint_eq(m->first, 0x7000);
	ck_assert_uint_eq(m->last, 0xbfff); /* the whole file was mapped at first */
	ck_assert_str_eq(ts_world_text(&world, m->file), "/lib/a.so");
}
END_TEST

START_TEST(a_library_that_is_unmapped_and_mapped_again_is_two)
{
	const struct ts_module_span *m;

	map(10, 0x7000, 0x1000, "/lib/a.so", 0);
	ts_world_unmap(&builder, 15, 0, 0x7000, 0x1000);
	map(20, 0x7000, 0x1000, "/lib/a.so", 0);
	m = build(2);
	ck_assert_uint_eq(m[0].from, 10);
	ck_assert_uint_eq(m[0].until, 15);
	ck_assert_uint_eq(m[1].from, 20);
}
END_TEST

START_TEST(files_are_told_apart_and_stand_in_the_order_of_time)
{
	const struct ts_module_span *m;

	map(10, 0x9000, 0x1000, "/lib/b.so", 0);
	map(20, 0x7000, 0x1000, "/lib/a.so", 0);
	map(20, 0x8000, 0x1000, "/lib/a.so", 0x1000);
	map(21, 0x9800, 0x800, "/lib/a.so", 0x2000); /* too late */
	map(30, 0xa000, 0x1000, "/lib/a.so", 0); /* the same file once more, elsewhere */
	m = build(3);
	ck_assert_uint_eq(m[0].first, 0x9000);
	ck_assert_uint_eq(m[0].last, 0x9fff);
	ck_assert_uint_eq(m[1].first, 0x7000);
	ck_assert_uint_eq(m[1].last, 0x8fff);
	ck_assert_uint_eq(m[2].first, 0xa000);
}
END_TEST

static void map_data(uint64_t pos, uint64_t addr, const char *file, uint64_t file_off)
{
	struct ts_map *m = ts_steps_map(&batch, addr, 0x1000, NULL, 0, file, strlen(file));

	m->prot = TS_PROT_READ;
	m->file_off = file_off;
	ts_world_map(&builder, pos, 0, &batch, m);
}

/* As the dynamic linker does with its cache, and with a library: first its headers, then its code. */
START_TEST(no_module_is_a_file_of_which_nothing_is_executable)
{
	const struct ts_module_span *m;

	map_data(10, 0x7000, "/etc/ld.so.cache", 0);
	map_data(20, 0x9000, "/lib/a.so", 0);
	map(21, 0xa000, 0x1000, "/lib/a.so", 0x1000);
	m = build(1);
	ck_assert_uint_eq(m->first, 0x9000);
	ck_assert_uint_eq(m->from, 20);
}
END_TEST

START_TEST(no_module_is_what_has_no_absolute_name_or_no_beginning)
{
	map(10, 0x7000, 0x1000, "[heap]", 0);
	map(10, 0x8000, 0x1000, "a.so", 0);
	map(10, 0x9000, 0x1000, "/lib/a.so", 0x1000);
	map(10, 0xa000, 0x1000, "", 0);
	build(0);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("mapped");
	TCase *t = tcase_create("mapped");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_library_is_one_module_however_it_was_mapped);
	tcase_add_test(t, a_library_that_is_unmapped_and_mapped_again_is_two);
	tcase_add_test(t, files_are_told_apart_and_stand_in_the_order_of_time);
	tcase_add_test(t, no_module_is_a_file_of_which_nothing_is_executable);
	tcase_add_test(t, no_module_is_what_has_no_absolute_name_or_no_beginning);
	suite_add_tcase(s, t);
	return s;
}
