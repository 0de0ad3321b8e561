/* SPDX-License-Identifier: MIT */
/*
 * When an address was executed, against a plain list of all steps.
 */
#include "unit.h"

#include "script.h"
#include "src/timeline/runs/runs_builder.h"

#define MAX_STEPS 4000

static struct {
	uint64_t pc;
	uint32_t process;
} steps[MAX_STEPS];
static uint64_t n_steps;
static struct ts_runs runs;
static struct ts_runs_builder builder;

static void setup(void)
{
	n_steps = 0;
	runs = (struct ts_runs){ 0 };
	ts_runs_builder_init(&builder, &runs);
}

static void teardown(void)
{
	ts_runs_builder_fini(&builder);
	ts_runs_fini(&runs);
}

/* Thread and process are the same here. */
static void step(uint32_t process, uint64_t pc, uint16_t insn_len)
{
	steps[n_steps].pc = pc;
	steps[n_steps].process = process;
	if (!ts_runs_step(&builder, n_steps++, process, process, pc, insn_len))
		ck_abort_msg("no memory");
}

static void seal(void)
{
	ck_assert(ts_runs_seal(&builder, n_steps, false));
}

static bool is_there(uint64_t pos, uint32_t process, uint64_t first, uint64_t last)
{
	return steps[pos].process == process && steps[pos].pc != TS_NO_PC && steps[pos].pc >= first &&
	       steps[pos].pc <= last;
}

static void check(uint32_t process, uint64_t first, uint64_t last, uint64_t pos)
{
	uint64_t next = pos, prev = pos < n_steps ? pos + 1 : n_steps;

	while (next < n_steps && !is_there(next, process, first, last))
		next++;
	while (prev > 0 && !is_there(prev - 1, process, first, last))
		prev--;
	next = next < n_steps ? next : TS_NO_POS;
	prev = prev ? prev - 1 : TS_NO_POS;
	if (ts_runs_find(&runs, process, first, last, pos, TS_FORWARDS) != next ||
	    ts_runs_find(&runs, process, first, last, pos, TS_BACKWARDS) != prev)
		ck_abort_msg("0x%lx..0x%lx of %u from %lu: %ld and %ld, not %ld and %ld", (long)first,
			     (long)last, process, (long)pos,
			     (long)ts_runs_find(&runs, process, first, last, pos, TS_FORWARDS),
			     (long)ts_runs_find(&runs, process, first, last, pos, TS_BACKWARDS), (long)next, (long)prev);
}

/* Each address that was executed, from each position. */
static void check_all(void)
{
	for (uint64_t i = 0; i < n_steps; i++) {
		for (uint64_t pos = 0; pos <= n_steps; pos++)
			check(steps[i].process, steps[i].pc, steps[i].pc, pos);
	}
}

START_TEST(every_instruction_of_a_run_longer_than_the_longest_is_found)
{
	for (unsigned i = 0; i < 2 * TS_MAX_RUN + 3; i++)
		step(0, 0x1000 + 4 * i, 4);
	seal();
	check_all();
	ck_assert_uint_eq(runs.n, 3);
}
END_TEST

static void count_all(void *user, const struct ts_run_count *c)
{
	*(uint64_t *)user += c->n;
}

START_TEST(an_unknown_pc_is_no_address)
{
	struct ts_runs_at at = { 0 };
	uint64_t n = 0;

	step(0, TS_NO_PC, 0);
	step(0, UINT64_MAX - 2, 2);
	step(0, TS_NO_PC, 0); /* where the run would go on */
	step(0, TS_NO_PC, 0);
	step(0, 0x10, 2);
	seal();
	check_all();
	check(0, 0, UINT64_MAX, 0);
	check(0, 0x11, UINT64_MAX, 4);
	while (ts_runs_each(&runs, 0, n_steps, &at, 1, count_all, &n))
		;
	ck_assert_uint_eq(n, 2);
}
END_TEST

START_TEST(a_run_over_the_end_of_the_address_space_is_found_on_both_sides)
{
	step(0, UINT64_MAX - 5, 4);
	step(0, UINT64_MAX - 1, 4);
	step(0, 2, 4);
	step(0, 6, 4);
	seal();
	check_all();
	check(0, 0, 5, 0);
	check(0, UINT64_MAX - 3, UINT64_MAX, 3);
}
END_TEST

START_TEST(an_instruction_of_unknown_or_great_length_ends_its_run)
{
	step(0, 0x10, 2);
	step(0, 0x12, 0);
	step(0, 0x12, 0);
	step(0, 0x12, 2);
	step(0, 0x14, 256);
	step(0, 0x114, 255);
	step(0, 0x213, 1);
	seal();
	check_all();
	check(0, 0x13, 0x13, 0);
}
END_TEST

START_TEST(another_process_at_the_same_address_is_not_found)
{
	step(0, 0x10, 2);
	step(1, 0x12, 2);
	step(0, 0x12, 2);
	step(1, 0x10, 2);
	seal();
	check_all();
	ck_assert_uint_eq(ts_runs_find(&runs, 2, 0, UINT64_MAX, 0, TS_FORWARDS), TS_NO_POS);
}
END_TEST

