/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/sandbox/rules.h"

static struct ts_sandbox_rules rules;
static char dir[64];

static const char *in_dir(const char *name)
{
	static char paths[4][160];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static void make_dir(void)
{
	strcpy(dir, "/tmp/test-rules-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(mkdir(in_dir("sub"), 0700), 0);
}

static void remove_dir(void)
{
	ts_sandbox_rules_fini(&rules);
	unlink(in_dir("link"));
	rmdir(in_dir("sub"));
	rmdir(dir);
}

static void open_rules(void)
{
	ck_assert(ts_sandbox_rules_open(&rules));
}

static bool is_allowed(const char *path, enum ts_use use)
{
	struct ts_place place = { .dir = -1 };
	bool found;

	ck_assert_uint_lt(strlen(path), sizeof(place.path));
	strcpy(place.path, path);
	ts_place_open(&place, AT_FDCWD, ts_use_is_of_folder(use));
	found = ts_sandbox_find_rule(&rules, &place, use) != NULL;
	ts_place_close(&place);
	return found;
}

static void allows(const char *path, enum ts_use use)
{
	ck_assert_msg(is_allowed(path, use), "%s", path);
}

static void forbids(const char *path, enum ts_use use)
{
	ck_assert_msg(!is_allowed(path, use), "%s", path);
}

START_TEST(without_rules_nothing_is_allowed)
{
	forbids("/etc/passwd", TS_USE_READ);
	forbids("", TS_USE_READ);
	forbids("/", TS_USE_FOLDER);
	forbids("/tmp", TS_USE_UNNAMED);
}
END_TEST

START_TEST(a_file_to_read_is_that_file_by_any_name)
{
	ts_sandbox_allow(&rules, TS_RULE_READ, in_dir("trace"));
	ts_sandbox_allow(&rules, TS_RULE_READ, NULL);
	open_rules();
	allows(in_dir("trace"), TS_USE_READ);
	allows(in_dir("./trace"), TS_USE_READ);
	allows(in_dir("sub/../trace"), TS_USE_READ);
	forbids(in_dir("trace"), TS_USE_WRITE);
	forbids(in_dir("trace2"), TS_USE_READ);
	forbids(in_dir("trac"), TS_USE_READ);
	forbids(in_dir("sub/trace"), TS_USE_READ);
	forbids(in_dir("trace.part"), TS_USE_READ);
	forbids(in_dir("nowhere/trace"), TS_USE_READ);
}
END_TEST

START_TEST(a_file_that_nobody_named_is_read_only)
{
	ts_sandbox_allow(&rules, TS_RULE_SEE, in_dir("t.log"));
	open_rules();
	allows(in_dir("t.log"), TS_USE_READ);
	forbids(in_dir("t.log"), TS_USE_WRITE);
	forbids(in_dir("t.log.part"), TS_USE_READ);
	forbids(dir, TS_USE_FOLDER);
}
END_TEST

START_TEST(a_file_to_write_has_names_aside)
{
	ts_sandbox_allow(&rules, TS_RULE_BESIDE, in_dir("t.tsindex"));
	open_rules();
	allows(in_dir("t.tsindex"), TS_USE_WRITE);
	allows(in_dir("t.tsindex"), TS_USE_READ);
	allows(in_dir("t.tsindex.part"), TS_USE_WRITE);
	allows(in_dir("t.tsindex.lock"), TS_USE_WRITE);
	allows(in_dir("t.tsindex.aZ09bc"), TS_USE_WRITE);
	allows(in_dir("t.tsindex-0123abcd"), TS_USE_WRITE);
	allows(in_dir("t.tsindex-0123abcd.part"), TS_USE_WRITE);
	allows(dir, TS_USE_FOLDER);
	forbids(in_dir("sub"), TS_USE_FOLDER);
	forbids(in_dir("t.tsindex.aZ09b"), TS_USE_WRITE);
	forbids(in_dir("t.tsindex.aZ09bcd"), TS_USE_WRITE);
	forbids(in_dir("t.tsindex.aZ/9bc"), TS_USE_WRITE);
	forbids(in_dir("t.tsindex-0123abc"), TS_USE_WRITE);
	forbids(in_dir("t.tsindex-0123abcdx"), TS_USE_WRITE);
	forbids(in_dir("t"), TS_USE_READ);
	forbids(dir, TS_USE_UNNAMED);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_only_what_it_is_called)
{
	ts_sandbox_allow(&rules, TS_RULE_WRITE, in_dir("nowhere/t.tf"));
	open_rules();
	allows(in_dir("nowhere/t.tf.aZ09bc"), TS_USE_WRITE);
	forbids(in_dir("./nowhere/t.tf.aZ09bc"), TS_USE_WRITE);
	forbids(in_dir("elsewhere/t.tf.aZ09bc"), TS_USE_WRITE);
	forbids(in_dir("nowhere/other"), TS_USE_WRITE);
}
END_TEST

START_TEST(a_folder_allows_the_files_directly_in_it)
{
	ts_sandbox_allow(&rules, TS_RULE_FOLDER, dir);
	open_rules();
	allows(in_dir("x"), TS_USE_READ);
	allows(in_dir("x"), TS_USE_WRITE);
	allows(dir, TS_USE_FOLDER);
	allows(dir, TS_USE_UNNAMED);
	allows(in_dir("x"), TS_USE_CREATE);
	allows(in_dir("x"), TS_USE_REMOVE);
	forbids(in_dir(".x"), TS_USE_CREATE);
	forbids(in_dir(".x"), TS_USE_READ);
	forbids(in_dir("sub/x"), TS_USE_READ);
	forbids(in_dir("sub/.."), TS_USE_WRITE);
	forbids(in_dir(".."), TS_USE_READ);
	forbids(in_dir("../x"), TS_USE_WRITE);
	forbids("/tmp", TS_USE_FOLDER);
}
END_TEST

START_TEST(a_link_in_the_middle_leads_where_it_leads)
{
	ck_assert_int_eq(symlink("/etc", in_dir("link")), 0);
	ts_sandbox_allow(&rules, TS_RULE_FOLDER, dir);
	open_rules();
	forbids(in_dir("link/passwd"), TS_USE_READ);
}
END_TEST

START_TEST(a_temporary_folder_gives_no_names)
{
	ts_sandbox_allow(&rules, TS_RULE_TEMPORARY, dir);
	open_rules();
	allows(dir, TS_USE_UNNAMED);
	allows(in_dir("unpacking-aBc123"), TS_USE_CREATE);
	allows(in_dir("unpacking-aBc123"), TS_USE_REMOVE);
	forbids(in_dir("unpacking-aBc123"), TS_USE_WRITE); /* another process's */
	forbids(in_dir("unpacking-aBc123"), TS_USE_READ);
	forbids(in_dir("unpacking-aBc12"), TS_USE_CREATE);
	forbids(in_dir("x"), TS_USE_READ);
	forbids(in_dir("x"), TS_USE_WRITE);
	forbids(dir, TS_USE_FOLDER);
}
END_TEST

START_TEST(kept_files_are_those_of_one_prefix)
{
	ts_sandbox_allow(&rules, TS_RULE_KEPT, in_dir("0123-"));
	ts_sandbox_allow(&rules, TS_RULE_SPARE, in_dir(".unpacked"));
	open_rules();
	allows(in_dir("0123-45.unpacked"), TS_USE_CREATE);
	allows(in_dir("0123-45.unpacked"), TS_USE_READ);
	allows(in_dir("0123-45.unpacked.77"), TS_USE_WRITE);
	forbids(in_dir("0124-45.unpacked"), TS_USE_READ);
	forbids(in_dir("0124-45.unpacked"), TS_USE_WRITE);
	forbids(in_dir("0124-45.unpacked"), TS_USE_CREATE);
	forbids(in_dir("key"), TS_USE_READ);
	forbids(in_dir("key"), TS_USE_REMOVE);
	forbids(in_dir(".unpacked"), TS_USE_REMOVE);
	allows(in_dir("0124-45.unpacked"), TS_USE_REMOVE); /* the oldest go */
	allows(dir, TS_USE_FOLDER);
}
END_TEST

START_TEST(a_socket_is_removed_and_not_written)
{
	ts_sandbox_allow(&rules, TS_RULE_REMOVE, in_dir("socket"));
	open_rules();
	allows(in_dir("socket"), TS_USE_REMOVE);
	forbids(in_dir("socket"), TS_USE_WRITE);
	forbids(in_dir("socket"), TS_USE_READ);
	forbids(in_dir("socket.part"), TS_USE_REMOVE);
}
END_TEST

/* What another process puts in place of a folder afterwards is not the folder that was allowed. */
START_TEST(a_folder_is_what_it_was_when_it_was_opened)
{
	ts_sandbox_allow(&rules, TS_RULE_FOLDER, in_dir("sub"));
	open_rules();
	allows(in_dir("sub/x"), TS_USE_WRITE);
	ck_assert_int_eq(rename(in_dir("sub"), in_dir("moved")), 0);
	ck_assert_int_eq(symlink("/etc", in_dir("sub")), 0);
	forbids(in_dir("sub/x"), TS_USE_WRITE);
	allows(in_dir("moved/x"), TS_USE_WRITE);
	ck_assert_int_eq(unlink(in_dir("sub")), 0);
	ck_assert_int_eq(rename(in_dir("moved"), in_dir("sub")), 0);
}
END_TEST

START_TEST(names_of_descriptors_are_no_names)
{
	char path[64];
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	ts_sandbox_allow(&rules, TS_RULE_FOLDER, dir);
	open_rules();
	snprintf(path, sizeof(path), "/proc/self/fd/%d/x", fd);
	forbids(path, TS_USE_WRITE);
	snprintf(path, sizeof(path), "/proc/%ld/root%s/x", (long)getpid(), dir);
	forbids(path, TS_USE_WRITE);
	forbids("/proc/self/fd", TS_USE_FOLDER);
	close(fd);
}
END_TEST

START_TEST(a_root_and_images_are_for_reading)
{
	const struct ts_rule root = { .kind = TS_RULE_ROOT, .path = (char *)"/r/" };
	const struct ts_place inside = { .path = "/r/lib/x.so", .dir = -1 }, outside = { .path = "/root/x.so", .dir = -1 };

	ts_sandbox_allow(&rules, TS_RULE_ROOT, dir);
	open_rules();
	allows(in_dir("usr/lib/x.so"), TS_USE_READ);
	allows(dir, TS_USE_FOLDER);
	forbids(in_dir("usr/lib/x.so"), TS_USE_WRITE);
	forbids("/usr/lib/x.so", TS_USE_READ);
	ts_sandbox_allow(&rules, TS_RULE_IMAGES, NULL);
	open_rules();
	allows("/usr/lib/x.so", TS_USE_READ);
	forbids("x.so", TS_USE_READ);
	forbids("/usr/lib/x.so", TS_USE_WRITE);
	ck_assert_str_eq(ts_sandbox_below(&root, &inside), "/lib/x.so");
	ck_assert_ptr_null(ts_sandbox_below(&root, &outside));
}
END_TEST

UNIT_FIXTURE_SUITE("rules", make_dir, remove_dir, without_rules_nothing_is_allowed,
		   a_file_to_read_is_that_file_by_any_name, a_file_that_nobody_named_is_read_only,
		   a_file_to_write_has_names_aside, a_folder_that_is_not_there_is_only_what_it_is_called,
		   a_folder_allows_the_files_directly_in_it,
		   a_link_in_the_middle_leads_where_it_leads, a_temporary_folder_gives_no_names,
		   kept_files_are_those_of_one_prefix, a_socket_is_removed_and_not_written,
		   a_folder_is_what_it_was_when_it_was_opened, names_of_descriptors_are_no_names,
		   a_root_and_images_are_for_reading)
