/* SPDX-License-Identifier: MIT */
/*
 * Traces written by hand, which is what this loader is for.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/trace/point.h"
#include "src/query/query.h"
#include "ucir_text.h"

#define HEAD "tracestub text 1 x86_64\n"

static struct ucir_trace t;
static struct ts_buf steps;

static void setup(void)
{
	t = (struct ucir_trace){ .format = "text" };
	ts_buf_init(&steps);
	ts_buf_init(&t.bytes);
}

static void teardown(void)
{
	ucir_close(&t);
	ts_buf_fini(&steps);
}

static void open_text(const char *text)
{
	ts_buf_reset(&t.bytes);
	ts_buf_puts(&t.bytes, text);
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
}

/* The steps of @text, or those before it fails. */
static enum ts_next read_text(const char *text)
{
	open_text(text);
	return ucir_read_all(&t, &steps);
}

static void expect_bad(const char *text, uint64_t off, const char *word)
{
	ts_error_reset(&t.err);
	ts_buf_reset(&t.bytes);
	ts_buf_puts(&t.bytes, text);
	if (ucir_open(&t, NULL))
		ck_assert_int_eq(ucir_read_all(&t, &steps), TS_FAIL);
	ck_assert_msg(t.err.code == TS_ECORRUPT, "%s: %s", text, t.err.text);
	ck_assert_msg(strstr(t.err.text, word), "no \"%s\" in: %s", word, t.err.text);
	ck_assert_msg(t.err.off == off, "%s: 0x%lx", text, (unsigned long)t.err.off);
	ucir_close(&t);
	t = (struct ucir_trace){ .format = "text" };
	ts_buf_init(&t.bytes);
}

START_TEST(a_step_has_its_lines)
{
	ck_assert_int_eq(read_text(HEAD "# nothing\n\nreg rdi 15\n\tmem 5000 0a0b\r\n"
				   "step 401000 8d043f\n reg rax 2a\n mem 5000 ff\n read 6000 01\n"
				   "step 401003 c3\n end 3\n"),
			 TS_END);
	ck_assert_str_eq(ts_buf_text(&steps),
			 "401000/3@0 R401000,3=! rax=2a W5000=ff R6000,1=\n"
			 "401003/1@0 R401003,1=! exit3\n");
	ts_buf_reset(&steps);
	ucir_describe_effects(&steps, t.rec, &t.rec->initial, 0, t.rec->initial.n_effects);
	ck_assert_str_eq(ts_buf_text(&steps), " rdi=15 W5000=0a0b");
	ck_assert(t.reader->end.has_exit && t.reader->end.is_assumed);
	ck_assert(t.rec->has_reads);
}
END_TEST

START_TEST(registers_lie_in_the_order_of_the_target)
{
	static const uint8_t bytes[4] = { 0, 1, 0x23, 0x45 };
	const struct ts_effect *e;

	open_text("tracestub text 1 mips\nreg r29 12345\nstep 400000\n");
	e = &t.rec->initial.effects[0];
	ck_assert_uint_eq(e->addr, 29 * 4);
	ck_assert_uint_eq(e->len, 4);
	ck_assert_int_eq(memcmp(ts_effect_data(&t.rec->initial, e), bytes, 4), 0);
}
END_TEST

START_TEST(an_instruction_has_up_to_16_bytes)
{
	ck_assert_int_eq(read_text(HEAD "step 401000 000102030405060708090a0b0c0d0e0f\n"), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "401000/16@0 R401000,10=!\n");
}
END_TEST

START_TEST(the_program_counter_says_where_it_goes)
{
	ck_assert_int_eq(read_text(HEAD "step 401000\nreg rip 402000\n"), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "401000/0@0\n");
	ck_assert(t.reader->end.has_pc && !t.reader->end.is_assumed);
	ck_assert_uint_eq(t.reader->end.pc, 0x402000);
}
END_TEST

