/* SPDX-License-Identifier: MIT */
/*
 * Accesses over many chunks: registers that are rarely written, and writes of the same value.  The answers are worked out
 * from what was written, and what they cost is counted in steps.
 */
#include "unit.h"

#include "ask_text.h"
#include "script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct script *s;
static struct ask_text a;
static struct script_random rnd;

/* ---------------------------------------------------------------------- registers that are rarely written */

#define N_LONG 4000u

/* Which register each step of a longer recording wrote. */
static uint8_t wrote[N_LONG]; /* N_REGS: none */

/*
 * In the 'g' layout rax and rbx share a line, as eflags and cs do; xmm0 ends where xmm1 begins, inside of
 * one.
 */
static const char *const reg_names[] = { "rax", "rbx", "rcx", "r15", "eflags", "cs", "mxcsr", "xmm0", "xmm1" };
#define N_REGS (sizeof(reg_names) / sizeof(reg_names[0]))

static const struct ts_reg *reg_of(size_t i)
{
	return &s->rec.regs.regs[ts_regset_find(&s->rec.regs, reg_names[i])];
}

/* Each register is written half as often as the one before it, and mostly with what it holds. */
static void begin_long(uint64_t seed)
{
	uint8_t value[16] = { 0 };

	rnd.state = seed;
	s = script_new("x86_64", 1, NULL);
	ck_assert_ptr_nonnull(s);
	for (unsigned k = 0; k < N_LONG; k++) {
		size_t i = 0;

		while (i < N_REGS && script_chance(&rnd, 50))
			i++;
		wrote[k] = (uint8_t)i;
		value[0] = script_chance(&rnd, 20);
		if (i < N_REGS)
			ts_steps_value(&s->steps, TS_FX_REG_WRITE, reg_of(i)->off, value, reg_of(i)->len);
		ts_steps_close(&s->steps, 0x1000, 1, 0);
	}
	ask_text_init(&a, &s->rec);
}

static bool writes_reg(uint64_t chunk, size_t i)
{
	return memchr(wrote + chunk * TS_CHUNK_STEPS, (int)i, TS_CHUNK_STEPS);
}

