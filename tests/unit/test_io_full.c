/* SPDX-License-Identifier: MIT */
/*
 * Calls that are interrupted, or do a part, are made again; what fails is told.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/io_full.h"

static const char text[] = "all of these bytes, in this order";
static unsigned n_calls;
static int fd;

/* Every second call is interrupted, the others do at most 3 bytes. */
static ssize_t some(long nr, int file, void *buf, size_t len, off_t off)
{
	if (n_calls++ % 2 == 0) {
		errno = EINTR;
		return -1;
	}
	return syscall(nr, file, buf, len < 3 ? len : 3, off);
}

ssize_t pread(int file, void *buf, size_t len, off_t off)
{
	return some(SYS_pread64, file, buf, len, off);
}

ssize_t write(int file, const void *buf, size_t len)
{
	return some(SYS_write, file, (void *)buf, len, 0);
}

ssize_t pwrite(int file, const void *buf, size_t len, off_t off)
{
	return some(SYS_pwrite64, file, (void *)buf, len, off);
}

static void setup(void)
{
	n_calls = 0;
	fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(fd, 0);
}

static void teardown(void)
{
	close(fd);
}

static void check_file(off_t off)
{
	char got[sizeof(text)] = "";

	ck_assert_int_eq(syscall(SYS_pread64, fd, got, sizeof(text), off), sizeof(text));
	ck_assert_mem_eq(got, text, sizeof(text));
}

START_TEST(all_is_written)
{
	ck_assert(ts_write_whole(fd, text, sizeof(text)));
	check_file(0);
	ck_assert(ts_write_whole_at(fd, text, sizeof(text), 100));
	check_file(100);
	ck_assert_uint_gt(n_calls, 2 * sizeof(text) / 3);
}
END_TEST

START_TEST(all_is_read_up_to_the_end)
{
	char got[sizeof(text) + 10];

	ck_assert_int_eq(syscall(SYS_write, fd, text, sizeof(text)), sizeof(text));
	ck_assert_int_eq(ts_read_whole(fd, got, sizeof(text), 0), sizeof(text));
	ck_assert_mem_eq(got, text, sizeof(text));
	ck_assert_int_eq(ts_read_whole(fd, got, sizeof(got), 4), sizeof(text) - 4);
	ck_assert_mem_eq(got, text + 4, sizeof(text) - 4);
	errno = 0;
	ck_assert_int_eq(ts_read_whole(fd, got, sizeof(got), 1000), 0);
	ck_assert_int_eq(errno, 0);
}
END_TEST

START_TEST(a_failure_has_its_number)
{
	char byte;

	ck_assert_int_eq(ts_read_whole(-1, &byte, 1, 0), -1);
	ck_assert_int_eq(errno, EBADF);
	ck_assert(!ts_write_whole(-1, "a", 1));
	ck_assert_int_eq(errno, EBADF);
	ck_assert(!ts_write_whole_at(-1, "a", 1, 0));
	ck_assert_int_eq(errno, EBADF);
	ck_assert(ts_write_whole(-1, "", 0));
}
END_TEST

UNIT_FIXTURE_SUITE("whole", setup, teardown, all_is_written, all_is_read_up_to_the_end,
		   a_failure_has_its_number)
