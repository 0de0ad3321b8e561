/* SPDX-License-Identifier: MIT */
/*
 * Differences that were planted are found where they are, and no others.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "diff_case.h"
#include "script.h"
#include "src/ask/diff/diff.h"

#define N_STEPS 5000
#define SHIFT UINT64_C(0x10000)

/* A change to one of two copies of a recording. */
enum edit {
	EDIT_NONE,
	EDIT_INSERT, /* 7 steps that the first one does not have */
	EDIT_INSERT_CHUNKS, /* INSERTED of them; CHANGED_AFTER steps later a register differs */
	EDIT_REMOVE, /* 5 steps */
	EDIT_REPLACE, /* 4 steps by 9 others */
	EDIT_REG,
	EDIT_MEM,
	EDIT_LONE, /* one more write, of another value than what is there */
	EDIT_SAME_LONE, /* of what is there */
	EDIT_START, /* memory that is another one before the first step */
};

#define INSERTED      (2 * TS_CHUNK_STEPS)
#define CHANGED_AFTER 2000

/* Memory that no step writes, and what it holds. */
#define CONSTANT_ADDR 0x6000
#define CONSTANT      0x0107

static void put_word(struct ts_steps *to, uint64_t addr, uint64_t value)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	ts_steps_value(to, TS_FX_WRITE, addr, bytes, 8);
}

static void put_step(struct script *s, uint64_t pc, uint64_t reg, uint64_t mem, uint32_t thread)
{
	const struct ts_regset *set = &s->rec.regs;
	const struct ts_reg *r = &set->regs[ts_regset_find(set, "rbx")];
	uint8_t bytes[8];

	ts_arch_put(set->arch, bytes, 8, reg);
	ts_steps_value(&s->steps, TS_FX_REG_WRITE, r->off, bytes, 8);
	ts_arch_put(set->arch, bytes, 8, mem);
	ts_steps_value(&s->steps, TS_FX_WRITE, 0x5000 + thread * 64, bytes, 8);
	ts_steps_close(&s->steps, pc, 4, thread);
}

static unsigned n_inserted(enum edit edit)
{
	return edit == EDIT_INSERT ? 7 : edit == EDIT_INSERT_CHUNKS ? INSERTED : 0;
}

/*
 * Steps of a program whose addresses repeat, but never the same sequence of them.  @shift: where the program
 * lies. With two threads they take turns of @turn steps.
 */
static void make(struct opened *o, enum edit edit, uint64_t at, uint64_t shift, unsigned n_threads,
		 unsigned turn)
{
	struct script_random rnd[2] = { { 5 }, { 6 } };
	uint64_t n[2] = { 0, 0 };

	o->s = script_new("x86_64", n_threads, NULL);
	put_word(&o->s->rec.initial, CONSTANT_ADDR, edit == EDIT_START ? 0x0109 : CONSTANT);
	for (uint64_t k = 0; n[0] + n[1] < N_STEPS * n_threads; k++) {
		uint32_t thread = (uint32_t)(k / turn % n_threads);
		bool is_here = !thread && n[0] == at;
		uint64_t pc, value;

		if (n[thread] == N_STEPS)
			continue;
		pc = 0x400000 + 4 * script_below(&rnd[thread], 500);
		value = pc + n[thread];
		for (unsigned i = 0; is_here && i < n_inserted(edit); i++)
			put_step(o->s, 0x600000 + 4 * i + shift, 1, 1, 0);
		if (edit == EDIT_INSERT_CHUNKS)
			is_here = !thread && n[0] == at + CHANGED_AFTER;
		if (is_here && (edit == EDIT_LONE || edit == EDIT_SAME_LONE))
			put_word(&o->s->steps, CONSTANT_ADDR, edit == EDIT_LONE ? 0x37 : CONSTANT);
		if (is_here && edit == EDIT_REPLACE) {
			for (unsigned i = 0; i < 9; i++)
				put_step(o->s, 0x700000 + 4 * i + shift, 1, 1, 0);
		}
		n[thread]++;
		if (!thread && ((edit == EDIT_REMOVE && n[0] > at && n[0] <= at + 5) ||
				(edit == EDIT_REPLACE && n[0] > at && n[0] <= at + 4)))
			continue;
		put_step(o->s, pc + shift,
			 is_here && (edit == EDIT_REG || edit == EDIT_INSERT_CHUNKS) ? 99 : value,
			 is_here && edit == EDIT_MEM ? 98 : value + shift, thread);
	}
	open_script(o);
}

