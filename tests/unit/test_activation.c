/* SPDX-License-Identifier: MIT */
/*
 * Conditions that are judged after a function's prologue: a made-up program in which prologues are interrupted by
 * other threads and by calls of the same function, left early, and begun again, and its own list of what each
 * activation had in rdi there.
 */
#include "unit.h"

#include "ask_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_THREADS 3u
#define N_STEPS   12000u
#define MAX_DEPTH 6u

/* The function, and where it is after its prologue; a call in its body, and its end. */
#define ENTRY 0x401100u
#define BODY  0x40110cu
#define CALL  0x401110u
#define END   0x401200u
/* A call that may happen anywhere, as that of a profiler, and one outside of the function. */
#define HOOK 0x402000u
#define MAIN 0x403000u

#define CALL_LEN 5u

/* reg rdi, const8 3, swap, less_unsigned, end */
#define MORE_THAN_3 "26000522032b1527"

struct activation {
	uint64_t begin, pos; /* after the call or jump, and where the thread goes on */
	bool has_body;
	uint64_t value; /* of rdi where it was at BODY first */
	uint64_t value_at_begin;
};

struct frame {
	uint32_t pc, back; /* where it goes on, and where it returns to */
	size_t activation;
};

struct thread {
	struct frame frames[MAX_DEPTH];
	unsigned depth;
	uint64_t sp, rdi;
};

static struct script *s;
static struct thread threads[N_THREADS];
static struct activation *activations; /* owned; N_STEPS */
static size_t n_activations;
static uint32_t off_rdi, off_sp;

static uint64_t now(void)
{
	return s->steps.n_steps;
}

static void put_register(uint32_t off, uint64_t value)
{
	ts_steps_value(&s->steps, TS_FX_REG_WRITE, off, &value, 8);
}

static void put_step(unsigned thread, uint32_t pc)
{
	ts_steps_close(&s->steps, pc, pc == HOOK || pc == CALL || pc == MAIN ? CALL_LEN : 4, thread);
}

static void begin_activation(struct frame *f, uint64_t rdi)
{
	f->pc = ENTRY;
	f->activation = n_activations;
	activations[n_activations++] = (struct activation){ .begin = now(),
							       .value_at_begin = rdi };
}

static void call(unsigned thread, uint32_t from)
{
	struct thread *t = &threads[thread];
	uint64_t back = from + CALL_LEN;

	t->sp -= 8;
	put_register(off_sp, t->sp);
	ts_steps_value(&s->steps, TS_FX_WRITE, t->sp, &back, 8);
	put_step(thread, from);
	t->frames[t->depth].back = (uint32_t)back;
	begin_activation(&t->frames[t->depth++], t->rdi);
}

static void leave(unsigned thread)
{
	struct thread *t = &threads[thread];

	t->sp += 8;
	put_register(off_sp, t->sp);
	put_step(thread, END);
	put_step(thread, t->frames[--t->depth].back);
}

static void jump_to_entry(unsigned thread, struct frame *f)
{
	put_step(thread, f->pc + 0x300);
	begin_activation(f, threads[thread].rdi);
}

/* The next instruction of the function. */
static void execute(unsigned thread, struct script_random *r)
{
	struct thread *t = &threads[thread];
	struct frame *f = &t->frames[t->depth - 1];
	struct activation *a = &activations[f->activation];

	if (f->pc == ENTRY)
		a->pos = now();
	if (f->pc == BODY && !a->has_body) {
		a->has_body = true;
		a->value = t->rdi;
	}
	if (f->pc == ENTRY || f->pc == ENTRY + 4) {
		t->rdi = script_below(r, 10);
		put_register(off_rdi, t->rdi);
	}
	put_step(thread, f->pc);
	f->pc = f->pc == BODY ? CALL : f->pc + 4;
}

