/* SPDX-License-Identifier: MIT */
/*
 * The answers of why are those of a walk over all steps, for random programs by several threads.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "twins.h"
#include "why_case.h"

static char want[400000];
static size_t n_want;
static struct {
	unsigned place;
	uint64_t pos;
} shown[2000];
static size_t n_shown;
static unsigned n_kinds[5];

static void put_want(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put_want(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	n_want += (size_t)vsnprintf(want + n_want, sizeof(want) - n_want, format, args);
	va_end(args);
	ck_assert_uint_lt(n_want, sizeof(want) - 1);
}

/* The place of the register or slot number @i that a question at @at is about. */
static unsigned place_at(unsigned i, uint64_t at)
{
	p.thread = p.threads[at < p.n ? at : p.n - 1];
	return i < N_REGS ? reg_place(i) : i;
}

/* "depth position kind place value" of the last writer, then of what it used. */
static void walk(unsigned place, uint64_t before, unsigned depth, unsigned max_depth)
{
	uint64_t k = before;
	const struct made *m;

	while (k-- > 0 && p.steps[k].writes != place)
		;
	if (k == UINT64_MAX) {
		put_want("%u  start %s 0x%" PRIx64 "\n", depth, name_of(place), (uint64_t)0x1000 + place);
		n_kinds[0]++;
		return;
	}
	m = &p.steps[k];
	for (size_t i = 0; i < n_shown; i++) {
		if (shown[i].place == place && shown[i].pos == k) {
			put_want("%u %" PRIu64 " seen %s 0x%" PRIx64 "\n", depth, k, name_of(place),
				 m->value);
			n_kinds[1]++;
			return;
		}
	}
	ck_assert_uint_lt(n_shown, 2000);
	if (!m->is_syscall && depth < max_depth) {
		shown[n_shown].place = place;
		shown[n_shown++].pos = k;
	}
	put_want("%u %" PRIu64 " %s %s 0x%" PRIx64 "\n", depth, k,
		 m->is_syscall	       ? "input"
		 : depth == max_depth ? "cut"
				       : "write",
		 name_of(place), m->value);
	n_kinds[m->is_syscall ? 2 : 3]++;
	if (depth == max_depth || m->is_syscall)
		return;
	if (m->is_constant) {
		put_want("%u  constant  0x%" PRIx64 "\n", depth + 1, m->constant);
		n_kinds[4]++;
	}
	for (unsigned i = 0; i < m->n; i++)
		walk(m->inputs[i], k, depth + 1, max_depth);
}

#define N_PROGRAMS 200
#define N_QUESTIONS 40

START_TEST(the_naive_twin_agrees)
{
	uint64_t n_programs = twins_n_questions() ? twins_n_questions() / N_QUESTIONS + 1 : N_PROGRAMS;

	for (uint64_t program = 1; program <= n_programs; program++) {
		uint64_t seed = twins_seed(program);
		struct script_random rnd = { seed };
		uint64_t pc = CODE, n = 5 + script_below(&rnd, 200);

		begin();
		for (uint64_t i = 0; i < n; i++) {
			if (script_chance(&rnd, program % 3 * 20))
				p.thread = (uint32_t)script_below(&rnd, N_THREADS);
			pc += make_step(&rnd, pc);
		}
		ask_text_init(&a, &p.s->rec);
		for (unsigned i = 0; i < N_QUESTIONS; i++) {
			uint64_t at = script_below(&rnd, n + 1);
			unsigned place = place_at((unsigned)script_below(&rnd, N_REGS + N_SLOTS), at),
				 depth = (unsigned)script_below(&rnd, 7);
			char question[100];

			snprintf(question, sizeof(question), "why %s at %" PRIu64 " depth %u", name_of(place),
				 at, depth);
			n_want = n_shown = 0;
			walk(place, at, 0, depth);
			ck_assert_msg(!strcmp(got(question), want), "seed %" PRIu64 ": %s: got\n%swanted\n%s",
				      seed, question, got(question), want);
		}
		finish();
	}
	for (unsigned i = 0; i < 5; i++)
		ck_assert_msg(n_kinds[i] > n_programs / 10, "%u: %u", i, n_kinds[i]);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("ask_why_twin");
	TCase *c = twins_case();

	tcase_add_test(c, the_naive_twin_agrees);
	suite_add_tcase(suite, c);
	return suite;
}
