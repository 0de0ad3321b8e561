/* SPDX-License-Identifier: MIT */
/*
 * The turns of a loop are one row of why with their count, and no answer depends on what was asked before.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/grammar/question.h"
#include "twins.h"
#include "why_case.h"

/* 41 turns of: mov rax, [r15]; add rax, rcx; mov [r15], rax. */
START_TEST(turns_of_a_loop_are_one_row_with_a_count)
{
	uint64_t sum = 0x1000 + N_REGS;

	begin();
	for (unsigned i = 0; i < 41; i++) {
		run(CODE, "\x49\x8b\x07", 3, 0, sum);
		sum += 0x1001;
		run(CODE + 3, "\x48\x01\xc8", 3, 0, sum);
		run(CODE + 6, "\x49\x89\x07", 3, N_REGS, sum);
	}
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why 0x5000,8 depth 8"), "0 122 write 0x5000,8 0x2a02d\n"
						      "1 121 write $rax 0x2a02d\n"
						      "2 120 write $rax 0x2902c\n"
						      "3  start 0x5000,8 0x1004\n"
						      "2  start $rcx 0x1001\n");
	{
		char count[20];
		const char *line = ts_buf_text(&a.out);

		for (unsigned i = 0; i < 5; i++) {
			line = strchr(line, '\n') + 1;
			ck_assert_str_eq(cell(line, COUNT, count, sizeof(count)), i < 3 ? "41" : "1");
		}
	}
	finish();
}
END_TEST

/*
 * Turns that write beside each other: mov [rdi], eax; add rdi, 8; add rax, rcx.  vpgatherdd reads what the first turn and the
 * third one wrote: the values are those that they left, not those of one moment.
 */