/* The first instruction of an activation is at once its first step: only what comes later is interrupted. */
static void go_on(unsigned thread, struct script_random *r)
{
	struct thread *t = &threads[thread];
	struct frame *f = t->depth ? &t->frames[t->depth - 1] : NULL;
	bool is_calling = t->depth < MAX_DEPTH && script_chance(r, 10);

	if (!f)
		call(thread, MAIN);
	else if (f->pc == ENTRY)
		execute(thread, r);
	else if (is_calling)
		call(thread, HOOK);
	else if (script_chance(r, 4))
		jump_to_entry(thread, f);
	else if (f->pc == CALL && t->depth < MAX_DEPTH && script_chance(r, 40))
		call(thread, CALL);
	else if (script_chance(r, f->pc == CALL ? 50 : 4))
		leave(thread);
	else if (f->pc == CALL)
		f->pc = BODY;
	else
		execute(thread, r);
}

static struct ask_text a;

static void setup(void)
{
	struct script_random r = { 4711 };
	const struct ts_regset *set;
	unsigned thread = 0;

	s = script_new("x86_64", N_THREADS, NULL);
	ck_assert_ptr_nonnull(s);
	set = &s->rec.regs;
	off_rdi = set->regs[ts_regset_find(set, "rdi")].off;
	off_sp = set->regs[ts_regset_find(set, "rsp")].off;
	activations = calloc(N_STEPS + 1, sizeof(*activations));
	ck_assert_ptr_nonnull(activations);
	n_activations = 0;
	for (unsigned i = 0; i < N_THREADS; i++)
		threads[i] = (struct thread){ .sp = 0x7ff000 + 0x100000 * i };
	while (now() < N_STEPS) {
		if (script_chance(&r, 20))
			thread = (unsigned)script_below(&r, N_THREADS);
		go_on(thread, &r);
	}
	ask_text_init(&a, &s->rec);
}

static void teardown(void)
{
	ask_text_fini(&a);
	script_free(s);
	free(activations);
}

static bool only_calls;

static int compare(const void *x, const void *y)
{
	const struct activation *p = x, *q = y;

	return only_calls ? (p->begin > q->begin) - (p->begin < q->begin) : (p->pos > q->pos) - (p->pos < q->pos);
}

/* The number in column 0 or 1 of each row; a call's begin is after the step that led to it. */
static unsigned long long *read_positions(const char *line, size_t n)
{
	unsigned long long *all = calloc(n + 1, sizeof(*all));

	ck_assert_ptr_nonnull(all);
	for (size_t i = 0; i < n; i++) {
		line = strchr(line, '\n');
		ck_assert_ptr_nonnull(line);
		line++;
		if (only_calls)
			line += strcspn(line, "\t") + 1;
		ck_assert_msg(line[0] >= '0' && line[0] <= '9', "no number: %.20s", line);
		all[i] = strtoull(line, NULL, 10);
	}
	return all;
}

/* The rows of @question are the activations that have a value above 3 (or, with !@is_more, not) at BODY. */
static void check(const char *question, bool is_more)
{
	unsigned long long *positions;
	unsigned n = 0, n_all = 0;

	only_calls = !strncmp(question, "calls", 5);
	qsort(activations, n_activations, sizeof(*activations), compare);
	ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s", a.err.text);
	positions = read_positions(ts_buf_text(&a.out), a.n_rows);
	for (size_t i = 0; i < n_activations; i++) {
		const struct activation *x = &activations[i];
		unsigned long long pos;

		n_all++;
		if (!x->has_body || (x->value > 3) != is_more)
			continue;
		ck_assert_msg(n < a.n_rows, "%s: row %u is missing", question, n);
		pos = positions[n++];
		ck_assert_msg(pos == (only_calls ? x->begin : x->pos), "%s: row %u: %llu, not %llu", question, n,
			      pos, (unsigned long long)x->begin);
	}
	free(positions);
	ck_assert_uint_eq(a.n_rows, n);
	ck_assert_uint_gt(n, 100);
	ck_assert_uint_gt(n_all, n + 100);
}

