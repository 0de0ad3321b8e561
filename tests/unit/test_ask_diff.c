/* SPDX-License-Identifier: MIT */
/*
 * Differences that were planted are found where they are, and no others.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "script.h"
#include "src/ask/diff.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

#define N_STEPS 5000
#define SHIFT UINT64_C(0x10000)

struct opened {
	struct script *s;
	struct ts_timeline *tl;
	struct ts_query *q;
};

/* A change to one of two copies of a recording. */
enum edit {
	EDIT_NONE,
	EDIT_INSERT, /* 7 steps that the first one does not have */
	EDIT_REMOVE, /* 5 steps */
	EDIT_REPLACE, /* 4 steps by 9 others */
	EDIT_REG,
	EDIT_MEM,
};

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

/*
 * Steps of a program whose addresses repeat, but never the same sequence of them.  @shift: where the program lies.
 * With two threads they take turns of @turn steps.
 */
static void make(struct opened *o, enum edit edit, uint64_t at, uint64_t shift, unsigned n_threads, unsigned turn)
{
	struct script_random rnd[2] = { { 5 }, { 6 } };
	uint64_t n[2] = { 0, 0 };
	struct ts_error err = { 0 };

	o->s = script_new("x86_64", n_threads, NULL);
	for (uint64_t k = 0; n[0] + n[1] < N_STEPS * n_threads; k++) {
		uint32_t thread = (uint32_t)(k / turn % n_threads);
		bool is_here = !thread && n[0] == at;
		uint64_t pc, value;

		if (n[thread] == N_STEPS)
			continue;
		pc = 0x400000 + 4 * script_below(&rnd[thread], 500);
		value = pc + n[thread];
		if (is_here && edit == EDIT_INSERT) {
			for (unsigned i = 0; i < 7; i++)
				put_step(o->s, 0x600000 + 4 * i + shift, 1, 1, 0);
		}
		if (is_here && edit == EDIT_REPLACE) {
			for (unsigned i = 0; i < 9; i++)
				put_step(o->s, 0x700000 + 4 * i + shift, 1, 1, 0);
		}
		n[thread]++;
		if (!thread && ((edit == EDIT_REMOVE && n[0] > at && n[0] <= at + 5) ||
				(edit == EDIT_REPLACE && n[0] > at && n[0] <= at + 4)))
			continue;
		put_step(o->s, pc + shift, is_here && edit == EDIT_REG ? 99 : value,
			 is_here && edit == EDIT_MEM ? 98 : value + shift, thread);
	}
	o->tl = ts_timeline_new(&o->s->rec, NULL, &err);
	ck_assert_ptr_nonnull(o->tl);
	ck_assert_int_eq(ts_timeline_grow(o->tl, UINT64_MAX, &err), TS_GROW_DONE);
	o->q = ts_query_new(o->tl, &err);
	ck_assert_ptr_nonnull(o->q);
}

static void fini(struct opened *o)
{
	ts_query_free(o->q);
	ts_timeline_free(o->tl);
	script_free(o->s);
}

/* The next row as text; "" after the last. */
static const char *next(struct ts_diff *d)
{
	static char text[200];
	struct ts_error err = { 0 };
	struct ts_row row;
	enum ts_got got;

	ts_row_init(&row);
	do {
		struct ts_budget budget = { 3 };

		got = ts_diff_next(d, &row, &budget, &err);
	} while (got == TS_GOT_PENDING);
	ck_assert_msg(got != TS_GOT_FAIL, "%s", err.text);
	*text = 0;
	if (got == TS_GOT_ROW) {
		int n = 0;

		for (unsigned i = 0; i < 8; i++)
			n += row.cells[i].kind == TS_CELL_NUMBER
				     ? sprintf(text + n, "%ld ", (long)row.cells[i].number)
			     : row.cells[i].kind == TS_CELL_TEXT ? sprintf(text + n, "%s ", ts_row_get(&row, i)) : 0;
		text[n - 1] = 0;
	}
	ts_row_fini(&row);
	return text;
}

static void check(enum edit edit, uint64_t at, unsigned n_threads, unsigned turn, const char *want)
{
	struct opened a, b;
	struct ts_error err = { 0 };
	struct ts_diff *d;

	make(&a, EDIT_NONE, 0, 0, n_threads, 10);
	make(&b, edit, at, 0, n_threads, turn);
	d = ts_diff_new(a.q, b.q, false, &err);
	ck_assert_ptr_nonnull(d);
	if (*want)
		ck_assert_str_eq(next(d), want);
	ck_assert_str_eq(next(d), "");
	ts_diff_free(d);
	fini(&a);
	fini(&b);
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

/* The value at 2000 comes from the definition of make(). */
START_TEST(values_that_differ_are_rows)
{
	struct script_random rnd = { 5 };
	char want[100];
	uint64_t pc = 0;

	for (unsigned i = 0; i <= 2000; i++)
		pc = 0x400000 + 4 * script_below(&rnd, 500);
	sprintf(want, "2000 2001 2000 2001 register $rbx 0x%lx 0x63", (long)pc + 2000);
	check(EDIT_REG, 2000, 1, 10, want);
	sprintf(want, "2000 2001 2000 2001 memory 0x5000,8 0x%lx 0x62", (long)pc + 2000);
	check(EDIT_MEM, 2000, 1, 10, want);
}
END_TEST

START_TEST(threads_may_take_other_turns)
{
	check(EDIT_NONE, 0, 2, 37, "");
	check(EDIT_INSERT, 300, 2, 10, "600 600 600 607 path");
}
END_TEST

START_TEST(a_program_may_lie_elsewhere)
{
	struct opened a, b;
	struct ts_error err = { 0 };
	struct ts_diff *d;

	make(&a, EDIT_NONE, 0, 0, 1, 10);
	make(&b, EDIT_NONE, 0, SHIFT, 1, 10);
	d = ts_diff_new(a.q, b.q, false, &err);
	ck_assert_str_eq(next(d), "0 5000 0 5000 path");
	ts_diff_free(d);
	d = ts_diff_new(a.q, b.q, true, &err);
	ck_assert_ptr_nonnull(d);
	/* memory at 0x5000 lies elsewhere as well, as if it belonged to the program */
	ck_assert_str_eq(next(d), "");
	ts_diff_free(d);
	fini(&a);
	fini(&b);
}
END_TEST

START_TEST(processors_must_be_the_same)
{
	struct opened a;
	struct script *s = script_random_new(1, 50);
	struct ts_error err = { 0 };

	make(&a, EDIT_NONE, 0, 0, 1, 10);
	if (strcmp(s->rec.regs.arch->name, "x86_64")) {
		struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);
		struct ts_query *q;

		ck_assert_int_eq(ts_timeline_grow(tl, UINT64_MAX, &err), TS_GROW_DONE);
		q = ts_query_new(tl, &err);
		ck_assert_ptr_null(ts_diff_new(a.q, q, false, &err));
		ck_assert_int_eq(err.code, TS_EUSAGE);
		ts_query_free(q);
		ts_timeline_free(tl);
	}
	script_free(s);
	fini(&a);
}
END_TEST

UNIT_SUITE("ask_diff", the_same_program_does_not_differ, steps_of_one_only_are_one_row, values_that_differ_are_rows,
	   threads_may_take_other_turns, a_program_may_lie_elsewhere, processors_must_be_the_same)
