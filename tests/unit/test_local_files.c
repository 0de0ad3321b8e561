/* SPDX-License-Identifier: MIT */
/*
 * Files of this machine under recorded names: used if their beginning is what the recording has in memory.
 */
#include "src/query/files/local_files.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_session.h"
#include "unit.h"

#define LIB_ADDR 0x7000000
#define LIB_LEN 0x1000

static char lib[PATH_MAX], other_name[PATH_MAX + 8], unnamed[PATH_MAX + 8];
static uint8_t contents[LIB_LEN];
static struct ts_local_files files;

/* How much of the library is in the recording's memory. */
static size_t n_recorded;

static const char *magic = "\x7f" "ELF";

static void add_library(struct ts_recording *rec)
{
	ts_steps_load(&rec->initial, LIB_ADDR, LIB_LEN, lib, strlen(lib));
	if (n_recorded)
		ts_steps_value(&rec->initial, TS_FX_WRITE, LIB_ADDR, contents, (uint32_t)n_recorded);
}

static void write_file(const char *path)
{
	FILE *f = fopen(path, "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(contents, 1, LIB_LEN, f), LIB_LEN);
	fclose(f);
}

/* The file, the link to it and another file, then a recording that has so much of the file. */
static void record(size_t n)
{
	const struct fake_options options = { .change = add_library };
	char folder[PATH_MAX];

	ck_assert_ptr_nonnull(getcwd(folder, sizeof(folder)));
	snprintf(lib, sizeof(lib), "%.*s/lib.so", PATH_MAX - 16, folder);
	snprintf(other_name, sizeof(other_name), "%s.1", lib);
	snprintf(unnamed, sizeof(unnamed), "%s.2", lib);
	for (size_t i = 0; i < LIB_LEN; i++)
		contents[i] = (uint8_t)(i * 7 + i / 256);
	memcpy(contents, magic, strlen(magic));
	write_file(lib);
	write_file(unnamed);
	unlink(other_name);
	ck_assert_int_eq(symlink("lib.so", other_name), 0);
	n_recorded = n;
	fake_again(&options);
	ts_local_files_init(&files, fake.q);
}

START_TEST(the_recorded_file_is_found_by_both_its_names)
{
	record(LIB_LEN);
	ck_assert_ptr_nonnull(ts_local_file(&files, lib));
	ck_assert_ptr_nonnull(ts_local_file(&files, other_name));
	ck_assert_ptr_eq(ts_local_file(&files, lib), ts_local_file(&files, lib));
	ts_local_files_fini(&files);
}
END_TEST

START_TEST(a_file_that_the_recording_does_not_name_is_not_opened)
{
	record(LIB_LEN);
	ck_assert_ptr_null(ts_local_file(&files, unnamed));
	ck_assert_ptr_null(ts_local_file(&files, "lib.so"));
	ck_assert_ptr_null(ts_local_file(&files, ""));
	ts_local_files_fini(&files);
}
END_TEST

START_TEST(another_file_at_the_recorded_path_is_refused)
{
	record(LIB_LEN);
	contents[LIB_LEN - 1] ^= 1;
	write_file(lib);
	ck_assert_ptr_null(ts_local_file(&files, lib));
	ts_local_files_fini(&files);
}
END_TEST

START_TEST(a_file_of_which_the_recording_shows_too_little_is_refused)
{
	record(1000);
	ck_assert_ptr_null(ts_local_file(&files, lib));
	ts_local_files_fini(&files);
}
END_TEST

START_TEST(a_file_that_is_no_program_and_no_library_is_refused)
{
	magic = "text";
	record(LIB_LEN);
	magic = "\x7f" "ELF";
	ck_assert_ptr_null(ts_local_file(&files, lib));
	ts_local_files_fini(&files);
}
END_TEST

START_TEST(a_kilobyte_of_the_beginning_is_enough)
{
	record(1024);
	ck_assert_ptr_nonnull(ts_local_file(&files, lib));
	ts_local_files_fini(&files);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_none)
{
	record(LIB_LEN);
	unlink(lib);
	ck_assert_ptr_null(ts_local_file(&files, lib));
	ts_local_files_fini(&files);
}
END_TEST

FAKE_SUITE("local_files", the_recorded_file_is_found_by_both_its_names,
	   a_file_that_the_recording_does_not_name_is_not_opened,
	   another_file_at_the_recorded_path_is_refused,
	   a_file_of_which_the_recording_shows_too_little_is_refused, a_kilobyte_of_the_beginning_is_enough,
	   a_file_that_is_no_program_and_no_library_is_refused, a_file_that_is_not_there_is_none)
