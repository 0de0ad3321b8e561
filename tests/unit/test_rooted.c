/* SPDX-License-Identifier: MIT */
/*
 * Links beneath a sysroot: followed as the other system would, never out of it.  Both ways of opening agree.
 */
#include "src/source/rooted.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "unit.h"

/* How long links are swapped: a lookup that can be led astray is, within some hundred milliseconds. */
#define SWAPPING_NS INT64_C(1000000000)

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	fclose(f);
}

static void setup(void)
{
	mkdir("root", 0777);
	mkdir("root/usr", 0777);
	mkdir("root/usr/lib", 0777);
	write_file("secret", "outside");
	write_file("root/usr/lib/a.so", "inside");
	write_file("root/b..so", "dots");
	ck_assert_int_eq(symlink("usr/lib", "root/lib"), 0);
	ck_assert_int_eq(symlink("/usr/lib/a.so", "root/absolute"), 0);
	ck_assert_int_eq(symlink("../../secret", "root/usr/up"), 0);
	ck_assert_int_eq(symlink("../../../../secret", "root/usr/lib/far_up"), 0);
	ck_assert_int_eq(symlink("loop", "root/loop"), 0);
	ck_assert_int_eq(symlink("..", "root/out"), 0);
}

static void teardown(void)
{
	ck_assert_int_eq(system("rm -rf root secret"), 0);
}

/* What the file holds, by both ways; "" with errno if it cannot be opened. */
static const char *contents(const char *path)
{
	int (*const ways[])(const char *root, const char *path) = { ts_rooted_open, ts_rooted_open_by_steps };
	static char text[2][32];
	int errors[2];

	for (int i = 0; i < 2; i++) {
		int fd = ways[i]("root", path);
		ssize_t n = fd < 0 ? 0 : read(fd, text[i], sizeof(text[i]) - 1);

		errors[i] = fd < 0 ? errno : 0;
		text[i][n] = '\0';
		if (fd >= 0)
			close(fd);
	}
	ck_assert_str_eq(text[0], text[1]);
	ck_assert_int_eq(errors[0], errors[1]);
	errno = errors[0];
	return text[0];
}

START_TEST(links_are_followed_inside_the_root)
{
	ck_assert_str_eq(contents("/usr/lib/a.so"), "inside");
	ck_assert_str_eq(contents("usr/lib/a.so"), "inside");
	ck_assert_str_eq(contents("/lib/a.so"), "inside");
	ck_assert_str_eq(contents("//lib/.//a.so"), "inside");
	ck_assert_str_eq(contents("/absolute"), "inside");
	ck_assert_str_eq(contents("/b..so"), "dots");
}
END_TEST

START_TEST(nothing_leads_out_of_the_root)
{
	static const char *const paths[] = { "/usr/up", "/usr/lib/far_up", "/../secret", "/usr/../../secret",
					     "/lib/../../secret", "/out/secret", "/out/../secret" };

	for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		ck_assert_str_eq(contents(paths[i]), "");
		ck_assert_int_eq(errno, ENOENT);
	}
}
END_TEST

START_TEST(dot_dot_ends_at_the_root)
{
	ck_assert_str_eq(contents("/../../usr/lib/a.so"), "inside");
	ck_assert_str_eq(contents("/out/usr/lib/a.so"), "inside");
}
END_TEST

START_TEST(a_loop_of_links_is_an_error)
{
	ck_assert_str_eq(contents("/loop"), "");
	ck_assert_int_eq(errno, ELOOP);
}
END_TEST

START_TEST(a_missing_file_is_an_error)
{
	ck_assert_str_eq(contents("/usr/lib/b.so"), "");
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

/* Another process puts the link @link, which leads out, in place of a folder and back, over and over. */
static pid_t start_swapping(const char *folder, const char *link)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
	while (!rename(folder, "aside") && !rename(link, folder) && !rename(folder, link) &&
	       !rename("aside", folder))
		continue;
	_exit(1);
}

START_TEST(a_link_that_comes_meanwhile_does_not_lead_out)
{
	int (*const ways[])(const char *root, const char *path) = { ts_rooted_open, ts_rooted_open_by_steps };
	unsigned n_inside = 0;
	pid_t pid;

	mkdir("outside", 0777);
	write_file("outside/a.so", "outside");
	ck_assert_int_eq(symlink("../../outside", "root/usr/away"), 0);
	pid = start_swapping("root/usr/lib", "root/usr/away");
	for (int64_t end = ts_now_ns() + SWAPPING_NS; ts_now_ns() < end;) {
		for (int i = 0; i < 2; i++) {
			char text[32] = "";
			int fd = ways[i]("root", "/usr/lib/a.so");

			if (fd < 0)
				continue;
			ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
			close(fd);
			ck_assert_str_eq(text, "inside");
			n_inside++;
		}
	}
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0); /* it is still at it */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_uint_gt(n_inside, 0);
	ck_assert_int_eq(system("rm -r outside"), 0);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("rooted");
	TCase *t = tcase_create("rooted");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, links_are_followed_inside_the_root);
	tcase_add_test(t, nothing_leads_out_of_the_root);
	tcase_add_test(t, dot_dot_ends_at_the_root);
	tcase_add_test(t, a_loop_of_links_is_an_error);
	tcase_add_test(t, a_missing_file_is_an_error);
	tcase_add_test(t, a_link_that_comes_meanwhile_does_not_lead_out);
	suite_add_tcase(s, t);
	return s;
}