START_TEST(a_loop_is_stored_once)
{
	for (unsigned i = 0; i < 100; i++) {
		step(0, 0x10, 2);
		step(0, 0x12, 2);
		step(0, 0x14, 1);
	}
	seal();
	ck_assert_uint_eq(runs.n, 1);
	check_all();
}
END_TEST

START_TEST(only_what_is_sealed_is_found)
{
	step(0, 0x10, 2);
	ck_assert_uint_eq(ts_runs_find(&runs, 0, 0x10, 0x10, 0, TS_FORWARDS), TS_NO_POS);
	ck_assert_uint_eq(ts_runs_find(&runs, 0, 0x10, 0x10, 0, TS_BACKWARDS), TS_NO_POS);
	seal();
	ck_assert_uint_eq(ts_runs_find(&runs, 0, 0x10, 0x10, 0, TS_FORWARDS), 0);
	ck_assert_uint_eq(ts_runs_find(&runs, 0, 0x10, 0x10, UINT64_MAX, TS_BACKWARDS), 0);
	ck_assert_uint_eq(ts_runs_find(&runs, 0, 0x10, 0x10, UINT64_C(1) << 32, TS_FORWARDS), TS_NO_POS);
}
END_TEST

START_TEST(random_code_in_several_segments_is_found_as_in_the_list)
{
	struct script_random r = { 5 };
	uint64_t pc = 0;

	while (n_steps < MAX_STEPS) {
		uint16_t len = (uint16_t)(1 + script_below(&r, 3));

		if (script_chance(&r, 15))
			pc = script_below(&r, 4) ? 0x100 * script_below(&r, 6)
						 : UINT64_MAX - script_below(&r, 40);
		step((uint32_t)script_below(&r, 100) / 98, pc, script_chance(&r, 3) ? 0 : len);
		pc += len;
		if (script_below(&r, 1000) == 0)
			seal();
	}
	seal();
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t first = steps[script_below(&r, n_steps)].pc - script_below(&r, 3), last = first;

		if (script_chance(&r, 50) && first <= UINT64_MAX - 100)
			last += script_below(&r, 100);
		check((uint32_t)script_below(&r, 2), first, last, script_below(&r, n_steps + 2));
	}
}
END_TEST

/* Steps in all the ways in which they may follow, and not follow, each other. */
static void make_steps(struct script_random *r, struct ts_step *list, size_t n)
{
	uint64_t pc = 0x1000;
	uint32_t thread = 0;

	for (size_t i = 0; i < n; i++) {
		static const uint16_t odd[] = { 0, UINT8_MAX, UINT8_MAX + 1, UINT16_MAX };
		uint16_t len = (uint16_t)(1 + script_below(r, 4));

		if (script_chance(r, 2))
			len = odd[script_below(r, 4)];
		if (script_chance(r, 3))
			pc = script_below(r, 3) ? 0x1000 * (1 + script_below(r, 4)) : UINT64_MAX - script_below(r, 60);
		if (script_chance(r, 2))
			thread = (uint32_t)script_below(r, 2);
		list[i] = (struct ts_step){ .pc = pc, .thread = thread, .insn_len = len };
		pc += len;
	}
}

START_TEST(steps_taken_together_are_the_runs_that_they_are_one_by_one)
{
	enum { N = 50000 };
	static struct ts_step list[N];
	struct script_random r = { 9 };
	struct ts_runs other = { 0 };
	struct ts_runs_builder together;

	make_steps(&r, list, N);
	for (size_t i = 0; i < N; i++)
		ck_assert(ts_runs_step(&builder, i, list[i].thread, list[i].thread, list[i].pc,
				       list[i].insn_len));
	ts_runs_builder_init(&together, &other);
	for (size_t i = 0, end; i < N; i = end) {
		end = i + 1 + script_below(&r, 300);
		end = end < N ? end : N;
		while ((i = (size_t)(ts_runs_extend(&together, list + i, list + end) - list)) < end) {
			ck_assert(ts_runs_step(&together, i, list[i].thread, list[i].thread, list[i].pc,
					       list[i].insn_len));
			i++;
		}
	}
	ck_assert(ts_runs_flush(&builder) && ts_runs_flush(&together));
	ck_assert_uint_gt(other.n, 100);
	ck_assert_uint_eq(other.n, runs.n);
	ck_assert_mem_eq(other.runs, runs.runs, runs.n * sizeof(*runs.runs));
	ck_assert_mem_eq(other.lens, runs.lens, runs.n_lens);
	ck_assert_uint_eq(together.pairs.n, builder.pairs.n);
	ck_assert_mem_eq(together.pairs.items, builder.pairs.items,
			 builder.pairs.n * sizeof(*builder.pairs.items));
	ts_runs_builder_fini(&together);
	ts_runs_fini(&other);
}
END_TEST

UNIT_FIXTURE_SUITE("runs", setup, teardown, every_instruction_of_a_run_longer_than_the_longest_is_found,
		   an_unknown_pc_is_no_address,
		   a_run_over_the_end_of_the_address_space_is_found_on_both_sides,
		   an_instruction_of_unknown_or_great_length_ends_its_run,
		   another_process_at_the_same_address_is_not_found,
		   a_loop_is_stored_once,
		   only_what_is_sealed_is_found,
		   random_code_in_several_segments_is_found_as_in_the_list,
		   steps_taken_together_are_the_runs_that_they_are_one_by_one)