START_TEST(threads_have_their_steps)
{
	ck_assert_int_eq(read_text(HEAD "step 1\nthread 7\nstep 2\nreg rax 1\nthread 1\nstep 3\n"), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1/0@0\n2/0@1 rax=1\n3/0@0\n");
	ck_assert_uint_eq(t.rec->threads[1].tid, 7);
}
END_TEST

START_TEST(tabs_and_blanks_separate_words_everywhere)
{
	open_text("tracestub text 1 i386 \t\nreg\teip\t1000 \nstep\t1000\t90\nthread\t2 \nstep 1001\n");
	ck_assert_int_eq(ucir_read_all(&t, &steps), TS_END);
	ck_assert_str_eq(ts_buf_text(&steps), "1000/1@0 R1000,1=!\n1001/0@1\n");
}
END_TEST

START_TEST(bad_lines_are_refused_where_they_are)
{
	static const struct {
		const char *text;
		uint64_t off; /* behind HEAD */
		const char *word;
	} bad[] = {
		{ "step 401000\nreg rdx 1\njump 5\n", 22, "not a word that begins a line" },
		{ "step 1\nfoo\n", 7, "not a word that begins a line" },
		{ "step 1\nends\n", 7, "not a word that begins a line" },
		{ "step 401000\nreg foo 1\n", 16, "not a register of this architecture: \"foo\"" },
		{ "step 401000\nreg rdx 11112222333344445\n", 20, "not a value of this register" },
		{ "step 401000\nreg rdx 1g\n", 20, "not a value of this register" },
		{ "step 401000\nreg rdx 1 2\n", 22, "too many words" },
		{ "step 401000\nreg rdx\n", 19, "a word is missing" },
		{ "step 11112222333344445\n", 5, "not a number of 64 bits" },
		{ "thread 18446744073709551616\n", 7, "not a number of 64 bits" },
		{ "step 401000 0\n", 12, "not pairs of hex digits" },
		{ "step 401000 9x\n", 12, "not pairs of hex digits" },
		{ "step 401000 x9\n", 12, "not pairs of hex digits" },
		{ "step 401000 000102030405060708090a0b0c0d0e0f10\n", 46, "not one instruction" },
		{ "step 1\nmem ffffffffffffffff 0001\n", 32, "beyond the last address" },
		{ "step 1\nend\nreg rax 1\n", 11, "nothing may follow the end" },
		{ "step 1\nend\nstep 2\n", 11, "nothing may follow the end" },
		{ "thread x\n", 7, "not a number" },
		{ "thread a\n", 7, "not a number" },
		{ "thread 1\nreg rax 1\n", 9, "a step must come before" },
		{ "thread 1\nmem 10 00\n", 9, "a step must come before" },
		{ "step\n", 0, "not a word that begins a line" },
		{ "step 1 90 90\n", 10, "not one instruction" },
		{ "step ffffffffffffffff 9090\n", 26, "beyond the last address" },
		{ "step 1\nmem 10\n", 13, "a word is missing" },
		{ "step 1\nmem 10 00 00\n", 17, "too many words" },
		{ "step 1\nend 1 2\n", 13, "too many words" },
		{ "step 1\nend x\n", 11, "not a number" },
		{ "thread\n", 0, "not a word that begins a line" },
		{ "thread 1 2\n", 9, "too many words" },
		{ "step 1\nreg a_name_that_is_longer_than_any_register_has_it 1\n", 11, "not a register" },
	};
	char text[200];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "%s%s", HEAD, bad[i].text);
		expect_bad(text, strlen(HEAD) + bad[i].off, bad[i].word);
	}
	expect_bad("tracestub text 1 pdp11\n", 17, "unknown architecture");
	expect_bad("tracestub text 1 i386 2\n", 22, "too many words");
	expect_bad("tracestub text 1 i386\nstep 123456789a 90\n", 27, "not an address of this architecture");
	expect_bad("tracestub text 1 i386\nreg eip 123456789a\n", 30, "not an address of this architecture");
	expect_bad("tracestub text 1 i386\nmem 1234567890 ff\n", 26, "not an address of this architecture");
	expect_bad("tracestub text 1 i386\nmem ffffffff 0001\n", 39, "beyond the last address");
	expect_bad("tracestub text 1 i386\nstep ffffffff 9090\n", 40, "beyond the last address");
}
END_TEST

START_TEST(another_first_line_is_refused_where_it_is)
{
	ts_buf_puts(&t.bytes, "tracestub text 2 x86_64\nstep 1\n");
	ck_assert(!ucir_open(&t, NULL));
	ck_assert_int_eq(t.err.code, TS_EUNSUPPORTED);
	ck_assert_uint_eq(t.err.off, 0);
	ck_assert_ptr_nonnull(strstr(t.err.text, "the first line is not"));
}
END_TEST

START_TEST(steps_before_a_bad_line_are_kept)
{
	ck_assert_int_eq(read_text(HEAD "step 1\nreg rax 1\nstep 2\nreg rax z\n"), TS_FAIL);
	ck_assert_str_eq(ts_buf_text(&steps), "1/0@0 rax=1\n");
	ck_assert(t.reader->end.is_assumed);
}
END_TEST

START_TEST(the_bytes_of_a_line_have_a_bound)
{
	for (unsigned n = 4096; n <= 4097; n++) {
		ts_buf_reset(&t.bytes);
		ts_buf_puts(&t.bytes, HEAD "step 1\nmem 5000 ");
		for (unsigned i = 0; i < n; i++)
			ts_buf_puts(&t.bytes, "5a");
		ts_buf_puts(&t.bytes, "\n");
		ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
		ck_assert_int_eq(ucir_read_all(&t, NULL), n == 4096 ? TS_END : TS_FAIL);
		ucir_close(&t);
		setup();
	}
}
END_TEST

