/* SPDX-License-Identifier: MIT */
/*
 * Marks are kept in a file beside the trace, by position; a file with any number of them, which comes with a
 * trace, takes no time.
 */
#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/ask/grammar/marks.h"

static struct ts_marks *marks;
static struct ts_error err;

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	ck_assert(f && fputs(text, f) >= 0 && !fclose(f));
}

static void setup(void)
{
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	unlink("trace.tsmarks");
	write_file("trace", "");
	ts_error_reset(&err);
	marks = ts_marks_new("trace");
	ck_assert_ptr_nonnull(marks);
}

static void teardown(void)
{
	ts_marks_free(marks);
}

/* As the file has them, without its head. */
static const char *all(void)
{
	static char text[4096];
	struct ts_buf b;
	size_t n;

	ts_buf_init(&b);
	ck_assert(ts_marks_read(marks, &n, &err));
	ts_marks_put(marks, &b);
	snprintf(text, sizeof(text), "%s", strchr(ts_buf_text(&b), '\n') + 1);
	ts_buf_fini(&b);
	return text;
}

START_TEST(marks_are_by_position_then_name)
{
	ck_assert(ts_marks_set(marks, "c", 7, "text of c", &err));
	ck_assert(ts_marks_set(marks, "b", 9, "", &err));
	ck_assert(ts_marks_set(marks, "a", 7, "", &err));
	ck_assert_str_eq(all(), "7 a\n7 c text of c\n9 b\n");
}
END_TEST

START_TEST(a_mark_is_set_in_place_of_one_of_its_name)
{
	ck_assert(ts_marks_set(marks, "a", 7, "before", &err));
	ck_assert(ts_marks_set(marks, "b", 8, "", &err));
	ck_assert(ts_marks_set(marks, "a", 9, "after", &err));
	ck_assert_str_eq(all(), "8 b\n9 a after\n");
}
END_TEST

START_TEST(of_a_name_that_a_file_has_twice_the_last_one_counts)
{
	bool found;

	write_file("trace.tsmarks", "9 a first\n1 b\n3 a second\n2 b\n5 a third\nno line\n4 in\n");
	ck_assert_str_eq(all(), "2 b\n5 a third\n");
	ck_assert(ts_marks_set(marks, "b", 1, "", &err));
	ck_assert_str_eq(all(), "1 b\n5 a third\n");
	ck_assert(ts_marks_remove(marks, "a", &found, &err) && found);
	ck_assert(ts_marks_remove(marks, "a", &found, &err) && !found);
	ck_assert_str_eq(all(), "1 b\n");
}
END_TEST

START_TEST(a_new_name_has_the_lowest_number_that_is_free)
{
	unsigned number;

	write_file("trace.tsmarks", "1 p-1\n1 p-3\n1 p-4x\n1 p-02\n1 q-2\n1 p-99999999999999999999\n");
	ck_assert(ts_marks_add(marks, "p-", 5, "", &number, &err));
	ck_assert_uint_eq(number, 2);
	ck_assert(ts_marks_add(marks, "p-", 5, "", &number, &err));
	ck_assert_uint_eq(number, 4);
	ck_assert(ts_marks_add(marks, "r-", 5, "", &number, &err));
	ck_assert_uint_eq(number, 1);
}
END_TEST

START_TEST(marks_that_come_along_are_taken_once)
{
	ck_assert(ts_marks_adopt(marks, "# tracestub marks\n3 b\n1 a text\n", &err));
	ck_assert_str_eq(all(), "1 a text\n3 b\n");
	ck_assert(ts_marks_adopt(marks, "5 c\n", &err));
	ck_assert_str_eq(all(), "1 a text\n3 b\n");
}
END_TEST

/* Each was compared with all before it: minutes, in which a server does nothing else. */
START_TEST(more_than_there_may_be_are_ignored_in_a_file_and_refused_else)
{
	FILE *f = fopen("trace.tsmarks", "w");
	unsigned number;
	uint64_t pos;
	size_t n;

	for (unsigned i = 0; i < 200000; i++)
		fprintf(f, "%u m%u\n", 200000 - i, i);
	ck_assert(!fclose(f));
	ck_assert(ts_marks_read(marks, &n, &err));
	ck_assert_uint_eq(n, TS_MAX_MARKS);
	ck_assert_str_eq(ts_marks_get(marks, n - 1).name, "m0");
	ck_assert(!ts_marks_set(marks, "new", 1, "", &err));
	ck_assert_int_eq(err.code, TS_ELIMIT);
	ts_error_reset(&err);
	ck_assert(!ts_marks_add(marks, "new-", 1, "", &number, &err));
	ck_assert_int_eq(err.code, TS_ELIMIT);
	ts_error_reset(&err);
	ck_assert(ts_marks_set(marks, "m5", 12, "", &err));
	ck_assert_int_eq(ts_marks_find(marks, "m5", 2, &pos, &err), TS_ITEM);
	ck_assert_uint_eq(pos, 12);
}
END_TEST

START_TEST(a_name_that_leaves_no_room_for_the_lock_is_refused)
{
	static const char suffix[] = "trace.tsmarks";
	char path[PATH_MAX];
	size_t len = 0;
	struct ts_marks *deep;

	while (len + 2 + strlen(suffix) + strlen(".lock") < PATH_MAX + 1) {
		memcpy(path + len, "./", 2);
		len += 2;
	}
	strcpy(path + len, "trace");
	deep = ts_marks_new(path);
	ck_assert_ptr_nonnull(deep);
	ck_assert(!ts_marks_set(deep, "a", 7, "", &err));
	ck_assert_ptr_nonnull(strstr(err.text, "the name of the marks' file is too long"));
	ts_marks_free(deep);
}
END_TEST

UNIT_FIXTURE_SUITE("marks", setup, teardown, marks_are_by_position_then_name,
		   a_mark_is_set_in_place_of_one_of_its_name,
		   of_a_name_that_a_file_has_twice_the_last_one_counts,
		   a_name_that_leaves_no_room_for_the_lock_is_refused, a_new_name_has_the_lowest_number_that_is_free, marks_that_come_along_are_taken_once,
		   more_than_there_may_be_are_ignored_in_a_file_and_refused_else)