START_TEST(what_the_turns_of_a_loop_wrote_is_shown_as_they_left_it)
{
	uint8_t bytes[4], gathered[16] = { 1 };
	const struct ts_regset *set;

	begin();
	set = &p.s->rec.regs;
	put_reg(&p.s->rec.initial, "rdi", 0x6000);
	for (uint64_t at = 0x6000; at < 0x6020; at += 8) {
		ts_arch_put(set->arch, bytes, 4, p.now[0]);
		ts_steps_value(&p.s->steps, TS_FX_WRITE, at, bytes, 4);
		run(CODE, "\x89\x07", 2, NO_PLACE, 0);
		put_reg(&p.s->steps, "rdi", at + 8);
		run(CODE + 2, "\x48\x83\xc7\x08", 4, NO_PLACE, 0);
		run(CODE + 6, "\x48\x01\xc8", 3, 0, p.now[0] + p.now[1]);
	}
	for (uint64_t i = 0; i < 2; i++) {
		ts_arch_put(set->arch, bytes, 4, 0x1000 + 0x2002 * i);
		ts_steps_value(&p.s->steps, TS_FX_READ, 0x6000 + 16 * i, bytes, 4);
	}
	ts_steps_value(&p.s->steps, TS_FX_REG_WRITE, set->regs[ts_regset_find(set, "xmm3")].off, gathered, 16);
	run(CODE + 9, "\xc4\xe2\x69\x90\x1c\xa7", 6, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	got("why $xmm3 depth 1");
	ck_assert_msg(strstr(ts_buf_text(&a.out), "\t0x6000,4\t0x1000\t"), "%s", ts_buf_text(&a.out));
	ck_assert_msg(strstr(ts_buf_text(&a.out), "\t0x6010,4\t0x3002\t2\n"), "%s", ts_buf_text(&a.out));
	finish();
}
END_TEST

/* The same by three threads in turn, and by one of them; the first one is asked about. */
START_TEST(registers_of_a_turn_are_those_of_its_thread)
{
	uint64_t sum = 0x1000 + N_REGS;
	char count[20];

	begin();
	p.thread = 2;
	run(CODE + 9, "\x48\x89\xd1", 3, reg_place(1), p.now[reg_place(2)]);
	for (unsigned i = 0; i < 42; i++) {
		p.thread = i < 20 ? 2 : i % N_THREADS;
		run(CODE, "\x49\x8b\x07", 3, reg_place(0), sum);
		sum += p.now[reg_place(1)];
		run(CODE + 3, "\x48\x01\xc8", 3, reg_place(0), sum);
		run(CODE + 6, "\x49\x89\x07", 3, N_REGS, sum);
	}
	p.thread = 0;
	run(CODE + 16, "\x90", 1, NO_PLACE, 0);
	ask_text_init(&a, &p.s->rec);
	for (unsigned i = 0; i < 2; i++) { /* the second time the loop is known */
		char expected[400];

		snprintf(expected, sizeof(expected),
			 "0 126 write 0x5000,8 0x%" PRIx64 "\n1 125 write $rax 0x%" PRIx64
			 "\n2 124 write $rax 0x%" PRIx64
			 "\n3  start 0x5000,8 0x1004\n2 0 write $rcx 0x1010\n3  start $rdx 0x1010\n"
			 "2  start $rcx 0x1001\n2  start $rcx 0x100b\n",
			 sum, sum, sum - 0x1010);
		ck_assert_str_eq(got("why 0x5000,8"), expected);
		ck_assert_str_eq(cell(strchr(ts_buf_text(&a.out), '\n') + 1, COUNT, count, sizeof(count)),
				 "42");
	}
	finish();
}
END_TEST

/* mov rax, rdx; its bytes become: add rax, rcx; and that is executed 20 times. */
START_TEST(another_instruction_at_the_address_is_no_turn)
{
	char count[20];
	uint64_t sum;

	begin();
	sum = p.now[2];
	run(CODE, "\x48\x89\xd0", 3, 0, sum);
	ts_steps_value(&p.s->steps, TS_FX_WRITE, CODE, "\x48\x01\xc8", 3);
	run(CODE + 16, "\x90", 1, NO_PLACE, 0);
	for (unsigned i = 0; i < 20; i++) {
		sum += p.now[1];
		close_step(&(struct made){ .writes = 0, .value = sum }, CODE, 3);
	}
	ask_text_init(&a, &p.s->rec);
	ck_assert_str_eq(got("why $rax"), "0 21 write $rax 0x15016\n"
					  "1 0 write $rax 0x1002\n"
					  "2  start $rdx 0x1002\n"
					  "1  start $rcx 0x1001\n");
	ck_assert_str_eq(cell(strchr(ts_buf_text(&a.out), '\n') + 1, COUNT, count, sizeof(count)), "20");
	finish();
}
END_TEST

/* The answer of a query object that was asked nothing before. */
static const char *answer_of_new(const char *question)
{
	static char text[400000];
	struct ts_query *q = a.ask.q;
	struct ts_error err = { 0 };

	a.ask.q = ts_query_new(a.tl, &err);
	ck_assert_ptr_nonnull(a.ask.q);
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
	snprintf(text, sizeof(text), "%s", ts_buf_text(&a.out));
	ts_query_free(a.ask.q);
	a.ask.q = q;
	return text;
}

static void check_as_new(const char *question)
{
	const char *wanted = answer_of_new(question);

	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s: %s", question, a.err.text);
	ck_assert_msg(!strcmp(ts_buf_text(&a.out), wanted), "%s: got\n%swanted\n%s", question,
		      ts_buf_text(&a.out), wanted);
}

/* @n turns of: add rax, rcx; there is more of it than of other programs. */
static void spin(unsigned n)
{
	put_code(CODE, "\x48\x01\xc8", 3);
	for (unsigned i = 0; i < n; i++) {
		p.now[0] += p.now[1];
		put_reg(&p.s->steps, "rax", p.now[0]);
		ts_steps_close(&p.s->steps, CODE, 3, 0);
	}
}

START_TEST(a_loop_that_was_followed_is_not_followed_again)
{
	const unsigned n = 20 * TS_CHUNK_STEPS;
	uint32_t first;

	begin();
	spin(n);
	ask_text_init(&a, &p.s->rec);
	first = cost_of("rax");
	ck_assert_uint_ge(first, n);
	ck_assert_uint_le(cost_of("rax"), 20);
	check_as_new("why $rax");
	finish();
}
END_TEST

/* `why $rax`, which is asked beside another question. */
struct counting {
	struct ts_question qn;
	struct ts_rows *rows;
	uint64_t count; /* of the first row; 0: there is none yet */
};

static void begin_counting(struct counting *c, uint64_t at)
{
	struct ts_error err = { 0 };

	*c = (struct counting){ .qn = { .verb = ts_verb_find("why", 3), .at = at, .thread = TS_NO_THREAD } };
	c->qn.depth = TS_NO_LIMIT;
	ck_assert(ts_what_register(&c->qn.what, "rax", 3, &p.s->rec.regs));
	c->rows = ts_rows_open(c->qn.verb->rows, &a.ask, &c->qn, false, &err);
	ck_assert_ptr_nonnull(c->rows);
}

/* Returns false when it is over. */
static bool count_more(struct counting *c, uint32_t n_units)
{
	struct ts_budget budget = { n_units };
	struct ts_error err = { 0 };
	struct ts_row row;
	enum ts_next got;

	ts_row_init(&row);
	got = c->rows->ops->next(c->rows, &row, &budget, &err);
	ck_assert_int_ne(got, TS_FAIL);
	if (got == TS_ITEM && !c->count)
		c->count = row.cells[COUNT].number;
	ts_row_fini(&row);
	if (got == TS_END)
		ts_rows_close(c->rows);
	return got != TS_END;
}

/* Two questions follow the same loop by turns, from a part of it that was followed. */
START_TEST(two_questions_may_follow_a_loop_at_a_time)
{
	const uint64_t n = 40 * TS_CHUNK_STEPS;
	uint64_t ends[2] = { n, n - 3 * TS_CHUNK_STEPS - 5 };
	struct counting c[2];
	bool is_on[2] = { true, true };

	begin();
	spin((unsigned)n);
	ask_text_init(&a, &p.s->rec);
	for (unsigned k = 0; k < 3; k++) {
		for (unsigned i = 0; i < 2; i++)
			begin_counting(&c[i], ends[i]);
		is_on[0] = is_on[1] = true;
		while (is_on[0] || is_on[1]) {
			for (unsigned i = 0; i < 2; i++)
				is_on[i] = is_on[i] && count_more(&c[i], 70);
		}
		for (unsigned i = 0; i < 2; i++)
			ck_assert_uint_eq(c[i].count, ends[i]);
	}
	finish();
}
END_TEST

/* Count of the line of the last answer that has @text; 0: there is no such line. */
static uint64_t count_of(const char *text)
{
	const char *line = strstr(ts_buf_text(&a.out), text);
	char count[20];

	while (line && line > ts_buf_text(&a.out) && line[-1] != '\n')
		line--;
	return line ? strtoull(cell(line, COUNT, count, sizeof(count)), NULL, 10) : 0;
}

/* 2,500 turns of: lea rax, [rbx+rcx]; mov rbx, rax; and 2,000 that have mov rcx, rax behind that. */
START_TEST(two_loops_through_one_instruction_are_told_apart)
{
	begin();
	for (unsigned i = 0; i < 4500; i++) {
		run(CODE, "\x48\x8d\x04\x0b", 4, 0, i);
		run(CODE + 4, "\x48\x89\xc3", 3, 3, i);
		if (i >= 2500)
			run(CODE + 7, "\x48\x89\xc1", 3, 1, i);
	}
	ask_text_init(&a, &p.s->rec);
	for (unsigned i = 0; i < 2; i++) {
		got("why $rcx");
		ck_assert_uint_eq(count_of("mov rbx, rax"), 4499);
		ck_assert_uint_eq(count_of("mov rcx, rax"), 2000);
	}
	finish();
}
END_TEST

/* Bodies of loops, each at an address of its own: what they execute is the same each time. */
#define N_BODIES 4u

static void make_loops(struct script_random *rnd)
{
	struct script_random bodies[N_BODIES];
	unsigned lens[N_BODIES];

	for (unsigned i = 0; i < N_BODIES; i++) {
		bodies[i].state = script_random(rnd) | 1;
		lens[i] = 1 + (unsigned)script_below(rnd, 5);
	}
	for (unsigned i = 0; i < 6; i++) {
		unsigned body = (unsigned)script_below(rnd, N_BODIES),
			 turns = 1 + (unsigned)script_below(rnd, 40 + TS_CHUNK_STEPS / 2);

		for (unsigned turn = 0; turn < turns; turn++) {
			struct script_random same = bodies[body];
			uint64_t pc = CODE + 0x100 * body;

			for (unsigned k = 0; k < lens[body] && p.n < MAX_STEPS; k++)
				pc += make_step(&same, pc);
			if (script_chance(rnd, 5))
				p.thread = (uint32_t)script_below(rnd, N_THREADS);
		}
	}
}

#define N_LOOP_PROGRAMS  40
#define N_LOOP_QUESTIONS 25

START_TEST(what_was_asked_before_changes_no_answer)
{
	uint64_t n_programs = twins_n_questions() ? twins_n_questions() / N_LOOP_QUESTIONS + 1 : N_LOOP_PROGRAMS;

	for (uint64_t program = 1; program <= n_programs; program++) {
		struct script_random rnd = { twins_seed(program) };

		begin();
		make_loops(&rnd);
		ask_text_init(&a, &p.s->rec);
		for (unsigned i = 0; i < N_LOOP_QUESTIONS; i++) {
			char question[100];

			snprintf(question, sizeof(question), "why %s at %" PRIu64,
				 name_of((unsigned)script_below(&rnd, N_REGS + N_SLOTS)),
				 script_below(&rnd, p.n + 1));
			check_as_new(question);
		}
		finish();
	}
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = { turns_of_a_loop_are_one_row_with_a_count,
				       registers_of_a_turn_are_those_of_its_thread,
				       another_instruction_at_the_address_is_no_turn,
				       a_loop_that_was_followed_is_not_followed_again,
				       two_questions_may_follow_a_loop_at_a_time,
				       two_loops_through_one_instruction_are_told_apart };
	Suite *suite = unit_suite_of("ask_why_loops", NULL, NULL, tests, sizeof(tests) / sizeof(tests[0]));
	TCase *c = twins_case();

	tcase_add_test(c, what_was_asked_before_changes_no_answer);
	tcase_add_test(c, what_the_turns_of_a_loop_wrote_is_shown_as_they_left_it);
	suite_add_tcase(suite, c);
	return suite;
}