/* The next row as text; "" after the last. */
static const char *next(struct ts_rows *d)
{
	static char text[200];
	struct ts_row row;
	int n = 0;

	ts_row_init(&row);
	*text = 0;
	if (next_row(d, &row)) {
		for (unsigned i = 0; i < ts_verb_diff.n_columns; i++)
			n += row.cells[i].kind == TS_CELL_NUMBER
				     ? sprintf(text + n, "%ld ", (long)row.cells[i].number)
			     : row.cells[i].kind == TS_CELL_TEXT ? sprintf(text + n, "%s ", ts_row_get(&row, i)) : 0;
		text[n - 1] = 0;
	}
	ts_row_fini(&row);
	return text;
}

static void check_digested(bool has_digests, enum edit edit, uint64_t at, unsigned n_threads, unsigned turn,
			   const char *want)
{
	struct opened a = { .has_digests = has_digests }, b = { .has_digests = has_digests };
	struct ts_error err = { 0 };
	struct ts_rows *d;

	make(&a, EDIT_NONE, 0, 0, n_threads, 10);
	make(&b, edit, at, 0, n_threads, turn);
	d = open_diff(a.q, b.q, false, &err);
	ck_assert_ptr_nonnull(d);
	if (*want)
		ck_assert_str_eq(next(d), want);
	ck_assert_str_eq(next(d), "");
	ts_rows_close(d);
	fini(&a);
	fini(&b);
}

static void check(enum edit edit, uint64_t at, unsigned n_threads, unsigned turn, const char *want)
{
	check_digested(false, edit, at, n_threads, turn, want);
	check_digested(true, edit, at, n_threads, turn, want);
}

START_TEST(the_same_program_does_not_differ)
{
	check(EDIT_NONE, 0, 1, 10, "");
}
END_TEST

START_TEST(steps_of_one_only_are_one_row)
{
	check(EDIT_INSERT, 3000, 1, 10, "3000 3000 3000 3007 path");
	check(EDIT_REMOVE, 3000, 1, 10, "3000 3005 3000 3000 path");
	check(EDIT_REPLACE, 3000, 1, 10, "3000 3004 3000 3009 path");
	check(EDIT_INSERT, 0, 1, 10, "0 0 0 7 path");
	check(EDIT_REMOVE, N_STEPS - 5, 1, 10, "4995 5000 4995 4995 path");
	check(EDIT_REPLACE, N_STEPS - 8, 1, 10, "4992 4996 4992 5001 path");
}
END_TEST

/* The value that step @n writes to rbx, by the definition of make(). */
static uint64_t rbx_at(uint64_t n)
{
	struct script_random rnd = { 5 };
	uint64_t pc = 0;

	for (uint64_t i = 0; i <= n; i++)
		pc = 0x400000 + 4 * script_below(&rnd, 500);
	return pc + n;
}

START_TEST(values_that_differ_are_rows)
{
	char want[100];

	sprintf(want, "2000 2001 2000 2001 register $rbx 0x%lx 0x63", (long)rbx_at(2000));
	check(EDIT_REG, 2000, 1, 10, want);
	sprintf(want, "2000 2001 2000 2001 memory 0x5000,8 0x%lx 0x62", (long)rbx_at(2000));
	check(EDIT_MEM, 2000, 1, 10, want);
}
END_TEST

/* One step, in which the kernel writes @len bytes. */
static void make_kernels(struct opened *o, uint64_t addr, const void *data, uint32_t len)
{
	o->s = script_new("x86_64", 1, NULL);
	ts_steps_value(&o->s->steps, TS_FX_WRITE, addr, data, len)->is_hidden = true;
	ts_steps_close(&o->s->steps, 0x400000, 2, 0);
	open_script(o);
}

/* What one kernel wrote alone may be what the other recording does not have: what both wrote is compared. */
START_TEST(what_the_kernel_writes_is_compared_as_far_as_both_say_it)
{
	struct opened a = { 0 }, b = { 0 };
	struct ts_error err = { 0 };
	struct ts_rows *d;

	make_kernels(&a, 0x5000, "abcdefgh", 8);
	make_kernels(&b, 0x5002, "cDEfgh12", _i);
	d = open_diff(a.q, b.q, false, &err);
	ck_assert_ptr_nonnull(d);
	ck_assert_str_eq(next(d), _i == 3 ? "0 1 0 1 memory 0x5002,3 63 64 65 63 44 45"
					  : "0 1 0 1 memory 0x5002,6 63 64 65 66 67 68 63 44 45 66 67 68");
	ck_assert_str_eq(next(d), "");
	ts_rows_close(d);
	fini(&a);
	fini(&b);
}
END_TEST

