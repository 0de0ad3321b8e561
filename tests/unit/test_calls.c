/* SPDX-License-Identifier: MIT */
/*
 * Who called whom: made-up programs, whose calls are found again by the words of the definition, call by
 * call, from plain lists of every position's pc, stack pointer and stack.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls_case.h"
#include "index_case.h"
#include "src/calls/linkage.h"
#include "src/query/search/call_list.h"
#include "src/timeline/file/section.h"
#include "src/timeline/timeline.h"

/* ------------------------------------------------------------------------------------------- the test */

/* What is shown before its segment is sealed is the same afterwards. */
static void show_and_seal(struct ts_calls *out)
{
	static struct ts_call shown[MAX_THREADS][MAX_STEPS];
	uint32_t n[MAX_THREADS];

	ck_assert(ts_calls_show(out));
	for (unsigned t = 0; t < MAX_THREADS; t++) {
		struct ts_call_window w = { .n = 0 };

		n[t] = ts_calls_n(out, t);
		for (uint32_t i = 0; i < n[t]; i++)
			ts_calls_get(out, &w, t, i, &shown[t][i]);
	}
	ck_assert(ts_calls_seal(out));
	for (unsigned t = 0; t < MAX_THREADS; t++) {
		struct ts_call_window w = { .n = 0 };
		struct ts_call got;

		ck_assert_uint_eq(ts_calls_n(out, t), n[t]);
		for (uint32_t i = 0; i < n[t]; i++) {
			const struct ts_call *x = &shown[t][i];

			ts_calls_get(out, &w, t, i, &got);
			ck_assert(got.pos == x->pos && got.end == x->end && got.kind == x->kind &&
				  got.depth == x->depth && got.parent == x->parent && got.ordinal == i &&
				  x->ordinal == i);
		}
	}
}

static struct ts_calls *track(unsigned seals)
{
	struct ts_calls *out = ts_calls_new();
	struct ts_call_tracker *tr =
		ts_call_tracker_new(out, &prog.s->rec.regs, false, prog.s->rec.is_before);
	struct ts_steps part = prog.s->steps;
	uint32_t n = prog.s->steps.n_steps, from = 0;

	ck_assert(out && tr && ts_call_tracker_start(tr, &prog.s->rec.initial));
	for (unsigned i = 0; i <= seals; i++) {
		uint32_t to = (uint32_t)((uint64_t)n * (i + 1) / (seals + 1));

		part.steps = prog.s->steps.steps + from;
		part.n_steps = to - from;
		ck_assert(ts_call_tracker_take(tr, from, &part));
		if (i == seals)
			ck_assert(ts_call_tracker_end(tr, END_PC));
		if (i)
			ck_assert(ts_calls_seal(out));
		else
			show_and_seal(out);
		from = to;
	}
	ts_call_tracker_free(tr);
	return out;
}

static const struct naive_call *naive_innermost(unsigned thread, uint64_t pos)
{
	const struct thread_of *t = &prog.threads[thread];
	const struct naive_call *found = NULL;
	unsigned stack = 0;

	for (uint64_t i = 0; i < t->n && t->places[i].pos <= pos; i++)
		stack = t->places[i].stack;
	for (unsigned i = 0; i < n_calls; i++) {
		if (calls[i].thread == thread && calls[i].stack == stack && calls[i].begin <= pos &&
		    calls[i].end > pos)
			found = &calls[i];
	}
	return found;
}

static void check_stack(const struct ts_calls *c, struct ts_call_window *w, unsigned thread, uint64_t pos)
{
	const struct naive_call *x = naive_innermost(thread, pos);
	struct ts_call got;

	ck_assert_int_eq(ts_calls_innermost(c, w, thread, pos, &got), x != NULL);
	if (!x)
		return;
	ck_assert_uint_eq(got.pos + 1, x->begin);
	ck_assert_uint_eq(got.depth, x->depth);
	for (unsigned depth = got.depth; depth > 1; depth--) {
		ck_assert(ts_calls_outer(c, w, &got));
		ck_assert_uint_eq(got.depth, depth - 1);
		ck_assert(got.end > pos);
	}
	ck_assert(!ts_calls_outer(c, w, &got));
}

