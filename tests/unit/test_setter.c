/* SPDX-License-Identifier: MIT */
/*
 * Who set a flag, and the last branch, against a walk over all steps: of random programs that set flags
 * seldom, change their code, and have several threads.
 */
#include "unit.h"

#include "ask_text.h"
#include "script.h"
#include "src/ask/setter.h"
#include "twins.h"

#include <inttypes.h>
#include <string.h>

#define CODE        UINT64_C(0x401000)
#define N_BLOCKS    10u
#define BLOCK_LEN   0x40u /* bytes from one to the next */
#define MAX_INSNS   6u    /* of a block */
#define INSN_LEN    3u
#define MAX_STEPS   6000u
#define N_QUESTIONS 40u

#define CF     (1u << 0)
#define STATUS (CF | 1u << 2 | 1u << 4 | 1u << 6 | 1u << 7 | 1u << 11) /* CF PF AF ZF SF OF */
#define DF     (1u << 10)

/* Intel's manual, volume 2: flags affected.  Prefixes that do nothing make all of one length. */
static const struct insn {
	char bytes[INSN_LEN + 1];
	uint32_t does;
	unsigned weight;
} insns[] = {
	{ "\x48\x89\xd2", 0, 60 },             /* mov rdx, rdx */
	{ "\x0f\x1f\x00", 0, 60 },             /* nop */
	{ "\x48\x39\xc8", STATUS, 3 },         /* cmp rax, rcx */
	{ "\x48\xff\xc2", STATUS & ~CF, 3 },   /* inc rdx */
	{ "\x2e\x2e\xf9", CF, 2 },             /* stc */
	{ "\x2e\x2e\xfd", DF, 1 },             /* std */
	{ "\x2e\x75\x10", TS_FLAG_BRANCH, 2 }, /* jnz */
	{ "\x2e\xe3\x10", TS_FLAG_BRANCH, 1 }, /* jrcxz */
	{ "\x06\x06\x06", 0, 2 },              /* no instruction of 64-bit code */
};
#define N_INSNS (sizeof(insns) / sizeof(insns[0]))

static const uint32_t asked[] = { CF, 1u << 6, DF, TS_FLAG_BRANCH, STATUS | DF };
#define N_ASKED (sizeof(asked) / sizeof(asked[0]))

static struct {
	struct script *s;
	const struct insn *code[N_BLOCKS][MAX_INSNS]; /* as it is now */
	unsigned len[N_BLOCKS];
	uint32_t does[MAX_STEPS], thread[MAX_STEPS];
	uint64_t n;
} p;

static struct ask_text a;

static const struct insn *any_insn(struct script_random *rnd)
{
	unsigned all = 0, at;

	for (size_t i = 0; i < N_INSNS; i++)
		all += insns[i].weight;
	at = (unsigned)script_below(rnd, all);
	for (size_t i = 0;; at -= insns[i++].weight) {
		if (at < insns[i].weight)
			return &insns[i];
	}
}

static uint64_t addr_of(unsigned block, unsigned i)
{
	return CODE + block * BLOCK_LEN + i * INSN_LEN;
}

/* Put another instruction somewhere, among @to: the initial contents, or what a step does. */
static void rewrite(struct script_random *rnd, struct ts_steps *to, unsigned block, unsigned i)
{
	p.code[block][i] = any_insn(rnd);
	ts_steps_value(to, TS_FX_WRITE, addr_of(block, i), p.code[block][i]->bytes, INSN_LEN);
}

static void run_block(struct script_random *rnd, unsigned block, uint32_t thread, unsigned rewrites)
{
	for (unsigned i = 0; i < p.len[block] && p.n < MAX_STEPS; i++) {
		p.does[p.n] = p.code[block][i]->does;
		p.thread[p.n++] = thread;
		if (script_below(rnd, 1000) < rewrites) {
			unsigned other =
				script_chance(rnd, 30) ? block : (unsigned)script_below(rnd, N_BLOCKS);

			rewrite(rnd, &p.s->steps, other, (unsigned)script_below(rnd, p.len[other]));
		}
		ts_steps_close(&p.s->steps, addr_of(block, i), INSN_LEN, thread);
	}
}

