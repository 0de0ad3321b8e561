/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Three threads; the third is of process 1, the others of process 0. */
static void name(struct ts_recording *rec, uint64_t pid0, uint64_t pid1, uint64_t tid0, uint64_t tid1,
		 uint64_t tid2)
{
	rec->threads[0].pid = rec->threads[1].pid = pid0;
	rec->threads[2].pid = pid1;
	rec->threads[0].tid = tid0;
	rec->threads[1].tid = tid1;
	rec->threads[2].tid = tid2;
}

static void expect_names(void (*change)(struct ts_recording *rec), const int64_t pids[2],
			 const int64_t tids[3])
{
	const struct ts_names *names = &fake.target.names;
	const struct fake_options opt = { .change = change };

	fake_again(&opt);
	ck_assert_uint_eq(names->n_pids, 2);
	ck_assert_uint_eq(names->n_tids, 3);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(names->pids[i], pids[i]);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(names->tids[i], tids[i]);
}

START_TEST(recorded_ids_are_kept)
{
	expect_names(NULL, (const int64_t[]){ 100, 101 }, (const int64_t[]){ 1000, 1001, 1002 });
}
END_TEST

static void all_zero(struct ts_recording *rec)
{
	name(rec, 0, 0, 0, 0, 0);
}

START_TEST(ids_that_are_no_ids_become_the_smallest_free_numbers)
{
	expect_names(all_zero, (const int64_t[]){ 1, 2 }, (const int64_t[]){ 1, 2, 3 });
}
END_TEST

static void twice(struct ts_recording *rec)
{
	name(rec, 7, 7, 1, 1, 2);
}

START_TEST(of_two_with_one_id_the_first_keeps_it)
{
	expect_names(twice, (const int64_t[]){ 7, 1 }, (const int64_t[]){ 1, 3, 2 });
}
END_TEST

static void too_large(struct ts_recording *rec)
{
	name(rec, UINT64_C(0x80000000), UINT64_C(0x7fffffff), UINT64_MAX, UINT64_C(0x7fffffff),
	     UINT64_C(0x100000001));
}

START_TEST(ids_that_gdb_cannot_hold_are_replaced)
{
	expect_names(too_large, (const int64_t[]){ 1, 0x7fffffff }, (const int64_t[]){ 1, 0x7fffffff, 2 });
}
END_TEST

static void windows(struct ts_recording *rec)
{
	rec->osabi = "Windows";
}

START_TEST(a_system_for_which_gdb_may_have_no_handler_is_described_as_none)
{
	const struct fake_options opt = { .change = windows };

	fake_again(&opt);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&fake.target.target_xml), "<osabi>none</osabi>"));
}
END_TEST

START_TEST(a_program_that_cannot_be_opened_is_said_to_be_so)
{
	struct rsp_target target;
	struct ts_error err = { 0 };

	ck_assert(!rsp_target_init(&target, fake.q, "no/such/file", &err));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_ptr_nonnull(strstr(err.text, "no/such/file"));
}
END_TEST

/* Links are followed as in the other system, and the client is told the name that was recorded. */
START_TEST(a_program_beneath_the_sysroot_is_found)
{
	const struct fake_options with_sysroot = { .sysroot = "root" };
	struct ts_error err = { 0 };
	char bytes[6];
	FILE *file;

	ck_assert(!mkdir("root", 0777) && !mkdir("root/usr", 0777) && !mkdir("root/usr/bin", 0777) && !mkdir("root/etc", 0777));
	file = fopen("root/etc/passwd", "wb");
	ck_assert(file && fputs("inside", file) >= 0 && !fclose(file));
	ck_assert_int_eq(symlink("/etc/passwd", "root/usr/bin/fake"), 0);
	fake_again(&with_sysroot);
	ck_assert_ptr_nonnull(fake.target.exec);
	ck_assert_uint_eq(ts_source_len(fake.target.exec), sizeof(bytes));
	ck_assert(ts_source_read_all(fake.target.exec, 0, bytes, sizeof(bytes), &err));
	ck_assert_int_eq(memcmp(bytes, "inside", sizeof(bytes)), 0);
	ck_assert_str_eq(fake.target.exec_path, "/usr/bin/fake");
}
END_TEST

START_TEST(the_program_has_an_absolute_name)
{
	const struct fake_options relative = { .exec = "../tmp/../tmp/prog" };
	FILE *file = fopen("prog", "wb");

	ck_assert_ptr_nonnull(file);
	fclose(file);
	fake_again(&relative);
	ck_assert_int_eq(fake.target.exec_path[0], '/');
	ck_assert_ptr_null(strstr(fake.target.exec_path, ".."));
}
END_TEST

FAKE_SUITE("target", recorded_ids_are_kept, ids_that_are_no_ids_become_the_smallest_free_numbers,
	   of_two_with_one_id_the_first_keeps_it, ids_that_gdb_cannot_hold_are_replaced,
		   a_system_for_which_gdb_may_have_no_handler_is_described_as_none,
	   a_program_that_cannot_be_opened_is_said_to_be_so, a_program_beneath_the_sysroot_is_found,
	   the_program_has_an_absolute_name)