static void check_list(const struct ts_calls *c, unsigned thread)
{
	struct ts_call_window w = { .n = 0 };
	uint32_t n = ts_calls_n(c, thread), at = 0;

	for (unsigned i = 0; i < n_calls; i++) {
		const struct naive_call *x = &calls[i];
		struct ts_call got;

		if (x->thread != thread)
			continue;
		do {
			ck_assert_msg(at < n, "the call at %lu is not there", (long)x->begin - 1);
			ts_calls_get(c, &w, thread, at++, &got);
		} while (got.kind == TS_CALL_SWITCH);
		if (got.pos + 1 != x->begin || got.end != x->end || got.kind != x->kind ||
		    got.depth != x->depth || got.pc != x->pc || got.target != x->target)
			ck_abort_msg("%s: call at %ld: end %ld kind %d depth %u, not at %ld: %ld %d %u",
				     prog.cpu->arch, (long)got.pos, (long)got.end, got.kind, got.depth,
				     (long)x->begin - 1, (long)x->end, x->kind, x->depth);
	}
	for (; at < n; at++) {
		struct ts_call got;

		ts_calls_get(c, &w, thread, at, &got);
		ck_assert_msg(got.kind == TS_CALL_SWITCH, "no call at %ld", (long)got.pos);
	}
}

/* The nearest returns, from all of them. */
static void check_returns(const struct ts_calls *c, unsigned thread, uint64_t pos)
{
	uint64_t next = NO_POS, prev = NO_POS;

	for (unsigned i = 0; i < n_calls; i++) {
		uint64_t end = calls[i].end;

		if (calls[i].thread != thread || calls[i].kind != TS_CALL_RETURN)
			continue;
		if (end > pos && end < next)
			next = end;
		if (end < pos && (prev == NO_POS || end > prev))
			prev = end;
	}
	ck_assert_uint_eq(ts_calls_next_return(c, thread, pos, NO_POS), next);
	ck_assert_uint_eq(ts_calls_prev_return(c, thread, pos), prev);
	if (next != NO_POS) {
		ck_assert_uint_eq(ts_calls_next_return(c, thread, pos, next), NO_POS);
		ck_assert_uint_eq(ts_calls_next_return(c, thread, pos, next + 1), next);
	}
}

static void check_random_program(unsigned seed)
{
	const struct kind_of_processor *cpu = &processors[seed % N_PROCESSORS];
	struct script_random rnd = { seed };
	struct ts_call_window w = { .n = 0 };
	struct ts_calls *c;

	random_program((uint64_t)seed * 77 + 1, cpu, 300 + script_below(&rnd, 3000));
	c = track((unsigned)script_below(&rnd, 6));
	n_calls = 0;
	for (unsigned i = 0; i < MAX_THREADS; i++) {
		find_calls(i);
		check_list(c, i);
	}
	ck_assert_uint_gt(n_calls, 10);
	for (unsigned i = 0; i < 300; i++) {
		unsigned thread = (unsigned)script_below(&rnd, MAX_THREADS);
		uint64_t pos = script_below(&rnd, prog.n + 1);

		check_stack(c, &w, thread, pos);
		check_returns(c, thread, pos);
	}
	ts_calls_free(c);
	script_free(prog.s);
}

START_TEST(calls_of_random_programs_are_those_of_the_definition)
{
	check_random_program((unsigned)_i);
}
END_TEST

/*
 * A call that longjmp left stays open until control is at its return address; the calls inside of it then end
 * too, some of whose frames are still there.  A longjmp to one of these stays on its stack.
 */
START_TEST(longjmp_leads_to_a_frame_whose_call_has_ended)
{
	static const unsigned seeds[] = { 984, 1237 };

	check_random_program(seeds[_i]);
}
END_TEST

static void begin_program(const struct kind_of_processor *cpu)
{
	memset(&prog, 0, sizeof(prog));
	prog.cpu = cpu;
	prog.rnd.state = 1;
	prog.s = script_new(cpu->arch, 1, NULL);
	ck_assert_ptr_nonnull(prog.s);
	prog.sp = find_reg(cpu->sp);
	if (cpu->link)
		prog.lr = find_reg(cpu->link);
	prog.threads[0].pc = random_pc();
	prog.threads[0].sp = stack_top(0, 0);
	plain(0);
}

static struct ts_call nth_call(const struct ts_calls *c, unsigned n)
{
	struct ts_call_window w = { .n = 0 };
	struct ts_call got = { 0 };

	for (uint32_t i = 0; i < ts_calls_n(c, 0); i++) {
		ts_calls_get(c, &w, 0, i, &got);
		if (got.kind != TS_CALL_SWITCH && !n--)
			return got;
	}
	ck_abort_msg("there is no such call");
}

