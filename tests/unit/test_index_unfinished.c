/* SPDX-License-Identifier: MIT */
/*
 * When a builder is killed or the disk is full, the next one goes on with what there is, or the index goes
 * to its refuge or stays in memory; the answers are right.
 *
 * Built with tiny chunks and segments, so that a short recording makes many records.
 */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "full_disk.h"
#include "index_case.h"

static uint8_t flip(uint64_t off, uint8_t bits)
{
	int fd = open(PATH, O_RDWR);
	uint8_t byte;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &byte, 1, (off_t)off), 1);
	byte ^= bits;
	ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)off), 1);
	close(fd);
	return byte;
}

/*
 * Without ck_assert(), which writes to a file of its own: that would be the death of a child whose files have
 * a limit.
 */
static int build_quietly(uint64_t seed)
{
	struct ts_error err = { 0 };
	struct script *s = script_random_new(seed, N_STEPS);
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);
	struct ts_index_file *f = ts_index_create(PATH, &the_key, &err);

	return tl && f && ts_timeline_use_file(tl, f, &err) &&
			       ts_timeline_grow(tl, UINT64_MAX, &err) == TS_END
		       ? 0
		       : 1;
}

/* A child that builds and dies when it writes beyond @len bytes of the file. */
static void build_and_die(uint64_t seed, uint64_t len)
{
	struct rlimit limit = { len, len };
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(build_quietly(seed));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGXFSZ);
}

START_TEST(a_builder_that_is_killed_anywhere_leaves_a_good_beginning_or_nothing)
{
	uint64_t len, n_resumed = 0;
	struct opened a;

	build_and_close(8);
	len = file_len(PATH);
	open_script(&a, 8);
	finish(&a);
	for (unsigned i = 0; i < N_PLACES; i++) {
		struct opened b;

		remove(PATH);
		remove(PART);
		build_and_die(8, len * i / N_PLACES);
		ck_assert_uint_eq(file_len(PATH), 0);
		build(&b, 8);
		n_resumed += b.s->n_reads < N_STEPS;
		compare(&a, &b, 2);
		close_script(&b);
		ck_assert_uint_eq(file_len(PATH), len);
		ck_assert_uint_eq(file_len(PART), 0);
	}
	ck_assert_uint_ge(n_resumed, N_PLACES * 8 / 10);
	close_script(&a);
}
END_TEST

START_TEST(a_builder_that_is_killed_again_and_again_gets_there)
{
	struct opened a, b;
	uint64_t len;

	build_and_close(9);
	len = file_len(PATH);
	open_script(&a, 9);
	finish(&a);
	remove(PATH);
	/* a file that was continued may be some bytes shorter */
	for (uint64_t at = 0; at < len - len / 60; at += len / 30)
		build_and_die(9, at);
	build(&b, 9);
	compare(&a, &b, 20);
	close_script(&b);
	close_script(&a);
}
END_TEST

START_TEST(what_a_killed_builder_left_may_be_damaged_too)
{
	struct opened a;

	build_and_close(10);
	open_script(&a, 10);
	finish(&a);
	for (unsigned i = 0; i < 60; i++) {
		uint64_t len = file_len(PATH);
		struct opened b;

		rename(PATH, PART);
		ck_assert_int_eq(truncate(PART, (off_t)(len / 60 * (60 - i))), 0);
		ck_assert_int_eq(rename(PART, PATH), 0);
		flip(len / 60 * i % (file_len(PATH) - 1), 0x10);
		rename(PATH, PART);
		build(&b, 10);
		compare(&a, &b, 2);
		close_script(&b);
	}
	close_script(&a);
}
END_TEST

START_TEST(two_cannot_build_one_index)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f, *g;

	remove(PATH);
	f = ts_index_create(PATH, &the_key, &err);
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_null(ts_index_create(PATH, &the_key, &err));
	ck_assert_int_eq(err.code, TS_ELIMIT);
	ts_index_close(f);
	ts_error_reset(&err);
	g = ts_index_create(PATH, &the_key, &err);
	ck_assert_ptr_nonnull(g);
	ts_index_close(g);
}
END_TEST

START_TEST(a_disk_that_is_full_leaves_the_index_in_memory)
{
	struct opened a, b;
	uint64_t len;

	build_and_close(11);
	len = file_len(PATH);
	open_script(&a, 11);
	finish(&a);
	for (unsigned i = 1; i < 10; i++) {
		struct rlimit old, limit;
		struct ts_error err = { 0 };

		remove(PATH);
		remove(PART);
		getrlimit(RLIMIT_FSIZE, &old);
		limit = (struct rlimit){ len * i / 10, old.rlim_max };
		signal(SIGXFSZ, SIG_IGN);
		open_script(&b, 11);
		ck_assert(ts_timeline_use_file(b.tl, ts_index_create(PATH, &the_key, &err), &err));
		setrlimit(RLIMIT_FSIZE, &limit);
		ts_timeline_grow(b.tl, UINT64_MAX, &err);
		setrlimit(RLIMIT_FSIZE, &old);
		finish(&b);
		ck_assert_int_eq(b.tl->file_error.code, TS_EIO);
		compare(&a, &b, 10);
		close_script(&b);
		ck_assert_uint_eq(file_len(PATH), 0);
	}
	close_script(&a);
}
END_TEST