static void make_program(struct script_random *rnd)
{
	uint32_t n_threads = 1 + (uint32_t)script_below(rnd, 3), thread = 0;
	unsigned rewrites =
		script_chance(rnd, 50) ? 0 : (unsigned)script_below(rnd, script_chance(rnd, 30) ? 300 : 20);

	memset(&p, 0, sizeof(p));
	p.s = script_new("x86_64", n_threads, NULL);
	ck_assert_ptr_nonnull(p.s);
	for (unsigned b = 0; b < N_BLOCKS; b++) {
		p.len[b] = 1 + (unsigned)script_below(rnd, MAX_INSNS);
		for (unsigned i = 0; i < p.len[b]; i++)
			rewrite(rnd, &p.s->rec.initial, b, i);
	}
	while (p.n < MAX_STEPS) {
		unsigned block = (unsigned)script_below(rnd, N_BLOCKS);

		if (script_chance(rnd, 20))
			thread = (uint32_t)script_below(rnd, n_threads);
		for (uint64_t n = 1 + script_below(rnd, script_chance(rnd, 20) ? 300 : 5); n--;)
			run_block(rnd, block, thread, rewrites);
	}
}

static void finish(void)
{
	ask_text_fini(&a);
	script_free(p.s);
}

static uint64_t walk(uint32_t thread, uint64_t before, uint32_t does)
{
	while (before-- > 0) {
		if (p.thread[before] == thread && p.does[before] & does)
			return before;
	}
	return TS_NO_POS;
}

/* With a budget of @slice at a time. */
static uint64_t find(struct ts_query *q, uint32_t thread, uint64_t before, uint32_t does, uint32_t slice)
{
	struct ts_setter s = { 0 };
	struct ts_error err = { 0 };
	enum ts_got got = TS_GOT_PENDING;

	while (got == TS_GOT_PENDING) {
		struct ts_budget budget = { slice };

		got = ts_setter_find(&s, q, thread, before, does, &budget, &err);
	}
	ck_assert_msg(got == TS_GOT_ROW || got == TS_GOT_END, "%s", err.text);
	ts_setter_fini(&s);
	return got == TS_GOT_ROW ? s.pos : TS_NO_POS;
}

/* A random question about steps below @end.  Returns the answer. */
static uint64_t ask(struct script_random *rnd, struct ts_query *q, uint64_t end, uint64_t seed,
		    uint64_t *before)
{
	uint32_t thread = (uint32_t)script_below(rnd, p.s->n_threads),
		 does = asked[script_below(rnd, N_ASKED)], slice = 1 + (uint32_t)script_below(rnd, 100);
	uint64_t wanted, got;

	*before = script_below(rnd, end + 1);
	wanted = walk(thread, *before, does);
	got = find(q, thread, *before, does, slice);
	ck_assert_msg(got == wanted,
		      "seed %" PRIu64 ": thread %u, %x before %" PRIu64 ": %" PRId64 ", not %" PRId64, seed,
		      thread, does, *before, (int64_t)got, (int64_t)wanted);
	return wanted;
}

START_TEST(the_naive_twin_agrees)
{
	uint64_t n_programs = twins_n_questions() ? twins_n_questions() / N_QUESTIONS + 1 : 40, n_far = 0,
		 n_none = 0;

	for (uint64_t program = 1; program <= n_programs; program++) {
		struct script_random rnd = { twins_seed(program) };

		make_program(&rnd);
		ask_text_init(&a, &p.s->rec);
		for (unsigned i = 0; i < N_QUESTIONS; i++) {
			uint64_t before, pos = ask(&rnd, a.q, MAX_STEPS, twins_seed(program), &before);

			n_far += pos != TS_NO_POS && pos + 1500 < before;
			n_none += pos == TS_NO_POS;
		}
		finish();
	}
	ck_assert_uint_gt(n_far, n_programs);
	ck_assert_uint_gt(n_none, n_programs / 4);
}
END_TEST

