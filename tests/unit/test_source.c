/* SPDX-License-Identifier: MIT */
/*
 * Bytes of files and of memory; a file that shrinks after it was opened is an error, and no signal.
 */
#include "unit.h"

#include "src/source/sibling_file.h"
#include "src/source/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static struct ts_error err;
static struct ts_source *src;
static uint8_t data[64];
static size_t got;

static void setup(void)
{
	FILE *f = fopen("ten", "wb");

	ck_assert_ptr_nonnull(f);
	fputs("0123456789", f);
	fclose(f);
	ts_error_reset(&err);
}

static void teardown(void)
{
	ts_source_close(src);
	src = NULL;
}

static void open_ten(void)
{
	src = ts_source_open("ten", &err);
	ck_assert_ptr_nonnull(src);
}

/* What every source of these ten bytes must do. */
static void check_ten(void)
{
	ck_assert_uint_eq(ts_source_len(src), 10);
	ck_assert(ts_source_read(src, 3, data, 4, &got, &err));
	ck_assert_uint_eq(got, 4);
	ck_assert_int_eq(memcmp(data, "3456", 4), 0);
	ck_assert(ts_source_read(src, 8, data, 64, &got, &err));
	ck_assert_uint_eq(got, 2);
	ck_assert(ts_source_read(src, 10, data, 1, &got, &err));
	ck_assert_uint_eq(got, 0);
	ck_assert(ts_source_read(src, UINT64_MAX, data, 64, &got, &err));
	ck_assert_uint_eq(got, 0);
	ck_assert(ts_source_read_all(src, 0, data, 10, &err));
	ck_assert_int_eq(err.code, TS_OK);
	ck_assert(!ts_source_read_all(src, 1, data, 10, &err));
	ck_assert_int_eq(err.code, TS_ETRUNC);
	ck_assert_uint_eq(err.off, 1);
}

START_TEST(a_file_is_read_up_to_its_end)
{
	open_ten();
	check_ten();
	ck_assert_str_eq(ts_source_name(src), "ten");
}
END_TEST

START_TEST(memory_is_read_like_a_file)
{
	src = ts_source_from_memory("0123456789", 10, "memory", &err);
	check_ten();
	ck_assert_str_eq(ts_source_name(src), "memory");
}
END_TEST

START_TEST(another_source_of_the_same_bytes_outlives_the_first)
{
	struct ts_source *first;

	open_ten();
	first = src;
	src = ts_source_dup(first, &err);
	ts_source_close(first);
	check_ten();
	ck_assert_str_eq(ts_source_name(src), "ten");
}
END_TEST

START_TEST(no_memory_at_all_is_an_empty_source)
{
	src = ts_source_from_memory(NULL, 0, "nothing", &err);
	ck_assert_uint_eq(ts_source_len(src), 0);
	ck_assert(ts_source_read(src, 0, data, 1, &got, &err));
	ck_assert_uint_eq(got, 0);
}
END_TEST

static void expect_shorter(uint64_t end)
{
	memset(data, 0, sizeof(data));
	ck_assert(!ts_source_read(src, 4, data, 6, &got, &err));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_uint_eq(err.off, end);
	ck_assert_uint_eq(got, end - 4);
	ck_assert_mem_eq(data, "45", got);
	ts_error_reset(&err);
}

START_TEST(a_file_that_shrinks_fails_where_it_ends_now)
{
	open_ten();
	ck_assert_int_eq(truncate("ten", 6), 0);
	expect_shorter(6);
	ck_assert(ts_source_read(src, 4, data, 2, &got, &err));
	ck_assert_uint_eq(got, 2);
	ck_assert_int_eq(truncate("ten", 0), 0);
	expect_shorter(4);
}
END_TEST

START_TEST(a_file_that_grows_keeps_the_length_it_had)
{
	FILE *f;

	open_ten();
	f = fopen("ten", "ab");
	fputs("more", f);
	fclose(f);
	ck_assert(ts_source_read(src, 8, data, 6, &got, &err));
	ck_assert_uint_eq(got, 2);
}
END_TEST

