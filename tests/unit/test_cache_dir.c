/* SPDX-License-Identifier: MIT */
/*
 * The cache directory is where the environment says, and files of one kind go by their last use when they are
 * too many.
 */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/cache_dir.h"

START_TEST(it_is_where_the_environment_says)
{
	char dir[PATH_MAX];

	setenv("HOME", "/home/me", 1);
	setenv("XDG_CACHE_HOME", "/var/cache/me", 1);
	ck_assert(ts_cache_dir(dir));
	ck_assert_str_eq(dir, "/var/cache/me/tracestub");
	setenv("XDG_CACHE_HOME", "not/absolute", 1);
	ck_assert(ts_cache_dir(dir));
	ck_assert_str_eq(dir, "/home/me/.cache/tracestub");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	ck_assert(!ts_cache_dir(dir));
}
END_TEST

START_TEST(it_is_made_with_its_parents)
{
	struct stat st;

	ts_cache_dir_make("a/b/c");
	ck_assert(!stat("a/b/c", &st) && S_ISDIR(st.st_mode));
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
}
END_TEST

/* A file of @len bytes that was used at @time. */
static void make(const char *name, off_t len, time_t time)
{
	const struct timespec times[2] = { { .tv_sec = time }, { .tv_sec = time } };
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert(fd >= 0 && !ftruncate(fd, len) && !futimens(fd, times) && !close(fd));
}

/* Which of the files are there: a letter each. */
static const char *left(void)
{
	static char text[8];
	size_t n = 0;

	for (const char *c = "abcd"; *c; c++) {
		char name[32];

		snprintf(name, sizeof(name), "cache/%c.program", *c);
		if (!access(name, F_OK))
			text[n++] = *c;
	}
	text[n] = 0;
	return text;
}

static void setup(void)
{
	mkdir("cache", 0700);
	make("cache/a.program", 100, 4000);
	make("cache/b.program", 100, 1000);
	make("cache/c.program", 100, 3000);
	make("cache/d.program", 100, 2000);
	make("cache/other.unpacked", 5000, 10);
	make("cache/.program", 5000, 10); /* not a name and a suffix */
}

START_TEST(files_go_by_their_last_use_until_the_rest_fits)
{
	ts_cache_dir_bound("cache", ".program", 400);
	ck_assert_str_eq(left(), "abcd");
	ts_cache_dir_bound("cache", ".program", 399);
	ck_assert_str_eq(left(), "acd");
	ts_cache_dir_bound("cache", ".program", 200);
	ck_assert_str_eq(left(), "ac");
	ts_cache_dir_bound("cache", ".program", 0);
	ck_assert_str_eq(left(), "a"); /* the one that was used last stays */
	ck_assert(!access("cache/other.unpacked", F_OK) && !access("cache/.program", F_OK));
}
END_TEST

START_TEST(what_is_not_a_file_is_left_alone)
{
	unlink("cache/b.program");
	mkdir("cache/b.program", 0700);
	unlink("cache/d.program");
	ck_assert_int_eq(symlink("other.unpacked", "cache/d.program"), 0);
	ts_cache_dir_bound("cache", ".program", 0);
	ck_assert_str_eq(left(), "abd");
	ts_cache_dir_bound("absent", ".program", 0);
	rmdir("cache/b.program");
	unlink("cache/d.program");
}
END_TEST

UNIT_FIXTURE_SUITE("cache_dir", setup, NULL, it_is_where_the_environment_says, it_is_made_with_its_parents,
		   files_go_by_their_last_use_until_the_rest_fits, what_is_not_a_file_is_left_alone)
