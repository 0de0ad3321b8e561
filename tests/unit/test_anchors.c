/* SPDX-License-Identifier: MIT */
/*
 * The places that a question is asked from are found in slices, like the answer.
 */
#include "unit.h"

#include "ask_text.h"

#include <string.h>

#define N_CHUNKS 40u
#define N_STEPS  (N_CHUNKS * TS_CHUNK_STEPS)

/* Who goes on with a step reads the rest of its chunk, and the first step of the one after it. */
#define MAX_READS (3 * TS_CHUNK_STEPS)

static struct script *s;
static struct ask_text a;
static struct ts_error err;
static struct ts_buf out;

/* Step 100 sets ZF; in each chunk one more step does, which changes CF. */
static void setup(void)
{
	uint32_t eflags;

	s = script_new("x86_64", 1, NULL);
	ck_assert_ptr_nonnull(s);
	eflags = s->rec.regs.regs[ts_regset_find(&s->rec.regs, "eflags")].off;
	for (unsigned i = 0; i < N_STEPS; i++) {
		if (i == 100 || i % TS_CHUNK_STEPS == 500)
			ts_steps_value(&s->steps, TS_FX_REG_WRITE, eflags,
				       i / TS_CHUNK_STEPS % 2 ? "\x41\0\0\0" : "\x40\0\0\0", 4);
		ts_steps_close(&s->steps, 0x401000 + 4 * (i % 100), 4, 0);
	}
	ask_text_init(&a, &s->rec);
	ts_error_reset(&err);
	ts_buf_init(&out);
}

static void teardown(void)
{
	ts_buf_fini(&out);
	ask_text_fini(&a);
	script_free(s);
}

static struct ts_answer *begin(const char *question)
{
	struct ts_answer *answer;

	s->n_reads = 0;
	answer = ts_answer_new(&a.ask, question, TS_FORM_TEXT, &err);
	ck_assert_msg(answer != NULL, "%s: %s", question, err.text);
	ck_assert_msg(s->n_reads <= MAX_READS, "%s: the beginning reads %u steps", question,
		      (unsigned)s->n_reads);
	return answer;
}

/* Returns how the answer ended, and in *n_runs after how many runs. */
static enum ts_next drive(struct ts_answer *answer, unsigned *n_runs)
{
	enum ts_next got = TS_MORE;

	for (*n_runs = 0; got == TS_MORE; ++*n_runs) {
		s->n_reads = 0;
		got = ts_answer_run(answer, 1, &out, &out, &err);
		ck_assert_uint_le(s->n_reads, MAX_READS);
	}
	return got;
}

/* The byte of ZF changes in all chunks, and each of them has to be read to find out that ZF does not. */
START_TEST(a_place_is_searched_for_in_slices)
{
	static const char *const questions[] = {
		"when at previous change $ZF",
		"executions 0x401000 in previous change $ZF:",
		"executions 0x401000 in :previous change $ZF first 1",
	};
	unsigned n;

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		struct ts_answer *answer = begin(questions[i]);

		ck_assert_msg(drive(answer, &n) == TS_END, "%s: %s", questions[i], err.text);
		ck_assert_uint_ge(n, N_CHUNKS);
		ts_answer_free(answer);
	}
}
END_TEST

/* +N and -N in a range are counted from a place that is found later. */
START_TEST(a_range_is_seen_from_where_the_question_is_asked)
{
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, "history $pc in -1:+2 at previous change $ZF"), "%s",
		      a.err.text);
	ck_assert_uint_eq(a.n_rows, 3);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "\n99\t"));
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&a.out), "\n101\t"));
	ck_assert_msg(ask_text(&a, TS_FORM_TSV,
			       "history $pc at previous change $ZF in +98:next exec 0x401000"),
		      "%s", a.err.text);
	ck_assert_uint_eq(a.n_rows, 2); /* 198 and 199: it is executed every 100 steps, and 100 itself is not after 100 */
}
END_TEST

START_TEST(what_is_wrong_with_a_place_that_was_searched_for_is_told_late)
{
	static const struct {
		const char *question, *sentence;
	} bad[] = {
		{ "when at previous change 0x6000",
		  "there is no place 'previous change 0x6000' from position 40960, the end; example: when at 50%" },
		{ "history $pc in -101: at previous change $ZF",
		  "'-101' from 100 is not a position: the last one is 40960; example: history $pc first 5" },
		{ "history $pc in +40861: at previous change $ZF",
		  "'+40861' from 100 is not a position: the last one is 40960; example: history $pc first 5" },
		{ "history $pc in +5:-5 at previous change $ZF", "'+5:-5' is a reversed range; example: history $pc first 5" },
		{ "history $pc in +0:100 at previous change $ZF", "'+0:100' is an empty range; example: history $pc first 5" },
	};
	unsigned n;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ts_answer *answer = ts_answer_new(&a.ask, bad[i].question, TS_FORM_TEXT, &err);

		ck_assert(!answer || drive(answer, &n) == TS_FAIL);
		ck_assert_int_eq(err.code, TS_EUSAGE);
		ck_assert_str_eq(err.text, bad[i].sentence);
		ck_assert_uint_eq(out.len, 0); /* nothing was printed */
		ts_answer_free(answer);
		ts_error_reset(&err);
	}
}
END_TEST

START_TEST(a_search_for_a_place_can_be_stopped)
{
	struct ts_answer *answer = begin("history $ZF at previous change $ZF");
	uint64_t all;

	for (unsigned i = 0; i < 10; i++)
		ck_assert_int_eq(ts_answer_run(answer, 1, &out, &out, &err), TS_MORE);
	ck_assert_uint_lt(ts_answer_at(answer), N_STEPS - 8 * TS_CHUNK_STEPS); /* it looks back */
	ck_assert_uint_gt(ts_answer_at(answer), N_STEPS - 12 * TS_CHUNK_STEPS);
	ck_assert_uint_eq(ts_answer_searched(answer, &all), 0);
	ts_answer_stop(answer);
	ck_assert_int_eq(ts_answer_run(answer, 1, &out, &out, &err), TS_END);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&out), "stopped by ^C"));
	ts_answer_free(answer);
}
END_TEST

UNIT_FIXTURE_SUITE("anchors", setup, teardown, a_place_is_searched_for_in_slices,
		   a_range_is_seen_from_where_the_question_is_asked,
		   what_is_wrong_with_a_place_that_was_searched_for_is_told_late,
		   a_search_for_a_place_can_be_stopped)
