/* SPDX-License-Identifier: MIT */
/*
 * An answer is printed in slices, however many of its rows wait for the last one.
 *
 * Text waits until the widths of its columns are known, and `last N` until the search is over.
 */
#include "unit.h"

#include "ask_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More rows than text waits for, and than are printed in a few slices. */
#define N_STEPS 70000u

#define MAX_LINES 1500u /* of a slice: 16 rows a chunk that is decoded, of which each prints up to four that wait */

static struct script *s;
static struct ask_text a;

static void setup(void)
{
	s = script_new("x86_64", 1, NULL);
	ck_assert_ptr_nonnull(s);
	for (unsigned i = 0; i < N_STEPS; i++)
		ts_steps_close(&s->steps, 0x401000 + 4 * (i % 100), 4, 0);
	ask_text_init(&a, &s->rec);
}

static void teardown(void)
{
	ask_text_fini(&a);
	script_free(s);
}

static struct ts_answer *begin(enum ts_form_kind form, const char *question)
{
	struct ts_answer *answer = ts_answer_new(&a.ask, question, form, &a.err);

	ck_assert_msg(answer != NULL, "%s: %s", question, a.err.text);
	ts_buf_reset(&a.out);
	ts_buf_reset(&a.end);
	return answer;
}

static size_t count_lines(size_t from)
{
	size_t n = 0;

	for (size_t i = from; i < a.out.len; i++)
		n += a.out.data[i] == '\n';
	return n;
}

/* Go on until the answer is over, or has @n_lines.  No slice prints very many. */
static enum ts_next drive(struct ts_answer *answer, size_t n_lines)
{
	enum ts_next got = TS_MORE;

	while (got == TS_MORE && count_lines(0) < n_lines) {
		size_t before = a.out.len;

		got = ts_answer_run(answer, 16, &a.out, &a.end, &a.err);
		ck_assert_uint_le(count_lines(before), MAX_LINES);
	}
	return got;
}

/* Rows are numbered, and lie at ascending positions: each one is printed once, in its place. */
static void check_rows(uint64_t n, uint64_t first_pos)
{
	const char *line = strchr(ts_buf_text(&a.out), '\n') + 1; /* after the names of the columns */

	for (uint64_t i = 0; i < n; i++) {
		char *end;

		ck_assert_uint_eq(strtoull(line, &end, 10), i + 1);
		ck_assert_uint_eq(strtoull(end, &end, 10), first_pos + i);
		line = strchr(end, '\n') + 1;
	}
	ck_assert_int_eq(*line, 0);
}

START_TEST(rows_that_wait_are_printed_in_slices)
{
	static const uint64_t lens[] = { 1, 255, 256, 257, 10000, 65535, 65536, 65537, N_STEPS };

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		char question[80];
		struct ts_answer *answer;

		snprintf(question, sizeof(question), "executions 0x401000:0x401190 in :%" PRIu64, lens[i]);
		answer = begin(TS_FORM_TEXT, question);
		ck_assert_int_eq(drive(answer, SIZE_MAX), TS_END);
		check_rows(lens[i], 0);
		ts_answer_free(answer);
	}
}
END_TEST

START_TEST(rows_that_last_keeps_are_printed_in_slices)
{
	struct ts_answer *answer = begin(TS_FORM_TEXT, "executions 0x401000:0x401190 last 9000");

	ck_assert_int_eq(drive(answer, SIZE_MAX), TS_END);
	check_rows(9000, N_STEPS - 9000);
	ck_assert_str_eq(ts_buf_text(&a.end), "last 9,000 rows of 70,000\n");
	ts_answer_free(answer);
}
END_TEST

/* ^C while those of `last N` are printed: the rest is left out, and the end says that. */
START_TEST(what_last_keeps_is_no_longer_printed_when_it_is_stopped)
{
	struct ts_answer *answer = begin(TS_FORM_TSV, "executions 0x401000:0x401190 last 9000");

	ck_assert_int_eq(drive(answer, 1000), TS_MORE);
	ts_answer_stop(answer);
	ts_answer_stop(answer); /* again: nothing else happens */
	ck_assert_int_eq(drive(answer, SIZE_MAX), TS_END);
	ck_assert_uint_lt(count_lines(0), 3000);
	ck_assert_uint_eq(count_lines(0), ts_answer_n_rows(answer) + 1);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.end), "stopped by ^C at position "));
	ts_answer_free(answer);
}
END_TEST

/* ^C after the last row was found leaves nothing out, so the answer is complete. */
START_TEST(an_answer_of_which_all_rows_were_found_is_complete)
{
	struct ts_answer *answer = begin(TS_FORM_TEXT, "executions 0x401000:0x401190 in :5000");

	ck_assert_int_eq(drive(answer, 1), TS_MORE); /* printing has begun */
	ts_answer_stop(answer);
	ck_assert_int_eq(drive(answer, SIZE_MAX), TS_END);
	check_rows(5000, 0);
	ck_assert_str_eq(ts_buf_text(&a.end), "5,000 rows\n");
	ts_answer_free(answer);
}
END_TEST

/* ^C while they are looked for: those that were found are printed. */
START_TEST(what_was_found_before_it_was_stopped_is_printed)
{
	static const char *const questions[] = { "executions 0x401000:0x401190",
						 "accesses 0x401000:0x401190 x last 60000" };

	for (size_t i = 0; i < 2; i++) {
		struct ts_answer *answer = begin(TS_FORM_TEXT, questions[i]);

		for (unsigned k = 0; k < 8; k++)
			ck_assert_int_eq(ts_answer_run(answer, 1, &a.out, &a.end, &a.err), TS_MORE);
		ck_assert_uint_eq(a.out.len, 0);
		ts_answer_stop(answer);
		ck_assert_int_eq(drive(answer, SIZE_MAX), TS_END);
		ck_assert_uint_eq(count_lines(0), ts_answer_n_rows(answer) + 1);
		ck_assert_uint_gt(ts_answer_n_rows(answer), 16);
		ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.end), "stopped by ^C at position "));
		ts_answer_free(answer);
	}
}
END_TEST

UNIT_FIXTURE_SUITE("answer", setup, teardown, rows_that_wait_are_printed_in_slices,
		   rows_that_last_keeps_are_printed_in_slices,
		   what_last_keeps_is_no_longer_printed_when_it_is_stopped,
		   an_answer_of_which_all_rows_were_found_is_complete, what_was_found_before_it_was_stopped_is_printed)