START_TEST(threads_may_take_other_turns)
{
	check(EDIT_NONE, 0, 2, 37, "");
	check(EDIT_INSERT, 300, 2, 10, "600 600 600 607 path");
}
END_TEST

/* Between two of the steps that A has alone thread 1 runs: its steps are in no row. */
START_TEST(steps_of_one_only_are_a_row_for_each_turn)
{
	for (unsigned has_digests = 0; has_digests < 2; has_digests++) {
		struct opened a = { .has_digests = has_digests }, b = { .has_digests = has_digests };
		struct ts_error err = { 0 };
		struct ts_rows *d;

		make(&a, EDIT_NONE, 0, 0, 2, 10);
		make(&b, EDIT_REMOVE, 308, 0, 2, 10);
		d = open_diff(a.q, b.q, false, &err);
		ck_assert_ptr_nonnull(d);
		ck_assert_str_eq(next(d), "608 610 618 618 path");
		ck_assert_str_eq(next(d), "620 623 618 618 path");
		ck_assert_str_eq(next(d), "");
		ts_rows_close(d);
		d = open_diff(b.q, a.q, false, &err);
		ck_assert_ptr_nonnull(d);
		ck_assert_str_eq(next(d), "618 618 608 610 path");
		ck_assert_str_eq(next(d), "618 618 620 623 path");
		ck_assert_str_eq(next(d), "");
		ts_rows_close(d);
		fini(&a);
		fini(&b);
	}
}
END_TEST

/* Thread 1 sets rbx of thread 0, which then, in a chunk that is the same in both, writes its lowest byte. */
static void make_meddled(struct opened *o, uint64_t rbx)
{
	const struct ts_reg *r;

	o->s = script_new("x86_64", 2, NULL);
	r = &o->s->rec.regs.regs[ts_regset_find(&o->s->rec.regs, "rbx")];
	put_step(o->s, 0x400000, 7, 7, 0);
	ts_steps_effect(&o->s->steps, TS_FX_THREAD, 0, 0)->item = 0;
	ts_steps_value(&o->s->steps, TS_FX_REG_WRITE, r->off, (const uint8_t *)&rbx, 8);
	ts_steps_close(&o->s->steps, 0x500000, 4, 1);
	while (o->s->steps.n_steps % TS_CHUNK_STEPS)
		ts_steps_close(&o->s->steps, 0x500004, 4, 1);
	ts_steps_value(&o->s->steps, TS_FX_REG_WRITE, r->off, (const uint8_t[]){ 1 }, 1);
	for (unsigned i = 0; i < 2 * TS_CHUNK_STEPS; i++)
		ts_steps_close(&o->s->steps, 0x400004, 4, 0);
	open_script(o);
}

START_TEST(registers_are_those_that_other_threads_left)
{
	for (unsigned has_digests = 0; has_digests < 2; has_digests++) {
		struct opened a = { .has_digests = has_digests }, b = { .has_digests = has_digests };
		struct ts_error err = { 0 };
		struct ts_rows *d;

		make_meddled(&a, 0x1100);
		make_meddled(&b, 0x2200);
		d = open_diff(a.q, b.q, false, &err);
		ck_assert_str_eq(next(d), "8 9 8 9 register $rbx 0x1101 0x2201");
		ck_assert_str_eq(next(d), "");
		ts_rows_close(d);
		fini(&a);
		fini(&b);
	}
}
END_TEST

/* One step of thread 0, in which thread 1 writes a word, and thread 0 another one after that. */
static void make_interrupted(struct opened *o, uint64_t others, uint64_t own)
{
	o->s = script_new("x86_64", 2, NULL);
	ts_steps_effect(&o->s->steps, TS_FX_THREAD, 0, 0)->item = 1;
	put_word(&o->s->steps, 0x5000, others);
	ts_steps_effect(&o->s->steps, TS_FX_THREAD, 0, 0)->item = 0;
	put_word(&o->s->steps, 0x6000, own);
	ts_steps_close(&o->s->steps, 0x400000, 4, 0);
	open_script(o);
}

