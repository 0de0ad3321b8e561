/* SPDX-License-Identifier: MIT */
/*
 * Levels by name and by order, and the form of a line on stderr.
 */
#include "unit.h"

#include "src/base/log.h"

#include <stdio.h>
#include <string.h>

START_TEST(every_level_has_a_name)
{
	static const char *const names[] = { "error", "warn", "info", "debug", "trace" };

	for (int i = TS_LOG_ERROR; i <= TS_LOG_TRACE; i++) {
		enum ts_level level = TS_LOG_ERROR;

		ck_assert(ts_log_parse_level(names[i], &level));
		ck_assert_int_eq(level, i);
	}
}
END_TEST

START_TEST(unknown_name_leaves_the_level)
{
	enum ts_level level = TS_LOG_DEBUG;

	ck_assert(!ts_log_parse_level("loud", &level));
	ck_assert(!ts_log_parse_level("", &level));
	ck_assert_int_eq(level, TS_LOG_DEBUG);
}
END_TEST

START_TEST(a_line_goes_to_stderr_only_when_its_level_is_on)
{
	char text[256] = "";
	FILE *file = freopen("stderr.txt", "w+", stderr);

	ck_assert_ptr_nonnull(file);
	ts_log_set_level(TS_LOG_WARN);
	ts_log(TS_LOG_INFO, "not shown");
	ts_log(TS_LOG_WARN, "chunk %d is odd", 7);
	ts_log(TS_LOG_ERROR, "%s is a name", "\x1b[2J\xc2\x9b\n");
	rewind(file);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	ck_assert_int_eq(strncmp(text, "tracestub: ", 11), 0);
	ck_assert_ptr_nonnull(strstr(text, "chunk 7 is odd\n"));
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	ck_assert_ptr_nonnull(strstr(text, "?[2J??? is a name\n"));
	ck_assert_ptr_null(fgets(text, sizeof(text), file));
}
END_TEST

UNIT_SUITE("log", every_level_has_a_name, unknown_name_leaves_the_level,
	   a_line_goes_to_stderr_only_when_its_level_is_on)