/* The move to a stack just below looks like that of a frame; the way back shows what it was. */
START_TEST(a_call_ends_though_a_stack_below_was_entered_from_it)
{
	struct thread_of *t = &prog.threads[0];
	struct ts_calls *c;
	uint64_t sp;

	begin_program(&processors[_i]);
	call(0, false);
	sp = t->sp;
	t->stack = 1;
	step(0, t->pc + prog.cpu->insn, sp - 0x10000, t->lr, 0);
	call(0, false);
	call(0, false);
	t->stack = 0;
	step(0, t->pc + prog.cpu->insn, sp, t->lr, 0);
	ret(0);
	plain(0);
	end_program();
	c = track(0);
	ck_assert_int_eq(nth_call(c, 0).kind, TS_CALL_RETURN);
	ck_assert_int_eq(nth_call(c, 1).kind, TS_CALL_OPEN);
	ck_assert_int_eq(nth_call(c, 2).kind, TS_CALL_OPEN);
	ts_calls_free(c);
	script_free(prog.s);
}
END_TEST

/* A return address that is stored at the stack pointer, which stays where it is, makes a call too. */
START_TEST(a_return_address_may_be_stored_without_a_push)
{
	static const struct kind_of_processor x86_64 = { "x86_64", "rsp", NULL, 8, 5, 5, 0 };
	struct thread_of *t = &prog.threads[0];
	struct ts_calls *c;
	uint64_t pc;

	begin_program(&x86_64);
	pc = t->pc;
	put_word(t->sp, pc + 5);
	step(0, 0x5000, t->sp, 0, pc + 5);
	plain(0);
	end_program();
	c = track(0);
	ck_assert_uint_eq(nth_call(c, 0).pc, pc);
	ck_assert_uint_eq(nth_call(c, 0).target, 0x5000);
	ts_calls_free(c);
	script_free(prog.s);
}
END_TEST

/*
 * A recorder that writes registers down before instructions only: what a thread's last one did shows when it
 * runs again.
 */
START_TEST(the_last_step_before_another_thread_may_be_a_call)
{
	static const struct kind_of_processor x86_64 = { "x86_64", "rsp", NULL, 8, 5, 5, 0 };
	struct ts_call got;
	struct ts_calls *c;

	begin_program(&x86_64);
	script_free(prog.s);
	prog.s = script_new("x86_64", 2, NULL);
	prog.s->rec.is_before = true;
	put_reg(prog.sp, 0x8000);
	ts_steps_close(&prog.s->steps, 0x1000, 5, 0);
	put_word(0x7ff8, 0x100a);
	ts_steps_close(&prog.s->steps, 0x1005, 5, 0); /* the call, _i == 0; or nothing but a write */
	ts_steps_effect(&prog.s->steps, TS_FX_THREAD, 0, 0)->item = 0;
	put_reg(prog.sp, _i ? 0x8000 : 0x7ff8);
	ts_steps_close(&prog.s->steps, 0x5000, 5, 1);
	ts_steps_close(&prog.s->steps, 0x2000, 1, 0);
	put_reg(prog.sp, 0x8000);
	ts_steps_close(&prog.s->steps, 0x2001, 1, 0); /* ret */
	ts_steps_close(&prog.s->steps, 0x100a, 1, 0);
	c = track((unsigned)_i);
	if (_i) {
		ck_assert_uint_eq(ts_calls_n(c, 0), 0);
	} else {
		got = nth_call(c, 0);
		ck_assert_uint_eq(got.pos, 1);
		ck_assert_uint_eq(got.end, 5);
		ck_assert_uint_eq(got.target, 0x2000);
		ck_assert_int_eq(got.kind, TS_CALL_RETURN);
	}
	ts_calls_free(c);
	script_free(prog.s);
}
END_TEST

/* A call leaves a return address of 4 or 8 bytes: 16-bit code has none. */
/* "call rax" has two bytes; no instruction of the processor has more than 15. */
START_TEST(where_a_call_of_unknown_length_returns)
{
	struct ts_linkage l;

	ts_linkage_init(&l, ts_arch_find("x86_64"));
	for (uint64_t len = 0; len < 32; len++) {
		ck_assert(ts_linkage_is_return_of(&l, 0x1000 + len, 0x1000, 0) == (len >= 2 && len <= 15));
		ck_assert(ts_linkage_is_return_of(&l, 0x1000 + len, 0x1000, 5) == (len == 5));
	}
}
END_TEST

START_TEST(code_of_16_bits_has_no_calls)
{
	static const struct kind_of_processor i8086 = { "i8086", "esp", NULL, 2, 3, 3, 0 };
	struct ts_call_window w = { .n = 0 };
	struct ts_calls *c;

	begin_program(&i8086);
	step(0, 0x1000, 0x8000, 0, 0);
	put_word(0x7ffe, 0x1003);
	step(0, 0x2000, 0x7ffe, 0, 0);
	plain(0);
	end_program();
	c = track(1);
	for (uint32_t i = 0; i < ts_calls_n(c, 0); i++) {
		struct ts_call got;

		ts_calls_get(c, &w, 0, i, &got);
		ck_assert_int_eq(got.kind, TS_CALL_SWITCH);
	}
	ts_calls_free(c);
	script_free(prog.s);
}
END_TEST

