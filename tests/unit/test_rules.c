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

static void allows(const char *path, enum ts_use use)
{
	ck_assert_msg(ts_sandbox_find_rule(&rules, path, use) != NULL, "%s", path);
}

static void forbids(const char *path, enum ts_use use)
{
	ck_assert_msg(ts_sandbox_find_rule(&rules, path, use) == NULL, "%s", path);
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
	allows(in_dir("t.log"), TS_USE_READ);
	forbids(in_dir("t.log"), TS_USE_WRITE);
	forbids(in_dir("t.log.part"), TS_USE_READ);
	forbids(dir, TS_USE_FOLDER);
}
END_TEST

START_TEST(a_file_to_write_has_names_aside)
{
	ts_sandbox_allow(&rules, TS_RULE_BESIDE, in_dir("t.tsindex"));
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
	allows(in_dir("nowhere/t.tf.aZ09bc"), TS_USE_WRITE);
	forbids(in_dir("./nowhere/t.tf.aZ09bc"), TS_USE_WRITE);
	forbids(in_dir("elsewhere/t.tf.aZ09bc"), TS_USE_WRITE);
	forbids(in_dir("nowhere/other"), TS_USE_WRITE);
}
END_TEST

START_TEST(a_folder_allows_the_files_directly_in_it)
{
	ts_sandbox_allow(&rules, TS_RULE_FOLDER, dir);
	allows(in_dir("x"), TS_USE_READ);
	allows(in_dir("x"), TS_USE_WRITE);
	allows(dir, TS_USE_FOLDER);
	allows(dir, TS_USE_UNNAMED);
	allows(dir, TS_USE_MKDIR);
	allows("/tmp", TS_USE_MKDIR);
	forbids("/tm", TS_USE_MKDIR);
	forbids(in_dir("sub/x"), TS_USE_READ);
	forbids(in_dir("sub/.."), TS_USE_WRITE);
	forbids(in_dir(".."), TS_USE_READ);
	forbids(in_dir("../x"), TS_USE_WRITE);
	forbids(in_dir("sub"), TS_USE_MKDIR);
}
END_TEST

START_TEST(a_link_in_the_middle_leads_where_it_leads)
{
	ck_assert_int_eq(symlink("/etc", in_dir("link")), 0);
	ts_sandbox_allow(&rules, TS_RULE_FOLDER, dir);
	forbids(in_dir("link/passwd"), TS_USE_READ);
}
END_TEST

START_TEST(a_temporary_folder_gives_no_names)
{
	ts_sandbox_allow(&rules, TS_RULE_TEMPORARY, dir);
	allows(dir, TS_USE_UNNAMED);
	allows(in_dir("unpacking-aBc123"), TS_USE_WRITE);
	forbids(in_dir("unpacking-aBc12"), TS_USE_WRITE);
	forbids(in_dir("x"), TS_USE_READ);
	forbids(in_dir("x"), TS_USE_WRITE);
	forbids(dir, TS_USE_FOLDER);
}
END_TEST

START_TEST(a_root_and_images_are_for_reading)
{
	const struct ts_rule root = { TS_RULE_ROOT, (char *)"/r/" };

	ts_sandbox_allow(&rules, TS_RULE_ROOT, dir);
	allows(in_dir("usr/lib/x.so"), TS_USE_READ);
	allows(dir, TS_USE_FOLDER);
	forbids(in_dir("usr/lib/x.so"), TS_USE_WRITE);
	forbids("/usr/lib/x.so", TS_USE_READ);
	ts_sandbox_allow(&rules, TS_RULE_IMAGES, NULL);
	allows("/usr/lib/x.so", TS_USE_READ);
	forbids("x.so", TS_USE_READ);
	forbids("/usr/lib/x.so", TS_USE_WRITE);
	ck_assert_str_eq(ts_sandbox_below(&root, "/r/lib/x.so"), "/lib/x.so");
	ck_assert_ptr_null(ts_sandbox_below(&root, "/root/x.so"));
}
END_TEST

UNIT_FIXTURE_SUITE("rules", make_dir, remove_dir, without_rules_nothing_is_allowed,
		   a_file_to_read_is_that_file_by_any_name, a_file_that_nobody_named_is_read_only,
		   a_file_to_write_has_names_aside, a_folder_that_is_not_there_is_only_what_it_is_called,
		   a_folder_allows_the_files_directly_in_it,
		   a_link_in_the_middle_leads_where_it_leads, a_temporary_folder_gives_no_names,
		   a_root_and_images_are_for_reading)