/* Asked again and again while the recording is being read. */
START_TEST(what_was_found_out_is_found_out_again_when_there_is_more)
{
	for (uint64_t program = 1; program <= 8; program++) {
		struct script_random rnd = { program };
		struct ts_error err = { 0 };
		enum ts_grow grown = TS_GROW_MORE;
		struct ts_timeline *tl;
		struct ts_query *q = NULL;
		uint64_t before;

		make_program(&rnd);
		tl = ts_timeline_new(&p.s->rec, NULL, &err);
		ck_assert_ptr_nonnull(tl);
		while (grown == TS_GROW_MORE) {
			grown = ts_timeline_grow(tl, 1 + script_below(&rnd, 1500), &err);
			ck_assert_int_ne(grown, TS_GROW_FAILED);
			q = q ? q : ts_query_new(tl, &err);
			ck_assert_ptr_nonnull(q);
			ts_query_refresh(q);
			for (unsigned i = 0; i < 10; i++)
				ask(&rnd, q, ts_query_end(q), program, &before);
		}
		ck_assert_uint_eq(ts_query_end(q), MAX_STEPS);
		ts_query_free(q);
		ts_timeline_free(tl);
		script_free(p.s);
	}
}
END_TEST

/* std; then @n_turns of a block that does nothing. */
static void make_far(unsigned n_turns)
{
	struct script_random rnd = { 1 };

	memset(&p, 0, sizeof(p));
	p.s = script_new("x86_64", 1, NULL);
	p.len[0] = 1;
	p.len[1] = MAX_INSNS;
	for (unsigned b = 0; b < 2; b++) {
		for (unsigned i = 0; i < p.len[b]; i++) {
			p.code[b][i] = &insns[b ? 0 : 5];
			ts_steps_value(&p.s->rec.initial, TS_FX_WRITE, addr_of(b, i), p.code[b][i]->bytes,
				       INSN_LEN);
		}
	}
	run_block(&rnd, 0, 0, 0);
	while (n_turns--)
		run_block(&rnd, 1, 0, 0);
	ask_text_init(&a, &p.s->rec);
}

START_TEST(what_lies_between_is_not_read)
{
	struct ts_budget budget = { UINT32_MAX };
	struct ts_setter s = { 0 };
	struct ts_error err = { 0 };
	uint64_t n_reads;

	make_far(900);
	n_reads = p.s->n_reads;
	ck_assert_int_eq(ts_setter_find(&s, a.q, 0, p.n, DF, &budget, &err), TS_GOT_ROW);
	ck_assert_uint_eq(s.pos, 0);
	ck_assert_uint_lt(p.s->n_reads - n_reads, 1200); /* the nearest 1,024, and a chunk here and there */
	ts_setter_fini(&s);
	finish();
}
END_TEST

static void step(unsigned block, const struct insn *writes)
{
	if (writes)
		ts_steps_value(&p.s->steps, TS_FX_WRITE, addr_of(1, 0), writes->bytes, INSN_LEN);
	ts_steps_close(&p.s->steps, addr_of(block, 0), INSN_LEN, 0);
	p.n++;
}

/* Two steps write std over a nop, and the nop again; between them it is executed, and never before. */
START_TEST(code_that_stands_there_for_a_step_only_is_seen)
{
	memset(&p, 0, sizeof(p));
	p.s = script_new("x86_64", 1, NULL);
	ts_steps_value(&p.s->rec.initial, TS_FX_WRITE, addr_of(0, 0), insns[0].bytes, INSN_LEN);
	ts_steps_value(&p.s->rec.initial, TS_FX_WRITE, addr_of(1, 0), insns[1].bytes, INSN_LEN);
	step(0, &insns[5]);
	step(1, NULL);
	step(0, &insns[1]);
	for (unsigned i = 0; i < 1500; i++)
		step(i % 2, NULL);
	ask_text_init(&a, &p.s->rec);
	ck_assert_uint_eq(find(a.q, 0, p.n, DF, 16), 1);
	finish();
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = { what_lies_between_is_not_read,
				       code_that_stands_there_for_a_step_only_is_seen,
				       what_was_found_out_is_found_out_again_when_there_is_more };
	Suite *suite = unit_suite_of("setter", NULL, NULL, tests, sizeof(tests) / sizeof(tests[0]));
	TCase *c = twins_case();

	tcase_add_test(c, the_naive_twin_agrees);
	suite_add_tcase(suite, c);
	return suite;
}
