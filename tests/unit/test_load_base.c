/* SPDX-License-Identifier: MIT */
/*
 * A position-independent program is found by samples of its own code: here taken out of the file itself, as
 * they would stand in memory.
 */
#include "src/query/files/load_base.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define PROGRAM unit_data_path("programs/pie/prog")
#define MOVED UINT64_C(0x7f0012345000)
#define N_SAMPLES 12

static struct ts_source *program;
static struct ts_object object;
static struct ts_code_sample items[N_SAMPLES];
static struct ts_code_samples samples = { .items = items, .n = N_SAMPLES };

/* Samples of the executable segment, some way apart, as if the file were moved by MOVED. */
static void setup(void)
{
	struct ts_error err = { 0 };
	const struct ts_elf_load *code = NULL;

	program = ts_source_open(PROGRAM, &err);
	ck_assert(program && ts_object_init(&object, program, &err));
	for (size_t i = 0; i < object.n_loads; i++) {
		if (object.loads[i].prot & TS_PROT_EXEC)
			code = &object.loads[i];
	}
	ck_assert_ptr_nonnull(code);
	for (size_t i = 0; i < N_SAMPLES; i++) {
		uint64_t off = 0x100 + i * 0x20;

		items[i].addr = code->addr + off + MOVED;
		items[i].len = TS_CODE_SAMPLE_LEN;
		ck_assert(ts_source_read_all(program, code->file_off + off, items[i].bytes,
					     TS_CODE_SAMPLE_LEN, &err));
	}
	samples.n = N_SAMPLES;
}

static void teardown(void)
{
	ts_object_fini(&object);
	ts_source_close(program);
}

static bool find(uint64_t *moved)
{
	struct ts_error err = { 0 };
	bool found = ts_load_base_by_code(&samples, program, &object, moved, &err);

	ck_assert_int_eq(err.code, TS_OK);
	return found;
}

START_TEST(a_program_is_found_by_its_code)
{
	uint64_t moved = 0;

	ck_assert(find(&moved));
	ck_assert_uint_eq(moved, MOVED);
}
END_TEST

START_TEST(one_changed_sample_in_ten_does_not_hide_it)
{
	uint64_t moved = 0;

	items[3].bytes[0] ^= 0xff;
	ck_assert(find(&moved));
	ck_assert_uint_eq(moved, MOVED);
}
END_TEST

START_TEST(a_program_whose_code_differs_is_not_found)
{
	uint64_t moved = 0;

	for (size_t i = 0; i < N_SAMPLES; i += 3)
		items[i].bytes[0] ^= 0xff;
	ck_assert(!find(&moved));
}
END_TEST

START_TEST(short_samples_say_nothing)
{
	uint64_t moved = 0;

	for (size_t i = 0; i < N_SAMPLES; i++)
		items[i].len = 3;
	ck_assert(!find(&moved));
}
END_TEST

START_TEST(two_places_that_fit_equally_are_none)
{
	uint64_t moved = 0;

	samples.n = 2;
	items[1] = items[0];
	items[1].addr += 0x100000;
	ck_assert(!find(&moved));
}
END_TEST

START_TEST(without_samples_nothing_is_found)
{
	uint64_t moved = 0;

	samples.n = 0;
	ck_assert(!find(&moved));
}
END_TEST

START_TEST(a_match_counts_the_samples_inside_the_code_only)
{
	struct ts_error err = { 0 };
	struct ts_code_match m;

	items[0].bytes[5] ^= 1;
	items[1].addr += 0x10000000;
	ck_assert(ts_code_match(&samples, program, &object, MOVED, &m, &err));
	ck_assert_uint_eq(m.n_same, N_SAMPLES - 2);
	ck_assert_uint_eq(m.n_different, 1);
	ck_assert(ts_code_match(&samples, program, &object, MOVED + 0x40000000, &m, &err));
	ck_assert_uint_eq(m.n_same + m.n_different, 0);
	ck_assert(!ts_code_is_match(&m));
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("load_base");
	TCase *t = tcase_create("by code");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_program_is_found_by_its_code);
	tcase_add_test(t, one_changed_sample_in_ten_does_not_hide_it);
	tcase_add_test(t, a_program_whose_code_differs_is_not_found);
	tcase_add_test(t, short_samples_say_nothing);
	tcase_add_test(t, two_places_that_fit_equally_are_none);
	tcase_add_test(t, without_samples_nothing_is_found);
	tcase_add_test(t, a_match_counts_the_samples_inside_the_code_only);
	suite_add_tcase(s, t);
	return s;
}