/* A comment of @len characters, then a step. */
static bool takes_comment(unsigned len)
{
	bool done;

	ts_buf_reset(&t.bytes);
	ts_buf_puts(&t.bytes, HEAD "#");
	for (unsigned i = 1; i < len; i++)
		ts_buf_puts(&t.bytes, "x");
	ts_buf_puts(&t.bytes, "\nstep 1\n");
	done = ucir_open(&t, NULL) && ucir_read_all(&t, NULL) == TS_END;
	ucir_close(&t);
	setup();
	return done;
}

/* The longest line of memory has two digits for each of its 4,096 bytes, and some more words. */
START_TEST(a_line_has_a_bound)
{
	ck_assert(takes_comment(2 * 4096 + 200));
	ck_assert(!takes_comment(2 * 4096 + 4096));
}
END_TEST

START_TEST(threads_have_a_bound)
{
	char line[40];

	for (unsigned n = 1024; n <= 1025; n++) {
		ts_buf_reset(&t.bytes);
		ts_buf_puts(&t.bytes, HEAD);
		for (unsigned i = 1; i <= n; i++) { /* thread 1 is there from the start */
			snprintf(line, sizeof(line), "thread %u\nstep 1\n", i);
			ts_buf_puts(&t.bytes, line);
		}
		ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
		ck_assert_int_eq(ucir_read_all(&t, NULL), n == 1024 ? TS_END : TS_FAIL);
		ck_assert_int_eq(t.err.code, n == 1024 ? TS_OK : TS_ELIMIT);
		ucir_close(&t);
		setup();
	}
}
END_TEST

START_TEST(a_reader_goes_on_from_every_decode_point)
{
	static const char text[] = HEAD "step 1\nreg rax 1\nthread 2\nstep 2\nthread 1\nstep 3\nend\n";
	struct ts_buf point;
	enum ts_next next;

	open_text(text);
	do {
		struct ts_reader *other = t.rec->ops->reader(t.rec, &t.err);
		struct ts_steps a, b;

		ts_steps_init(&a);
		ts_steps_init(&b);
		ts_buf_init(&point);
		ts_reader_save(t.reader, &point);
		next = ts_reader_next(t.reader, &a, &t.err);
		ck_assert(ts_reader_resume(other, point.data, point.len, &t.err));
		ck_assert_int_eq(ts_reader_next(other, &b, &t.err), next);
		ck_assert_uint_eq(a.n_effects, b.n_effects);
		ck_assert(!a.n_steps ||
			  (a.steps[0].pc == b.steps[0].pc && a.steps[0].thread == b.steps[0].thread));
		for (size_t n = 0; n < point.len; n++) {
			struct ts_error err;

			ts_error_reset(&err);
			ck_assert(!ts_reader_resume(other, point.data, n, &err));
			ck_assert_int_eq(err.code, TS_ECORRUPT);
		}
		ts_buf_fini(&point);
		ts_steps_fini(&a);
		ts_steps_fini(&b);
		ts_reader_close(other);
	} while (next == TS_ITEM);
	ck_assert_int_eq(next, TS_END);
}
END_TEST

START_TEST(it_bids_on_nothing_else)
{
	const struct ts_loader *loader = ts_loader_find("text");
	static const char *const others[] = { "tracestub text 2 x86_64\n", "Tracestub text 1 x86_64\n", "",
					      "tracestub" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_uint_eq(loader->probe((const uint8_t *)others[i], strlen(others[i]), 100), 0);
	ck_assert_uint_eq(loader->probe((const uint8_t *)HEAD, strlen(HEAD), 100), 64);
	ck_assert_uint_eq(loader->probe((const uint8_t *)HEAD, strlen("tracestub text 1 "), 100), 64);
	ck_assert_uint_eq(loader->probe((const uint8_t *)HEAD, strlen("tracestub text 1"), 100), 0);
}
END_TEST

UNIT_FIXTURE_SUITE("text", setup, teardown, a_step_has_its_lines, registers_lie_in_the_order_of_the_target,
		   an_instruction_has_up_to_16_bytes, the_program_counter_says_where_it_goes, threads_have_their_steps,
		   tabs_and_blanks_separate_words_everywhere, bad_lines_are_refused_where_they_are,
		   another_first_line_is_refused_where_it_is, steps_before_a_bad_line_are_kept,
		   the_bytes_of_a_line_have_a_bound, a_line_has_a_bound, threads_have_a_bound,
		   a_reader_goes_on_from_every_decode_point, it_bids_on_nothing_else)
