/* SPDX-License-Identifier: MIT */
/*
 * Walks on small recordings written by hand; test_growing walks at random while a recording is read.
 */
#include "unit.h"

#include "script.h"
#include "src/query/search/walk.h"
#include "src/timeline/timeline.h"

static struct script *s;
static struct ts_timeline *tl;
static struct ts_query *q;
static struct ts_break breaks[2];
static struct ts_stops stops;
static struct ts_walk w;
static struct ts_found found;

static void setup(void)
{
	s = script_new("x86_64", 2, NULL);
	ck_assert_ptr_nonnull(s);
	stops = (struct ts_stops){ .breaks = breaks };
	w = (struct ts_walk){ 0 };
}

static void teardown(void)
{
	ts_walk_fini(&w);
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
}

static void build(void)
{
	struct ts_error err = { 0 };

	q = script_query(s, &tl, &err);
	ck_assert_msg(q, "%s", err.text);
}

static void stop_at_pc(uint64_t pc)
{
	breaks[stops.n_breaks++] = (struct ts_break){ 0, pc };
}

static void run_to(uint64_t pos, enum ts_stop_kind kind)
{
	struct ts_error err = { 0 };
	enum ts_walked walked;

	do
		walked = ts_walk_run(&w, &found, &err);
	while (walked == TS_WALK_ON);
	ck_assert_int_eq(walked, TS_WALK_STOP);
	ck_assert_uint_eq(found.pos, pos);
	ck_assert_int_eq(found.kind, kind);
	ck_assert(!ts_walk_is_under_way(&w));
}

START_TEST(a_continue_ends_at_a_breakpoint_or_at_an_end)
{
	for (unsigned i = 0; i < 4; i++)
		script_step(s, 0);
	build();
	stop_at_pc(32);
	ts_walk_continue(&w, q, &stops, 0, false);
	run_to(2, TS_STOP_BREAK);
	ts_walk_continue(&w, q, &stops, 2, false);
	run_to(4, TS_STOP_END);
	ts_walk_continue(&w, q, &stops, 4, false);
	run_to(4, TS_STOP_END);
	ts_walk_continue(&w, q, &stops, 2, true);
	run_to(0, TS_STOP_END);
}
END_TEST

START_TEST(a_step_is_of_its_thread_and_wins_over_a_breakpoint_at_its_target)
{
	script_step(s, 0);
	script_step(s, 1);
	script_step(s, 0);
	build();
	ts_walk_step(&w, q, &stops, 0, 1, false);
	run_to(2, TS_STOP_STEP);
	stop_at_pc(32);
	ts_walk_step(&w, q, &stops, 0, 1, false);
	run_to(2, TS_STOP_STEP);
	ts_walk_step(&w, q, &stops, 1, 0, false);
	run_to(2, TS_STOP_BREAK);
	ts_walk_step(&w, q, &stops, 3, 1, true);
	run_to(2, TS_STOP_BREAK);
	stops.n_breaks = 0;
	ts_walk_step(&w, q, &stops, 3, 1, true);
	run_to(1, TS_STOP_STEP);
	ts_walk_step(&w, q, &stops, 2, 1, false); /* it runs no more */
	run_to(3, TS_STOP_END);
}
END_TEST

/* Others' instructions and breakpoints lie before it: none of them is undone. */
START_TEST(a_step_back_stays_where_its_thread_begins)
{
	script_step(s, 0);
	script_step(s, 0);
	script_step(s, 1);
	script_step(s, 0);
	script_step(s, 1);
	build();
	stop_at_pc(16);
	ts_walk_step(&w, q, &stops, 2, 1, true);
	run_to(2, TS_STOP_END);
	ck_assert_uint_eq(found.thread, 1);
	ts_walk_step(&w, q, &stops, 4, 1, true);
	run_to(2, TS_STOP_STEP);
	ts_walk_continue(&w, q, &stops, 2, true);
	run_to(1, TS_STOP_BREAK);
	ts_walk_step(&w, q, &stops, 0, 0, true);
	run_to(0, TS_STOP_END);
}
END_TEST

START_TEST(a_range_is_left_by_its_thread_or_at_the_end)
{
	for (unsigned i = 0; i < 200; i++)
		script_step(s, i % 2);
	build();
	ts_walk_range(&w, q, &stops, 2, 0, 32, 16 * 150);
	run_to(149, TS_STOP_STEP); /* the next instruction of thread 0 is that of step 150 */
	ts_walk_range(&w, q, &stops, 2, 0, 32, UINT64_MAX);
	run_to(199, TS_STOP_STEP); /* its last instruction was that of step 198 */
}
END_TEST