START_TEST(what_a_thread_writes_after_another_one_did_is_compared)
{
	struct opened a = { 0 }, b = { 0 };
	struct ts_error err = { 0 };
	struct ts_rows *d;

	make_interrupted(&a, 1, 3);
	make_interrupted(&b, 2, 4);
	d = open_diff(a.q, b.q, false, &err);
	ck_assert_str_eq(next(d), "0 1 0 1 memory 0x6000,8 0x3 0x4");
	ck_assert_str_eq(next(d), "");
	ts_rows_close(d);
	fini(&a);
	fini(&b);
}
END_TEST

START_TEST(a_program_may_lie_elsewhere)
{
	struct opened a = { 0 }, b = { 0 };
	struct ts_error err = { 0 };
	struct ts_rows *d;

	make(&a, EDIT_NONE, 0, 0, 1, 10);
	make(&b, EDIT_NONE, 0, SHIFT, 1, 10);
	d = open_diff(a.q, b.q, false, &err);
	ck_assert_str_eq(next(d), "0 5000 0 5000 path");
	ts_rows_close(d);
	d = open_diff(a.q, b.q, true, &err);
	ck_assert_ptr_nonnull(d);
	/* memory at 0x5000 lies elsewhere as well, as if it belonged to the program */
	ck_assert_str_eq(next(d), "");
	ts_rows_close(d);
	fini(&a);
	fini(&b);
}
END_TEST

/* Whole chunks were inserted: digests of the same steps are those of other chunks.  Rebased, none are compared. */
START_TEST(after_an_insertion_the_same_steps_are_those_of_other_chunks)
{
	bool has_digests = _i & 1, is_rebased = _i & 2;
	struct opened a = { .has_digests = has_digests }, b = { .has_digests = has_digests };
	uint64_t n_decoded;
	struct ts_error err = { 0 };
	struct ts_rows *d;
	char want[100];

	make(&a, EDIT_NONE, 0, 0, 1, 10);
	make(&b, EDIT_INSERT_CHUNKS, 1000, is_rebased ? SHIFT : 0, 1, 10);
	d = open_diff(a.q, b.q, is_rebased, &err);
	ck_assert_ptr_nonnull(d);
	sprintf(want, "1000 1000 1000 %u path", 1000 + INSERTED);
	ck_assert_str_eq(next(d), want);
	n_decoded = ts_query_epoch(b.q);
	sprintf(want, "3000 3001 %u %u register $rbx 0x%lx 0x63", 3000 + INSERTED, 3001 + INSERTED,
		(long)rbx_at(1000 + CHANGED_AFTER));
	ck_assert_str_eq(next(d), want);
	n_decoded = ts_query_epoch(b.q) - n_decoded;
	ck_assert_msg((n_decoded < CHANGED_AFTER / TS_CHUNK_STEPS / 10) == (has_digests && !is_rebased),
		      "%lu chunks", (long)n_decoded);
	ck_assert_str_eq(next(d), "");
	ts_rows_close(d);
	fini(&a);
	fini(&b);
}
END_TEST

START_TEST(processors_must_be_the_same)
{
	struct opened a = { 0 };
	struct script *s = script_random_new(1, 50);
	struct ts_error err = { 0 };

	make(&a, EDIT_NONE, 0, 0, 1, 10);
	if (strcmp(s->rec.regs.arch->name, "x86_64")) {
		struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);
		struct ts_query *q;

		ck_assert_int_eq(ts_timeline_grow(tl, UINT64_MAX, &err), TS_END);
		q = ts_query_new(tl, &err);
		ck_assert_ptr_null(open_diff(a.q, q, false, &err));
		ck_assert_int_eq(err.code, TS_EUSAGE);
		ts_query_free(q);
		ts_timeline_free(tl);
	}
	script_free(s);
	fini(&a);
}
END_TEST