START_TEST(a_condition_is_judged_where_the_same_activation_reaches_the_address)
{
	check("executions 0x401100 if agent " MORE_THAN_3 "@0x40110c", true);
	check("calls 0x401100 if agent " MORE_THAN_3 "@0x40110c", true);
	/* log_not */
	check("calls 0x401100 if agent 26000522032b150e27@0x40110c", false);
	check("executions 0x401100 if agent 26000522032b150e27@0x40110c && agent 220127@0x40110c", false);
	check("executions 0x401100 if agent 220127@0x999 || agent " MORE_THAN_3 "@0x40110c", true);
}
END_TEST

/*
 * Rows are in order of position, whichever way they are asked for, also where other threads run between a jump and the
 * function's first instruction: ranges of steps end there.
 */
START_TEST(entries_are_in_order_of_the_steps_that_led_to_them)
{
	struct script_random r = { 15 };
	char question[100];

	only_calls = true;
	qsort(activations, n_activations, sizeof(*activations), compare);
	for (unsigned i = 0; i < 120; i++) {
		unsigned long long from = script_below(&r, N_STEPS), to = from + 1 + script_below(&r, i < 60 ? 30 : N_STEPS);
		unsigned long long *positions;
		size_t first = 0, n = 0;

		snprintf(question, sizeof(question), "calls 0x401100 in %llu:%llu%s", from, to < N_STEPS ? to : N_STEPS,
			 i % 2 ? " last 100000" : "");
		ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s", a.err.text);
		while (first < n_activations && activations[first].begin <= from)
			first++;
		while (first + n < n_activations && activations[first + n].begin <= to)
			n++;
		while (n && first + n == n_activations && activations[first + n - 1].begin == now())
			n--; /* the function was not entered any more */
		ck_assert_msg(a.n_rows == n, "%s: %u rows, not %zu", question, (unsigned)a.n_rows, n);
		positions = read_positions(ts_buf_text(&a.out), a.n_rows);
		for (size_t k = 0; k < n; k++)
			ck_assert_msg(positions[k] == activations[first + k].begin, "%s: row %zu: %llu, not %llu", question, k,
				      positions[k], (unsigned long long)activations[first + k].begin);
		free(positions);
	}
}
END_TEST

/* Between a call and its first step other threads may run. */
START_TEST(the_registers_at_begin_are_those_of_the_thread_that_calls)
{
	for (size_t i = 0; i < n_activations; i++) {
		activations[i].has_body = true;
		activations[i].value = activations[i].value_at_begin;
	}
	check("calls 0x401100 if $rdi > 3", true);
	check("calls 0x401100 if agent " MORE_THAN_3, true);
}
END_TEST

START_TEST(what_cannot_be_evaluated_does_not_hold)
{
	static const char *const never[] = { "26000027" /* unknown: rax */, "24000099991927" /* unknown memory */,
					     "220122000527" /* 1 / 0 */, "220027", "27" /* no value */ };
	char question[200];

	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		snprintf(question, sizeof(question), "calls 0x401100 if agent %s", never[i]);
		ck_assert_msg(ask_text(&a, TS_FORM_TSV, question), "%s", a.err.text);
		ck_assert_uint_eq(a.n_rows, 0);
	}
}
END_TEST

START_TEST(what_is_not_an_expression_is_refused)
{
	static const char *const bad[] = { "agent", "agent 27x", "agent 2", "agent 22", "agent 27@", "agent 27@x", "agent ff",
					   "agent 27 27" };
	char question[200];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(question, sizeof(question), "calls if %s", bad[i]);
		ck_assert_msg(!ask_text(&a, TS_FORM_TSV, question), "%s", question);
	}
	ck_assert(!ask_text(&a, TS_FORM_TSV, "history $rdi if agent 220127"));
}
END_TEST

UNIT_FIXTURE_SUITE("activation", setup, teardown, a_condition_is_judged_where_the_same_activation_reaches_the_address,
		   entries_are_in_order_of_the_steps_that_led_to_them, the_registers_at_begin_are_those_of_the_thread_that_calls, what_cannot_be_evaluated_does_not_hold, what_is_not_an_expression_is_refused)