START_TEST(after_a_breakpoint_that_does_not_hold_a_system_call_stops_at_the_same_position)
{
	script_step(s, 0);
	ts_steps_event(&s->steps, TS_EV_SYSCALL)->number = 7;
	script_step(s, 0);
	script_step(s, 0);
	build();
	stop_at_pc(16);
	stop_at_pc(32);
	stops.has_syscalls = true;
	ts_walk_continue(&w, q, &stops, 0, false);
	run_to(1, TS_STOP_BREAK);
	ts_walk_pass(&w, &found);
	run_to(1, TS_STOP_SYSCALL_ENTRY);
	ck_assert_uint_eq(found.number, 7);
	ts_walk_continue(&w, q, &stops, 1, false);
	run_to(2, TS_STOP_BREAK);
	ts_walk_pass(&w, &found);
	run_to(3, TS_STOP_END);
}
END_TEST

START_TEST(after_a_breakpoint_that_does_not_hold_an_exit_stops_at_the_same_position)
{
	script_step(s, 0);
	ts_steps_event(&s->steps, TS_EV_EXIT);
	script_step(s, 0);
	script_step(s, 0);
	build();
	stop_at_pc(32);
	stops.has_signals = true;
	ts_walk_continue(&w, q, &stops, 0, false);
	run_to(2, TS_STOP_BREAK);
	ts_walk_pass(&w, &found);
	run_to(2, TS_STOP_EXIT);
	ts_walk_step(&w, q, &stops, 1, 0, false);
	run_to(2, TS_STOP_STEP);
}
END_TEST

START_TEST(a_step_to_other_modules_is_a_step)
{
	script_step(s, 0);
	ts_steps_load(&s->steps, 0x70000, 0x1000, "/lib/a", 6);
	script_step(s, 0);
	script_step(s, 0);
	build();
	stops.has_modules = true;
	ts_walk_step(&w, q, &stops, 1, 0, false);
	run_to(2, TS_STOP_STEP);
	ts_walk_continue(&w, q, &stops, 0, false);
	run_to(2, TS_STOP_MODULES);
}
END_TEST

START_TEST(a_signal_stops_before_its_step_and_a_fault_after_it)
{
	script_step(s, 0);
	ts_steps_event(&s->steps, TS_EV_SIGNAL)->number = 10;
	script_step(s, 0);
	ts_steps_event(&s->steps, TS_EV_FAULT);
	script_step(s, 0);
	script_step(s, 0);
	build();
	stops.has_signals = true;
	ts_walk_continue(&w, q, &stops, 0, false);
	run_to(1, TS_STOP_SIGNAL);
	ck_assert_uint_eq(found.number, 10);
	ts_walk_continue(&w, q, &stops, 1, false);
	run_to(3, TS_STOP_SIGNAL);
	ck_assert_uint_eq(found.number, 11);
	ts_walk_continue(&w, q, &stops, 4, true);
	run_to(3, TS_STOP_SIGNAL);
}
END_TEST

START_TEST(an_interrupted_range_step_looks_through_what_it_has_passed)
{
	struct ts_error err = { 0 };

	for (unsigned i = 0; i < 1000; i++)
		script_step(s, 0);
	build();
	ts_walk_range(&w, q, &stops, 0, 0, 0, UINT64_MAX);
	ck_assert_int_eq(ts_walk_run(&w, &found, &err), TS_WALK_ON); /* it has a target to look for */
	ck_assert_int_eq(ts_walk_run(&w, &found, &err), TS_WALK_ON); /* some of the way */
	ts_walk_interrupt(&w);
	run_to(64, TS_STOP_INTERRUPT);
	stop_at_pc(16 * 40);
	ts_walk_range(&w, q, &stops, 0, 0, 0, UINT64_MAX);
	ts_walk_run(&w, &found, &err);
	ts_walk_run(&w, &found, &err);
	ts_walk_interrupt(&w);
	run_to(40, TS_STOP_BREAK);
}
END_TEST

UNIT_FIXTURE_SUITE("walk", setup, teardown, a_continue_ends_at_a_breakpoint_or_at_an_end,
		   a_step_is_of_its_thread_and_wins_over_a_breakpoint_at_its_target,
		   a_step_back_stays_where_its_thread_begins, a_range_is_left_by_its_thread_or_at_the_end,
		   after_a_breakpoint_that_does_not_hold_a_system_call_stops_at_the_same_position,
		   after_a_breakpoint_that_does_not_hold_an_exit_stops_at_the_same_position,
		   a_step_to_other_modules_is_a_step, a_signal_stops_before_its_step_and_a_fault_after_it,
		   an_interrupted_range_step_looks_through_what_it_has_passed)