/* @b, whose index went to the refuge at @path, is as script 11 in @a; so is what is found there. Nothing else is left. */
static void check_refuge(struct opened *a, struct opened *b, const char *path)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f;

	ck_assert_msg(b->tl->file_error.code == TS_OK, "%s", b->tl->file_error.text);
	compare(a, b, 10);
	close_script(b);
	ck_assert(access(PATH, F_OK) && access(PART, F_OK) && access("elsewhere.tsindex.part", F_OK));
	open_script(b, 11);
	f = ts_index_open(path, &the_key, &err);
	ck_assert_msg(f, "%s", err.text);
	ck_assert(ts_timeline_use_file(b->tl, f, &err));
	finish(b);
	compare(a, b, 10);
	close_script(b);
}

START_TEST(on_a_disk_that_is_full_the_index_goes_on_in_its_refuge)
{
	static const char elsewhere[] = "elsewhere.tsindex";
	struct opened a, b;
	uint64_t len;

	build_and_close(11);
	len = file_len(PATH);
	open_script(&a, 11);
	finish(&a);
	for (unsigned i = 1; i < 10; i++) {
		struct ts_error err = { 0 };
		struct ts_index_file *f;

		remove(PATH);
		remove(elsewhere);
		open_script(&b, 11);
		f = ts_index_create(PATH, &the_key, &err);
		ck_assert(f && ts_index_set_fallback(f, elsewhere));
		ck_assert(ts_timeline_use_file(b.tl, f, &err));
		full_disk_start(PART, FULL_DISK_WRITES, len * i / 10);
		finish(&b);
		full_disk_end();
		ck_assert_str_eq(ts_index_path(f), elsewhere);
		check_refuge(&a, &b, elsewhere);
		ck_assert_uint_eq(file_len(elsewhere), len);
	}
	close_script(&a);
}
END_TEST

/* Build the index of script 11 at PATH, with that refuge, on a disk that is full. */
static void build_with_refuge(struct opened *o, const char *refuge, enum full_disk how)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f;

	remove(PATH);
	open_script(o, 11);
	f = ts_index_create(PATH, &the_key, &err);
	ck_assert(f && ts_index_set_fallback(f, refuge));
	ck_assert(ts_timeline_use_file(o->tl, f, &err));
	full_disk_start(PART, how, 0);
	finish(o);
	full_disk_end();
}

START_TEST(a_finished_index_goes_to_its_refuge_too)
{
	static const char elsewhere[] = "elsewhere.tsindex";
	struct opened a, b;

	open_script(&a, 11);
	finish(&a);
	for (unsigned how = FULL_DISK_SYNCS; how <= FULL_DISK_NAMES; how++) {
		remove(elsewhere);
		build_with_refuge(&b, elsewhere, how);
		check_refuge(&a, &b, elsewhere);
	}
	close_script(&a);
}
END_TEST

START_TEST(a_finished_index_without_a_refuge_leaves_nothing_on_a_full_disk)
{
	for (unsigned how = FULL_DISK_SYNCS; how <= FULL_DISK_NAMES; how++) {
		struct opened o;

		build_with_refuge(&o, "no folder/elsewhere", how);
		ck_assert_int_eq(o.tl->file_error.code, TS_EIO);
		close_script(&o);
		ck_assert(access(PATH, F_OK) && access(PART, F_OK));
	}
}
END_TEST

START_TEST(where_the_refuge_cannot_be_written_the_index_stays_in_memory)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f;
	struct opened o;

	open_script(&o, 11);
	f = ts_index_create(PATH, &the_key, &err);
	ck_assert(f && ts_index_set_fallback(f, "no folder/elsewhere"));
	ck_assert(ts_timeline_use_file(o.tl, f, &err));
	full_disk_start(PART, FULL_DISK_WRITES, 5000);
	finish(&o);
	full_disk_end();
	ck_assert_int_eq(o.tl->file_error.code, TS_EIO);
	close_script(&o);
	ck_assert(access(PATH, F_OK) && access(PART, F_OK));

	full_disk_start(PART, FULL_DISK_WRITES, 0); /* not even the header */
	ck_assert_ptr_null(ts_index_create(PATH, &the_key, &err));
	full_disk_end();
	ck_assert(access(PART, F_OK));
}
END_TEST

UNIT_SUITE("index_unfinished", a_builder_that_is_killed_anywhere_leaves_a_good_beginning_or_nothing,
	   a_builder_that_is_killed_again_and_again_gets_there, what_a_killed_builder_left_may_be_damaged_too,
	   two_cannot_build_one_index, a_disk_that_is_full_leaves_the_index_in_memory,
	   on_a_disk_that_is_full_the_index_goes_on_in_its_refuge, a_finished_index_goes_to_its_refuge_too,
	   a_finished_index_without_a_refuge_leaves_nothing_on_a_full_disk,
	   where_the_refuge_cannot_be_written_the_index_stays_in_memory)
