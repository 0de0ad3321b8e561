/* SPDX-License-Identifier: MIT */
/*
 * An error keeps its first sentence, takes prefixes, and is shown with file and offset.
 */
#include "unit.h"

#include "src/base/error.h"

#include <errno.h>
#include <string.h>

static struct ts_error err;
static char text[600];

static void setup(void)
{
	ts_error_reset(&err);
}

START_TEST(the_first_failure_stays)
{
	ck_assert(!ts_fail(&err, TS_ECORRUPT, 0x40, "length %d", 7));
	ck_assert(!ts_fail(&err, TS_EIO, 9, "later"));
	ck_assert_int_eq(err.code, TS_ECORRUPT);
	ck_assert_uint_eq(err.off, 0x40);
	ck_assert_str_eq(err.text, "length 7");
	ts_error_reset(&err);
	ts_fail(&err, TS_EIO, 9, "later");
	ck_assert_str_eq(err.text, "later");
}
END_TEST

START_TEST(prefixes_stand_before_the_sentence)
{
	ts_fail(&err, TS_ECORRUPT, TS_NO_OFF, "length 7");
	ck_assert(!ts_fail_prefix(&err, "frame %d", 3));
	ck_assert(!ts_fail_prefix(&err, "bap"));
	ck_assert_str_eq(err.text, "bap: frame 3: length 7");
	ck_assert_int_eq(err.code, TS_ECORRUPT);
}
END_TEST

START_TEST(errno_is_told_in_words_and_lack_of_memory_is_its_own_code)
{
	errno = ENOENT;
	ck_assert(!ts_fail_errno(&err, "cannot open %s", "it"));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_str_eq(err.text, "cannot open it: No such file or directory");
	ts_error_reset(&err);
	errno = ENOMEM;
	ts_fail_errno(&err, "cannot open it");
	ck_assert_int_eq(err.code, TS_ENOMEM);
}
END_TEST

START_TEST(a_sentence_too_long_is_truncated_and_terminated)
{
	ts_fail(&err, TS_EIO, TS_NO_OFF, "%0900d", 1);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	ts_fail_prefix(&err, "prefix");
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	ck_assert_int_eq(err.text[0], '0');
}
END_TEST

START_TEST(a_prefix_too_long_is_truncated_and_the_sentence_stays)
{
	ts_fail(&err, TS_EIO, TS_NO_OFF, "the root cause");
	ts_fail_prefix(&err, "%0300d", 2);
	ck_assert_uint_eq(strlen(err.text), 300 + strlen(": the root cause"));
	ts_fail_prefix(&err, "%0900d", 3);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	ck_assert_str_eq(strrchr(err.text, ':'), ": the root cause");
	ck_assert_int_eq(err.text[0], '0');
	ts_fail_prefix(&err, "one more");
	ck_assert_str_eq(strrchr(err.text, ':'), ": the root cause");
}
END_TEST

START_TEST(what_is_quoted_of_a_trace_does_not_reach_the_terminal_as_control_characters)
{
	ts_fail(&err, TS_ECORRUPT, TS_NO_OFF, "architecture \"%s\"", "x\n\033[31m\177\303\244");
	ts_fail_prefix(&err, "thread \"%s\"", "a\rb");
	ck_assert_str_eq(err.text, "thread \"a?b\": architecture \"x??[31m?\303\244\"");
}
END_TEST

START_TEST(an_error_is_shown_with_file_and_offset_where_it_has_them)
{
	ts_fail(&err, TS_ECORRUPT, 0x1f40, "length 7");
	ts_error_format(&err, "run.frames", text, sizeof(text));
	ck_assert_str_eq(text, "run.frames:0x1f40: length 7");
	ts_error_format(&err, NULL, text, sizeof(text));
	ck_assert_str_eq(text, "0x1f40: length 7");
	err.off = TS_NO_OFF;
	ts_error_format(&err, "run.frames", text, sizeof(text));
	ck_assert_str_eq(text, "run.frames: length 7");
	ts_error_format(&err, NULL, text, sizeof(text));
	ck_assert_str_eq(text, "length 7");
	ts_error_format(&err, "run.frames", text, 8);
	ck_assert_str_eq(text, "run.fra");
}
END_TEST

UNIT_FIXTURE_SUITE("error", setup, NULL, the_first_failure_stays, prefixes_stand_before_the_sentence,
		   errno_is_told_in_words_and_lack_of_memory_is_its_own_code,
		   a_sentence_too_long_is_truncated_and_terminated,
		   a_prefix_too_long_is_truncated_and_the_sentence_stays,
		   what_is_quoted_of_a_trace_does_not_reach_the_terminal_as_control_characters,
		   an_error_is_shown_with_file_and_offset_where_it_has_them)