START_TEST(what_one_step_writes_is_compared_with_what_stands_there)
{
	struct opened a = { 0 }, b = { 0 };
	struct ts_error err = { 0 };
	struct ts_rows *d;

	check(EDIT_LONE, 2000, 1, 10, "2000 2001 2000 2001 memory 0x6000,8 0x107 0x37");
	check(EDIT_SAME_LONE, 2000, 1, 10, "");
	make(&a, EDIT_LONE, 2000, 0, 1, 10);
	make(&b, EDIT_NONE, 0, 0, 1, 10);
	d = open_diff(a.q, b.q, false, &err);
	ck_assert_str_eq(next(d), "2000 2001 2000 2001 memory 0x6000,8 0x37 0x107");
	ck_assert_str_eq(next(d), "");
	ts_rows_close(d);
	fini(&a);
	fini(&b);
}
END_TEST

START_TEST(memory_before_the_first_step_is_compared)
{
	check(EDIT_START, 0, 1, 10, "0 0 0 0 memory 0x6000,1 0x7 0x9");
}
END_TEST

/* ------------------------------------------------------------------------------------------------ a stack */

#define STACK UINT64_C(0x7ffff0000000)
#define STACK_MOVED UINT64_C(0x7fff80001000)

static void put_reg(struct script *s, struct ts_steps *to, const char *name, uint64_t value)
{
	const struct ts_regset *set = &s->rec.regs;
	uint8_t bytes[8];

	ts_arch_put(set->arch, bytes, 8, value);
	ts_steps_value(to, TS_FX_REG_WRITE, set->regs[ts_regset_find(set, name)].off, bytes, 8);
}

/* A program that stores addresses of its stack on its stack; once @bad instead of one. */
static void make_stack(struct opened *o, uint64_t sp, uint64_t bad)
{
	o->s = script_new("x86_64", 1, NULL);
	put_reg(o->s, &o->s->rec.initial, "rsp", sp);
	put_word(&o->s->rec.initial, sp + 8, sp + 0x100);
	put_word(&o->s->rec.initial, sp + 16, 77);
	for (unsigned i = 1; i <= 50; i++) {
		put_reg(o->s, &o->s->steps, "rsp", sp - 8 * i);
		put_word(&o->s->steps, sp - 8 * i, i == 20 && bad ? bad : sp - 4 * i);
		ts_steps_close(&o->s->steps, 0x401000 + 4 * i, 4, 0);
	}
	open_script(o);
}

START_TEST(a_stack_may_lie_elsewhere)
{
	struct opened a = { 0 }, b = { 0 };
	struct ts_error err = { 0 };
	struct ts_rows *d;

	make_stack(&a, STACK, 0);
	make_stack(&b, STACK_MOVED, 0);
	d = open_diff(a.q, b.q, true, &err);
	ck_assert_ptr_nonnull(d);
	ck_assert_str_eq(next(d), "");
	ts_rows_close(d);
	d = open_diff(a.q, b.q, false, &err);
	ck_assert_str_eq(next(d), "0 0 0 0 register $rsp 0x7ffff0000000 0x7fff80001000");
	ts_rows_close(d);
	fini(&b);
	make_stack(&b, STACK_MOVED, 5);
	d = open_diff(a.q, b.q, true, &err);
	ck_assert_str_eq(next(d), "19 20 19 20 memory 0x7fffefffff60,8 0x7fffefffffb0 0x5");
	ck_assert_str_eq(next(d), "");
	ts_rows_close(d);
	fini(&a);
	fini(&b);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = { the_same_program_does_not_differ,
				       steps_of_one_only_are_one_row,
				       values_that_differ_are_rows,
				       threads_may_take_other_turns,
				       steps_of_one_only_are_a_row_for_each_turn,
				       registers_are_those_that_other_threads_left,
				       what_a_thread_writes_after_another_one_did_is_compared,
				       a_program_may_lie_elsewhere,
				       processors_must_be_the_same,
				       what_one_step_writes_is_compared_with_what_stands_there,
				       memory_before_the_first_step_is_compared,
				       a_stack_may_lie_elsewhere };
	Suite *s = unit_suite_of("ask_diff", NULL, NULL, tests, sizeof(tests) / sizeof(tests[0]));
	TCase *tc = tcase_create("kernel");

	tcase_add_loop_test(tc, what_the_kernel_writes_is_compared_as_far_as_both_say_it, 3, 4);
	tcase_add_loop_test(tc, what_the_kernel_writes_is_compared_as_far_as_both_say_it, 8, 9);
	suite_add_tcase(s, tc);
	tc = tcase_create("inserted");
	tcase_add_loop_test(tc, after_an_insertion_the_same_steps_are_those_of_other_chunks, 0, 4);
	suite_add_tcase(s, tc);
	return s;
}