/* No chunk is looked into that only writes other registers of the line. */
START_TEST(the_chunks_of_a_register_are_those_that_write_it)
{
	begin_long((uint64_t)_i);
	for (size_t i = 0; i < N_REGS; i++) {
		uint32_t first = reg_of(i)->off, last = first + reg_of(i)->len - 1;

		for (uint64_t chunk = 0; chunk < N_LONG / TS_CHUNK_STEPS; chunk++) {
			ck_assert_msg(writes_reg(chunk, i) ==
					      (ts_query_find_register(a.q, TS_ACCESS_WRITE, 0, first, last,
								      chunk, TS_FORWARDS) == chunk),
				      "%s, chunk %" PRIu64 ", forwards", reg_names[i], chunk);
			ck_assert_msg(writes_reg(chunk, i) ==
					      (ts_query_find_register(a.q, TS_ACCESS_WRITE, 0, last, last,
								      chunk, TS_BACKWARDS) == chunk),
				      "%s, chunk %" PRIu64 ", backwards", reg_names[i], chunk);
		}
	}
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

START_TEST(the_last_write_of_a_register_is_found_over_many_chunks)
{
	begin_long((uint64_t)_i);
	for (unsigned n = 0; n < 200; n++) {
		uint64_t at = script_below(&rnd, N_LONG + 1), k = at;
		size_t i = script_below(&rnd, N_REGS);
		char question[64], want[64] = "{\"complete\":true";

		while (k && wrote[k - 1] != i)
			k--;
		if (k)
			snprintf(want, sizeof(want), "{\"position\":%" PRIu64 ",", k - 1);
		snprintf(question, sizeof(question), "last-write $%s at %" PRIu64, reg_names[i], at);
		ck_assert_msg(ask_text(&a, TS_FORM_JSON, question), "%s", a.err.text);
		ck_assert_msg(!strncmp(ts_buf_text(&a.out), want, strlen(want)), "%s: %s, not %s", question,
			      ts_buf_text(&a.out), want);
	}
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* Steps from one instruction that writes rbx, with what it holds, to the next one: more chunks than are looked into one by one. */
#define FAR_APART (30u * TS_CHUNK_STEPS)

static void begin_far(void)
{
	static const uint8_t code[] = { 0x90, 0x48, 0x89, 0xdb }; /* nop; mov rbx, rbx */

	rnd.state = 1;
	s = script_new("x86_64", 1, NULL);
	ck_assert_ptr_nonnull(s);
	for (unsigned k = 0; k < N_LONG; k++) {
		bool is_mov = k % FAR_APART == FAR_APART / 2;

		if (!k)
			ts_steps_value(&s->steps, TS_FX_WRITE, 0x1000, code, sizeof(code));
		ts_steps_close(&s->steps, k < TS_CHUNK_STEPS ? 0x2000 : is_mov ? 0x1001 : 0x1000, is_mov ? 3 : 1, 0);
	}
	ask_text_init(&a, &s->rec);
}

/* What instructions write is found out by the first question: a later one decodes the chunk it is asked in, and that of its row. */
START_TEST(the_last_write_by_operands_costs_few_chunks)
{
	begin_far();
	for (unsigned n = 0; n < 100; n++) {
		uint64_t at = FAR_APART + script_below(&rnd, N_LONG - FAR_APART), k, n_reads = s->n_reads;
		char question[64], want[64];

		at = n ? at : FAR_APART + FAR_APART / 2;
		k = at - 1;
		while (k % FAR_APART != FAR_APART / 2)
			k--;
		snprintf(want, sizeof(want), "{\"position\":%" PRIu64 ",", k);
		snprintf(question, sizeof(question), "last-write $rbx at %" PRIu64, at);
		ck_assert_msg(ask_text(&a, TS_FORM_JSON, question), "%s", a.err.text);
		ck_assert_msg(!strncmp(ts_buf_text(&a.out), want, strlen(want)), "%s: %s, not %s", question,
			      ts_buf_text(&a.out), want);
		ck_assert_msg(!n || s->n_reads - n_reads <= 3 * TS_CHUNK_STEPS, "%s: %" PRIu64 " steps were decoded", question,
			      s->n_reads - n_reads);
	}
	ask_text_fini(&a);
	script_free(s);
}
END_TEST

/* ------------------------------------------------------------------------------- writes of the same value */

/* The first step of a chunk sees another value than the step before it wrote. */
#define SEEN_AT (N_LONG / TS_CHUNK_STEPS / 2 * TS_CHUNK_STEPS)

/* The last step of each chunk writes what was there: to a word of memory, or to r15. */
static void begin_same(bool is_reg)
{
	static const uint8_t one[8] = { 1 }, two[8] = { 2 };

	s = script_new("x86_64", 1, NULL);
	ck_assert_ptr_nonnull(s);
	for (unsigned k = 0; k < N_LONG; k++) {
		uint64_t addr = is_reg ? reg_of(3)->off : 0x2000;
		const uint8_t *value = k < SEEN_AT ? one : two;

		if (k == SEEN_AT)
			ts_steps_value(&s->steps, is_reg ? TS_FX_REG_READ : TS_FX_READ, addr, value, 8);
		else if (!k || k % TS_CHUNK_STEPS == TS_CHUNK_STEPS - 1)
			ts_steps_value(&s->steps, is_reg ? TS_FX_REG_WRITE : TS_FX_WRITE, addr, value, 8);
		ts_steps_close(&s->steps, 0x1000, 1, 0);
	}
	ask_text_init(&a, &s->rec);
}

/*
 * Chunks that change nothing are not decoded; what a chunk's first step contradicts is a change of the one
 * before.
 */
START_TEST(changes_are_found_over_many_writes_of_the_same_value)
{
	static const struct {
		const char *question;
		uint64_t at;
	} cases[] = {
		{ "last-change %s at %u", N_LONG },      { "last-change %s at %u", SEEN_AT + 1 },
		{ "next-change %s at %u", 1 },           { "next-change %s at %u", SEEN_AT - 1 },
		{ "history %s --changes last 1 at %u", N_LONG },
	};
	const char *name = _i ? "$r15" : "0x2000,8";

	begin_same(_i);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char question[64], want[32];
		uint64_t n_reads;

		ck_assert(ask_text(&a, TS_FORM_JSON, "when"));
		n_reads = s->n_reads;
		snprintf(question, sizeof(question), cases[i].question, name, (unsigned)cases[i].at);
		snprintf(want, sizeof(want), "{\"position\":%u,", (unsigned)SEEN_AT - 1);
		ck_assert_msg(ask_text(&a, TS_FORM_JSON, question), "%s: %s", question, a.err.text);
		ck_assert_msg(!strncmp(ts_buf_text(&a.out), want, strlen(want)), "%s: %s, not %s", question,
			      ts_buf_text(&a.out), want);
		ck_assert_msg(s->n_reads - n_reads <= 20 * TS_CHUNK_STEPS,
			      "%s: %" PRIu64 " steps were decoded", question, s->n_reads - n_reads);
	}
	ask_text_fini(&a);
	script_free(s);
}
END_TEST
Suite *unit_suite(void)
{
	Suite *suite = suite_create("ask_access_long");
	TCase *c = tcase_create("registers");

	tcase_add_loop_test(c, the_chunks_of_a_register_are_those_that_write_it, 1, 10);
	tcase_add_loop_test(c, the_last_write_of_a_register_is_found_over_many_chunks, 1, 10);
	tcase_add_test(c, the_last_write_by_operands_costs_few_chunks);
	tcase_add_loop_test(c, changes_are_found_over_many_writes_of_the_same_value, 0, 2);
	suite_add_tcase(suite, c);
	return suite;
}