/* ------------------------------------------------------------------------------------------- index files */

#define SIBLING PATH ".calls"

static const struct ts_section *without_calls[TS_MAX_SECTIONS];

/* A timeline of the program, with what its index file has; @has_calls: it knows of calls. */
static struct ts_timeline *open_timeline(bool has_calls, bool is_finished)
{
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(&prog.s->rec, NULL, &err);
	unsigned n = 0;

	ck_assert_ptr_nonnull(tl);
	for (unsigned i = 0; ts_sections[i]; i++) {
		if (ts_sections[i] != &ts_calls_section)
			without_calls[n++] = ts_sections[i];
	}
	without_calls[n] = NULL;
	if (!has_calls)
		tl->sections = without_calls;
	use_index(tl, is_finished);
	return tl;
}

static void make_program(int seed)
{
	remove(PATH);
	remove(PART);
	remove(SIBLING);
	random_program((uint64_t)seed * 31 + 5, &processors[seed % (int)N_PROCESSORS], 2000);
	if (prog.n % (TS_CHUNK_STEPS * TS_SEGMENT_CHUNKS) == 0)
		plain(0);
	end_program();
	prog.s->end = (struct ts_end){ .pc = END_PC, .has_pc = true };
	n_calls = 0;
	for (unsigned i = 0; i < MAX_THREADS; i++)
		find_calls(i);
}

static void check_timeline(const struct ts_timeline *tl)
{
	ck_assert(ts_timeline_has(tl, &ts_calls_section));
	for (unsigned i = 0; i < MAX_THREADS; i++)
		check_list(tl->calls, i);
}

START_TEST(calls_are_the_same_from_an_index_file_and_after_an_interruption)
{
	struct script_random rnd = { (uint64_t)_i };
	struct ts_timeline *tl;

	make_program(_i);
	for (unsigned i = 0; i < 3; i++) { /* interrupted twice */
		tl = open_timeline(true, false);
		grow(tl, i == 2 ? UINT64_MAX : script_below(&rnd, 700));
		if (i == 2)
			check_timeline(tl);
		ts_timeline_free(tl);
	}
	tl = open_timeline(true, true);
	ck_assert_ptr_null(tl->builder);
	check_timeline(tl);
	ts_timeline_free(tl);
	script_free(prog.s);
}
END_TEST

START_TEST(an_index_without_calls_gets_them_when_they_are_asked_for)
{
	struct ts_error err = { 0 };
	struct ts_timeline *tl;
	struct ts_query *q;
	enum ts_next need;

	make_program(_i);
	tl = open_timeline(false, false);
	grow(tl, UINT64_MAX);
	ts_timeline_free(tl);
	tl = open_timeline(true, true);
	ck_assert(!ts_timeline_has(tl, &ts_calls_section));
	q = ts_query_new(tl, &err);
	ck_assert_ptr_nonnull(q);
	while ((need = ts_query_need_calls(q, 100, &err)) == TS_MORE)
		ck_assert(!ts_timeline_has(tl, &ts_calls_section));
	ck_assert_msg(need == TS_END, "%s", err.text);
	check_timeline(tl);
	ts_query_free(q);
	ts_timeline_free(tl);
	tl = open_timeline(true, true);
	check_timeline(tl); /* from a file of its own */
	ts_timeline_free(tl);
	script_free(prog.s);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("calls");
	TCase *tc = tcase_create("calls");

	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, calls_of_random_programs_are_those_of_the_definition, 0, 260);
	tcase_add_loop_test(tc, longjmp_leads_to_a_frame_whose_call_has_ended, 0, 2);
	tcase_add_loop_test(tc, a_call_ends_though_a_stack_below_was_entered_from_it, 0, N_PROCESSORS);
	tcase_add_test(tc, a_return_address_may_be_stored_without_a_push);
	tcase_add_loop_test(tc, the_last_step_before_another_thread_may_be_a_call, 0, 2);
	tcase_add_test(tc, where_a_call_of_unknown_length_returns);
	tcase_add_test(tc, code_of_16_bits_has_no_calls);
	tcase_add_loop_test(tc, calls_are_the_same_from_an_index_file_and_after_an_interruption, 0, 60);
	tcase_add_loop_test(tc, an_index_without_calls_gets_them_when_they_are_asked_for, 0, 60);
	suite_add_tcase(s, tc);
	return s;
}