START_TEST(a_file_that_is_written_over_is_not_read_any_more)
{
	static const struct timespec long_ago[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	struct ts_source *other;
	FILE *f;

	ck_assert_int_eq(utimensat(AT_FDCWD, "ten", long_ago, 0), 0);
	open_ten();
	other = ts_source_dup(src, &err);
	f = fopen("ten", "r+b");
	ck_assert(f && fputs("abcde", f) >= 0 && !fclose(f));
	for (int i = 0; i < 2; i++) {
		ts_error_reset(&err);
		ck_assert(!ts_source_read(i ? other : src, 7, data, 1, &got, &err));
		ck_assert_int_eq(err.code, TS_EIO);
		ck_assert_str_eq(err.text, "it was changed after it was opened");
	}
	ts_source_close(other);
}
END_TEST

START_TEST(a_file_that_is_not_there_is_told_in_words)
{
	ck_assert_ptr_null(ts_source_open("nothing", &err));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_str_eq(err.text, "cannot open it: No such file or directory");
}
END_TEST

START_TEST(folders_and_pipes_are_no_traces)
{
	ck_assert_ptr_null(ts_source_open(".", &err));
	ck_assert_int_eq(err.code, TS_EUSAGE);
	ts_error_reset(&err);
	ck_assert_int_eq(mkfifo("pipe", 0600), 0);
	ck_assert_ptr_null(ts_source_open("pipe", &err));
	ck_assert_int_eq(err.code, TS_EUSAGE);
}
END_TEST

/* A trace may name any file of this machine.  Opening a pipe wakes its writer; opening a device may have any effect. */
START_TEST(the_type_of_a_file_is_checked_before_it_is_opened)
{
	struct inotify_event opened;
	int watch = inotify_init1(IN_NONBLOCK);

	ck_assert_int_eq(mkfifo("watched", 0600), 0);
	ck_assert_int_ge(inotify_add_watch(watch, "watched", IN_OPEN), 0);
	ck_assert_ptr_null(ts_source_open("watched", &err));
	ck_assert_ptr_nonnull(strstr(err.text, "not a regular file"));
	ck_assert_int_lt(read(watch, &opened, sizeof(opened)), 0);
	close(watch);
	remove("watched");
}
END_TEST

static bool open_beside(const char *name)
{
	struct ts_source *other;

	ts_error_reset(&err);
	other = ts_source_open_beside(src, name, &err);
	ts_source_close(other);
	return other != NULL;
}

START_TEST(a_file_beside_another_is_a_plain_name_and_no_link)
{
	open_ten();
	ck_assert_int_eq(symlink("ten", "link"), 0);
	ck_assert(open_beside("ten"));
	ck_assert(!open_beside("link"));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert(!open_beside("missing"));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert(!open_beside("./ten"));
	ck_assert_int_eq(err.code, TS_ECORRUPT);
	ck_assert(!open_beside(".."));
	ck_assert(!open_beside(""));
}
END_TEST

START_TEST(nothing_lies_beside_memory)
{
	src = ts_source_from_memory("0123456789", 10, "ten", &err);
	ck_assert(!open_beside("ten"));
	ck_assert_int_eq(err.code, TS_EUNSUPPORTED);
}
END_TEST

#define HOLE (UINT64_C(1) << 20)

/* A megabyte that was never written, an x, two more megabytes. */
static bool open_with_holes(void)
{
	int fd = open("holes", O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct stat st;

	ck_assert(fd >= 0 && pwrite(fd, "x", 1, HOLE) == 1 && !ftruncate(fd, 3 * HOLE) && !fstat(fd, &st));
	src = ts_source_from_fd(fd, "holes", &err);
	ck_assert_ptr_nonnull(src);
	return (uint64_t)st.st_blocks * 512 < HOLE; /* this file system has holes */
}

/* The parts from @off on that may hold other bytes than zeros: how long they are together; has one @wanted? */
static uint64_t length_of_data(uint64_t off, uint64_t wanted, bool *has)
{
	uint64_t first, end, len = 0;

	*has = false;
	while (ts_source_next_data(src, off, &first, &end)) {
		ck_assert(first >= off && end > first && end <= ts_source_len(src));
		*has |= first <= wanted && wanted < end;
		len += end - first;
		off = end;
	}
	return len;
}

START_TEST(parts_that_were_never_written_are_no_data)
{
	bool has_holes = open_with_holes(), has;
	uint64_t len = length_of_data(0, HOLE, &has);

	ck_assert(has && (!has_holes || len < HOLE));
	ck_assert_uint_eq(length_of_data(HOLE, HOLE, &has), has_holes ? len : 2 * HOLE);
	ck_assert(has);
	len = length_of_data(2 * HOLE, HOLE, &has);
	ck_assert(!has && (!has_holes || !len));
	ck_assert_uint_eq(length_of_data(3 * HOLE, HOLE, &has), 0);
}
END_TEST

START_TEST(a_part_of_a_file_has_its_holes)
{
	bool has_holes = open_with_holes(), has;
	uint64_t len;

	src = ts_part_open(src, HOLE - 10, 20, "part", &err);
	ck_assert_ptr_nonnull(src);
	len = length_of_data(0, 10, &has);
	ck_assert(has && len == (has_holes ? 10 : 20));
}
END_TEST

START_TEST(of_memory_nobody_knows_what_are_zeros)
{
	bool has;

	src = ts_source_from_memory(data, 10, "ten", &err);
	ck_assert_uint_eq(length_of_data(0, 9, &has), 10);
	ck_assert(has);
	ck_assert_uint_eq(length_of_data(7, 9, &has), 3);
}
END_TEST

UNIT_FIXTURE_SUITE("source", setup, teardown, a_file_is_read_up_to_its_end, memory_is_read_like_a_file,
		   another_source_of_the_same_bytes_outlives_the_first, no_memory_at_all_is_an_empty_source,
		   a_file_that_shrinks_fails_where_it_ends_now, a_file_that_grows_keeps_the_length_it_had,
		   a_file_that_is_written_over_is_not_read_any_more,
		   a_file_that_is_not_there_is_told_in_words, folders_and_pipes_are_no_traces,
		   the_type_of_a_file_is_checked_before_it_is_opened,
		   a_file_beside_another_is_a_plain_name_and_no_link, nothing_lies_beside_memory,
		   parts_that_were_never_written_are_no_data, a_part_of_a_file_has_its_holes,
		   of_memory_nobody_knows_what_are_zeros)
