/* SPDX-License-Identifier: MIT */
/*
 * Where running on stops, on small recordings written by hand; test_timeline asks at random.
 */
#include "unit.h"

#include "script.h"
#include "src/query/search/search.h"
#include "src/timeline/timeline.h"

#include <string.h>

#define ADDR UINT64_C(0x5000)

static struct script *s;
static struct ts_timeline *tl;
static struct ts_query *q;
static struct ts_error err;
static struct ts_stops stops;
static struct ts_break breaks[2];
static struct ts_watch watch;
static struct ts_search search;
static struct ts_found found;

static void setup(void)
{
	static const uint32_t process_of[] = { 0, 1 };

	s = script_new("x86_64", 2, process_of);
	ck_assert_ptr_nonnull(s);
	ts_error_reset(&err);
	stops = (struct ts_stops){ .breaks = breaks, .watches = &watch };
	watch = (struct ts_watch){ .addr = ADDR, .len = 4 };
}

static void teardown(void)
{
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
}

static struct ts_effect *effect(enum ts_effect_kind kind, const char *value)
{
	return ts_steps_value(&s->steps, kind, ADDR, value, (uint32_t)strlen(value));
}

static struct ts_event *call(uint64_t number, bool has_ret)
{
	struct ts_event *ev = ts_steps_event(&s->steps, TS_EV_SYSCALL);

	ev->number = number;
	ev->has_ret = has_ret;
	return ev;
}

static void build(void)
{
	q = script_query(s, &tl, &err);
	ck_assert_msg(q, "%s", err.text);
}

static void stop_at_pc(uint64_t pc)
{
	breaks[stops.n_breaks++] = (struct ts_break){ 0, pc };
}

static void watch_for(enum ts_watch_kind kind)
{
	watch.kind = kind;
	stops.n_watches = 1;
}

/* A whole search; the kind of its stop is checked, the position returned. */
static uint64_t go(uint64_t from, uint64_t limit, enum ts_stop_kind kind)
{
	ck_assert(ts_search_init(&search, q, &stops, from, limit, &err));
	ck_assert_int_eq(ts_search_run(&search, 1000, &found, &err), TS_ITEM);
	ts_search_fini(&search);
	ck_assert_int_eq(found.kind, kind);
	return found.pos;
}

START_TEST(a_breakpoint_where_one_stands_is_not_reported_again)
{
	script_steps(s, 10);
	build();
	stop_at_pc(48);
	ck_assert_uint_eq(go(0, 10, TS_STOP_BREAK), 3);
	ck_assert_uint_eq(go(3, 10, TS_STOP_END), 10);
	ck_assert_uint_eq(go(10, 0, TS_STOP_BREAK), 3);
	ck_assert_uint_eq(go(3, 0, TS_STOP_END), 0);
}
END_TEST

START_TEST(the_nearest_of_several_breakpoints_counts)
{
	script_steps(s, 10);
	build();
	stop_at_pc(112);
	stop_at_pc(32);
	ck_assert_uint_eq(go(0, 10, TS_STOP_BREAK), 2);
	ck_assert_uint_eq(go(10, 0, TS_STOP_BREAK), 7);
}
END_TEST

START_TEST(a_breakpoint_may_lie_at_the_first_and_at_the_last_position)
{
	script_steps(s, 10);
	build();
	stop_at_pc(0);
	stop_at_pc(160);
	ck_assert_uint_eq(go(5, 10, TS_STOP_BREAK), 10);
	ck_assert_uint_eq(go(5, 0, TS_STOP_BREAK), 0);
}
END_TEST

START_TEST(another_process_does_not_stop)
{
	script_steps(s, 5);
	ts_steps_close(&s->steps, 16, 16, 1);
	script_steps(s, 5);
	build();
	breaks[stops.n_breaks++] = (struct ts_break){ 1, 16 };
	ck_assert_uint_eq(go(0, 11, TS_STOP_BREAK), 5);
	ck_assert_uint_eq(found.thread, 1);
}
END_TEST

START_TEST(nothing_beyond_the_limit_is_found)
{
	script_steps(s, 10);
	effect(TS_FX_WRITE, "a");
	script_step(s, 0);
	build();
	stop_at_pc(96);
	watch_for(TS_WATCH_WRITE);
	ck_assert_uint_eq(go(0, 5, TS_STOP_END), 5);
	ck_assert_uint_eq(go(0, 6, TS_STOP_BREAK), 6);
	ck_assert_uint_eq(go(7, 10, TS_STOP_END), 10);
	ck_assert_uint_eq(go(7, 11, TS_STOP_WATCH), 11);
	ck_assert_uint_eq(go(9, 7, TS_STOP_END), 7);
	ck_assert_uint_eq(go(9, 9, TS_STOP_END), 9);
}
END_TEST

START_TEST(a_write_watchpoint_stops_behind_the_change_and_backwards_before_it)
{
	script_steps(s, 3);
	effect(TS_FX_WRITE, "a");
	script_step(s, 0);
	script_steps(s, 3);
	effect(TS_FX_WRITE, "a"); /* changes nothing */
	script_step(s, 0);
	script_steps(s, 3);
	build();
	watch_for(TS_WATCH_WRITE);
	ck_assert_uint_eq(go(0, 11, TS_STOP_WATCH), 4);
	ck_assert_uint_eq(found.addr, ADDR);
	ck_assert_uint_eq(go(4, 11, TS_STOP_END), 11);
	ck_assert_uint_eq(go(11, 0, TS_STOP_WATCH), 3);
	ck_assert_uint_eq(go(3, 0, TS_STOP_END), 0);
	watch_for(TS_WATCH_ACCESS);
	ck_assert_uint_eq(go(4, 11, TS_STOP_WATCH), 8);
	ck_assert_uint_eq(go(11, 0, TS_STOP_WATCH), 7);
	watch_for(TS_WATCH_READ);
	ck_assert_uint_eq(go(0, 11, TS_STOP_END), 11);
}
END_TEST

START_TEST(reads_stop_read_and_access_watchpoints_with_or_without_a_value)
{
	script_step(s, 0);
	effect(TS_FX_READ, "a");
	script_step(s, 0);
	ts_steps_effect(&s->steps, TS_FX_READ, ADDR + 3, 8);
	script_step(s, 0);
	script_steps(s, 2);
	build();
	watch_for(TS_WATCH_READ);
	ck_assert_uint_eq(go(0, 5, TS_STOP_WATCH), 2);
	ck_assert_uint_eq(go(2, 5, TS_STOP_WATCH), 3);
	ck_assert_uint_eq(found.addr, ADDR + 3);
	watch_for(TS_WATCH_ACCESS);
	ck_assert_uint_eq(go(5, 0, TS_STOP_WATCH), 2);
	watch_for(TS_WATCH_WRITE);
	ck_assert_uint_eq(go(0, 5, TS_STOP_END), 5);
}
END_TEST

START_TEST(a_change_that_shows_only_in_a_read_stops_a_write_watchpoint)
{
	script_step(s, 0);
	effect(TS_FX_READ, "a");
	script_step(s, 0);
	effect(TS_FX_READ, "b");
	script_step(s, 0);
	script_step(s, 0);
	build();
	watch_for(TS_WATCH_WRITE);
	ck_assert_uint_eq(go(0, 4, TS_STOP_WATCH), 2); /* where b is visible, not after the read */
	ck_assert_uint_eq(go(2, 4, TS_STOP_END), 4);
	ck_assert_uint_eq(go(4, 0, TS_STOP_WATCH), 1);
	watch_for(TS_WATCH_ACCESS);
	ck_assert_uint_eq(go(1, 4, TS_STOP_WATCH), 2);
	ck_assert_uint_eq(go(2, 4, TS_STOP_WATCH), 3);
	watch_for(TS_WATCH_READ);
	ck_assert_uint_eq(go(1, 4, TS_STOP_WATCH), 2);
	ck_assert_uint_eq(go(2, 4, TS_STOP_WATCH), 3);
}
END_TEST

START_TEST(a_change_that_the_first_read_shows_has_no_step_before_it)
{
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, ADDR, "a", 1);
	effect(TS_FX_READ, "b");
	script_step(s, 0);
	script_step(s, 0);
	build();
	watch_for(TS_WATCH_WRITE);
	ck_assert_uint_eq(go(0, 2, TS_STOP_END), 2);
	ck_assert_uint_eq(go(2, 0, TS_STOP_END), 0);
}
END_TEST

/* The change is one of the last step of a chunk, the read that shows it the first step of the next. */
START_TEST(a_change_is_found_where_the_next_chunk_shows_it)
{
	effect(TS_FX_READ, "a");
	script_steps(s, TS_CHUNK_STEPS);
	effect(TS_FX_READ, "b");
	script_steps(s, 2);
	build();
	watch_for(TS_WATCH_WRITE);
	ck_assert_uint_eq(go(0, TS_CHUNK_STEPS, TS_STOP_WATCH), TS_CHUNK_STEPS);
	ck_assert_uint_eq(go(TS_CHUNK_STEPS, TS_CHUNK_STEPS + 2, TS_STOP_END), TS_CHUNK_STEPS + 2);
	ck_assert_uint_eq(go(TS_CHUNK_STEPS + 2, 0, TS_STOP_WATCH), TS_CHUNK_STEPS - 1);
	ck_assert_uint_eq(go(TS_CHUNK_STEPS, 0, TS_STOP_WATCH), TS_CHUNK_STEPS - 1);
}
END_TEST

START_TEST(of_what_a_step_shows_the_first_counts)
{
	const struct ts_watch two[] = { { .kind = TS_WATCH_WRITE, .addr = ADDR, .len = 1 },
					{ .kind = TS_WATCH_WRITE, .addr = ADDR + 1, .len = 1 } };

	effect(TS_FX_READ, "ab");
	script_steps(s, 2);
	ts_steps_value(&s->steps, TS_FX_READ, ADDR + 1, "x", 1);
	ts_steps_value(&s->steps, TS_FX_READ, ADDR, "y", 1);
	script_step(s, 0);
	build();
	stops.watches = two;
	stops.n_watches = 2;
	ck_assert_uint_eq(go(0, 3, TS_STOP_WATCH), 2);
	ck_assert_uint_eq(found.watch, 1);
	ck_assert_uint_eq(go(3, 0, TS_STOP_WATCH), 1);
	ck_assert_uint_eq(found.watch, 1);
}
END_TEST

START_TEST(what_a_step_writes_comes_before_what_the_next_one_shows)
{
	const struct ts_watch two[] = { { .kind = TS_WATCH_WRITE, .addr = ADDR, .len = 1 },
					{ .kind = TS_WATCH_WRITE, .addr = ADDR + 1, .len = 1 } };

	effect(TS_FX_READ, "ab");
	script_steps(s, TS_CHUNK_STEPS - 1);
	ts_steps_value(&s->steps, TS_FX_WRITE, ADDR + 1, "x", 1);
	script_step(s, 0);
	effect(TS_FX_READ, "c");
	script_steps(s, 2);
	build();
	stops.watches = two;
	stops.n_watches = 2;
	ck_assert_uint_eq(go(0, TS_CHUNK_STEPS, TS_STOP_WATCH), TS_CHUNK_STEPS);
	ck_assert_uint_eq(found.watch, 1);
	ck_assert_uint_eq(go(TS_CHUNK_STEPS + 2, 0, TS_STOP_WATCH), TS_CHUNK_STEPS - 1);
	ck_assert_uint_eq(found.watch, 1);
}
END_TEST

START_TEST(a_write_of_an_unknown_value_may_be_a_change)
{
	effect(TS_FX_WRITE, "abcd");
	script_step(s, 0);
	ts_steps_effect(&s->steps, TS_FX_WRITE, ADDR, 1);
	script_step(s, 0);
	build();
	watch_for(TS_WATCH_WRITE);
	ck_assert_uint_eq(go(1, 2, TS_STOP_WATCH), 2);
}
END_TEST

START_TEST(hidden_accesses_count_for_what_they_change)
{
	effect(TS_FX_WRITE, "abcd");
	script_step(s, 0);
	effect(TS_FX_WRITE, "abcd")->is_hidden = true;
	script_step(s, 0);
	effect(TS_FX_READ, "abcd")->is_hidden = true;
	script_step(s, 0);
	effect(TS_FX_WRITE, "abxd")->is_hidden = true;
	script_steps(s, 2);
	effect(TS_FX_READ, "abyd")->is_hidden = true;
	script_step(s, 0);
	build();
	watch_for(TS_WATCH_ACCESS);
	ck_assert_uint_eq(go(1, 6, TS_STOP_WATCH), 4);
	ck_assert_uint_eq(go(4, 6, TS_STOP_WATCH), 5);
	watch_for(TS_WATCH_WRITE);
	ck_assert_uint_eq(go(1, 6, TS_STOP_WATCH), 4);
	watch_for(TS_WATCH_READ);
	ck_assert_uint_eq(go(1, 6, TS_STOP_END), 6);
}
END_TEST

START_TEST(a_byte_that_starts_afresh_twice_in_a_step_is_compared_with_the_start_before)
{
	effect(TS_FX_WRITE, "a");
	script_step(s, 0);
	ts_steps_effect(&s->steps, TS_FX_FORGET, ADDR, 4);
	effect(TS_FX_READ, "b"); /* so b was there: no change by this read */
	ts_steps_effect(&s->steps, TS_FX_UNMAP, ADDR, 4);
	script_step(s, 0);
	script_steps(s, 2);
	build();
	watch_for(TS_WATCH_WRITE);
	ck_assert_uint_eq(go(1, 4, TS_STOP_END), 4);
}
END_TEST

START_TEST(where_both_hold_the_watchpoint_is_reported)
{
	script_steps(s, 3);
	effect(TS_FX_WRITE, "a");
	script_step(s, 0);
	script_steps(s, 3);
	build();
	watch_for(TS_WATCH_WRITE);
	stop_at_pc(64);
	ck_assert_uint_eq(go(0, 7, TS_STOP_WATCH), 4);
	ck_assert_uint_eq(go(0, 4, TS_STOP_WATCH), 4);
	breaks[0].addr = 48;
	ck_assert_uint_eq(go(7, 0, TS_STOP_WATCH), 3);
	ck_assert_uint_eq(go(0, 7, TS_STOP_BREAK), 3);
}
END_TEST

START_TEST(a_system_call_stops_at_its_entry_and_at_its_return)
{
	script_steps(s, 3);
	call(39, true);
	script_step(s, 0);
	script_steps(s, 3);
	build();
	stops.has_syscalls = true;
	ck_assert_uint_eq(go(0, 7, TS_STOP_SYSCALL_ENTRY), 3);
	ck_assert_uint_eq(found.number, 39);
	ck_assert_uint_eq(go(3, 7, TS_STOP_SYSCALL_RETURN), 4);
	ck_assert_uint_eq(go(4, 7, TS_STOP_END), 7);
	ck_assert_uint_eq(go(7, 0, TS_STOP_SYSCALL_RETURN), 4);
	ck_assert_uint_eq(go(4, 0, TS_STOP_SYSCALL_ENTRY), 3);
	ck_assert_uint_eq(go(3, 0, TS_STOP_END), 0);
}
END_TEST

START_TEST(only_the_system_calls_asked_for_stop)
{
	static const uint64_t numbers[] = { 60, 2 };

	call(39, true);
	script_step(s, 0);
	call(2, false);
	script_step(s, 0);
	script_step(s, 0);
	build();
	stops = (struct ts_stops){ .has_syscalls = true, .syscalls = numbers, .n_syscalls = 2 };
	ck_assert_uint_eq(go(0, 3, TS_STOP_SYSCALL_ENTRY), 1);
	ck_assert_uint_eq(go(1, 3, TS_STOP_END), 3);
	ck_assert_uint_eq(go(3, 0, TS_STOP_SYSCALL_ENTRY), 1);
}
END_TEST

START_TEST(backwards_a_return_is_found_though_a_later_call_of_its_step_has_none)
{
	script_steps(s, 3);
	call(1, true);
	call(2, false);
	script_step(s, 0);
	script_steps(s, 3);
	build();
	stops.has_syscalls = true;
	ck_assert_uint_eq(go(7, 0, TS_STOP_SYSCALL_RETURN), 4);
	ck_assert_uint_eq(found.number, 1);
	ck_assert_uint_eq(go(4, 0, TS_STOP_SYSCALL_ENTRY), 3);
	ck_assert_uint_eq(found.number, 2);
}
END_TEST

static void event(enum ts_event_kind kind, uint64_t number)
{
	ts_steps_event(&s->steps, kind)->number = number;
}

START_TEST(a_signal_stops_before_its_step_and_a_fault_after_it_in_both_directions)
{
	script_steps(s, 2);
	event(TS_EV_SIGNAL, 14);
	script_steps(s, 3);
	event(TS_EV_FAULT, 0);
	event(TS_EV_EXIT, 0);
	script_steps(s, 2);
	build();
	stops.has_signals = true;
	ck_assert_uint_eq(go(0, 7, TS_STOP_SIGNAL), 2);
	ck_assert_uint_eq(found.number, 14);
	ck_assert_uint_eq(go(2, 7, TS_STOP_SIGNAL), 6); /* before the exit at the same position */
	ck_assert_uint_eq(found.number, 11);
	ck_assert_uint_eq(go(6, 7, TS_STOP_END), 7);
	ck_assert_uint_eq(go(7, 0, TS_STOP_SIGNAL), 6);
	ck_assert_uint_eq(go(6, 0, TS_STOP_SIGNAL), 2);
	ck_assert_uint_eq(go(2, 0, TS_STOP_END), 0);
	stop_at_pc(16 * 2);
	ck_assert_uint_eq(go(0, 7, TS_STOP_SIGNAL), 2);
}
END_TEST

START_TEST(a_signal_that_arrived_after_its_step_stops_there_in_both_directions)
{
	script_steps(s, 2);
	event(TS_EV_SIGNAL, 14);
	s->steps.events[s->steps.n_events - 1].is_after = true;
	script_steps(s, 2);
	event(TS_EV_SIGNAL, 15);
	script_steps(s, 2);
	build();
	stops.has_signals = true;
	ck_assert_uint_eq(go(0, 6, TS_STOP_SIGNAL), 3);
	ck_assert_uint_eq(go(2, 6, TS_STOP_SIGNAL), 3);
	ck_assert_uint_eq(found.number, 14);
	ck_assert_uint_eq(go(3, 6, TS_STOP_SIGNAL), 4);
	ck_assert_uint_eq(found.number, 15);
	ck_assert_uint_eq(go(6, 0, TS_STOP_SIGNAL), 4);
	ck_assert_uint_eq(go(4, 0, TS_STOP_SIGNAL), 3);
	ck_assert_uint_eq(go(3, 0, TS_STOP_END), 0);
}
END_TEST

START_TEST(an_exit_and_a_fault_at_the_limit_are_stops)
{
	script_steps(s, 2);
	event(TS_EV_EXIT, 3);
	script_step(s, 0);
	build();
	stops.has_signals = true;
	ck_assert_uint_eq(go(0, 3, TS_STOP_EXIT), 3);
	ck_assert_uint_eq(go(0, 2, TS_STOP_END), 2);
	ck_assert_uint_eq(go(3, 0, TS_STOP_END), 0);
}
END_TEST

/*
 * /lib/a is there in [2, 4), /lib/b of the other process from 3 on; a module of position 0 is nowhere a
 * change.
 */
START_TEST(a_change_of_modules_stops_in_both_directions)
{
	ts_steps_load(&s->rec.initial, 0x1000, 0x1000, "/prog", 5);
	script_step(s, 0);
	ts_steps_load(&s->steps, 0x70000, 0x1000, "/lib/a", 6);
	script_step(s, 0);
	ts_steps_load(&s->steps, 0x80000, 0x1000, "/lib/b", 6);
	ts_steps_close(&s->steps, 32, 16, 1);
	ts_steps_effect(&s->steps, TS_FX_UNLOAD, 0x70000, 0x1000);
	script_steps(s, 2);
	build();
	ck_assert_uint_eq(go(0, 5, TS_STOP_END), 5);
	stops.has_modules = true;
	ck_assert_uint_eq(go(0, 5, TS_STOP_MODULES), 2);
	ck_assert_uint_eq(go(2, 5, TS_STOP_MODULES), 4);
	ck_assert_uint_eq(go(4, 5, TS_STOP_END), 5);
	ck_assert_uint_eq(go(5, 0, TS_STOP_MODULES), 3);
	ck_assert_uint_eq(go(3, 0, TS_STOP_MODULES), 1);
	ck_assert_uint_eq(go(1, 0, TS_STOP_END), 0);
	stops.passed_modules = (const uint8_t[]){ 1 << 1 }; /* /lib/a */
	stops.n_passed_modules = 8;
	ck_assert_uint_eq(go(0, 5, TS_STOP_END), 5);
	ck_assert_uint_eq(go(5, 0, TS_STOP_END), 0);
	stops.n_passed_modules = 0;
	stop_at_pc(32);
	ck_assert_uint_eq(go(0, 5, TS_STOP_MODULES), 2); /* the breakpoint is of process 0, step 2 of process 1 */
	breaks[0].process = 1;
	ck_assert_uint_eq(go(0, 5, TS_STOP_BREAK), 2);
	stops.process = 1;
	ck_assert_uint_eq(go(2, 5, TS_STOP_MODULES), 3);
}
END_TEST

#define MANY 200

/* The naive twin: every position on the way, one after the other. */
static uint64_t next_stop(const uint8_t *signals, const uint64_t *passed, uint64_t from, uint64_t limit)
{
	uint64_t pos = from;

	while (pos != limit) {
		pos += limit > from ? 1 : UINT64_MAX;
		if (signals[pos] && !(passed[0] >> signals[pos] & 1))
			return pos;
	}
	return limit;
}

START_TEST(any_search_for_signals_finds_what_looking_everywhere_finds)
{
	struct script_random rnd = { 5 };
	uint8_t signals[MANY + 2] = { 0 }; /* by position */
	bool late[MANY + 2] = { false };   /* a signal 15 arrived after the step before */
	uint64_t passed[TS_N_SIGNALS / 64] = { 1u << 14 };

	for (unsigned i = 0; i < MANY; i++) {
		uint64_t what = script_below(&rnd, 12);

		if (what < 2) {
			event(TS_EV_SIGNAL, 14 + what);
			signals[i] = (uint8_t)(14 + what); /* one of the step before is there already, or this */
		} else if (what == 2) {
			event(TS_EV_FAULT, 4);
		} else if (what == 3) {
			event(TS_EV_SIGNAL, 15);
			s->steps.events[s->steps.n_events - 1].is_after = true;
			late[i + 1] = true;
		}
		script_step(s, 0);
	}
	build();
	for (unsigned i = 0; i < MANY; i++) {
		const struct ts_event_at *h = ts_query_find_event(q, TS_EV_FAULT, i, false);

		if (h && h->step == i && (!signals[i + 1] || signals[i + 1] == 14))
			signals[i + 1] = 4;
	}
	for (unsigned i = 0; i <= MANY; i++) {
		if (late[i] && (!signals[i] || signals[i] == 14))
			signals[i] = 15;
	}
	stops.has_signals = true;
	stops.passed_signals = passed;
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t from = script_below(&rnd, MANY + 1), limit = script_below(&rnd, MANY + 1), pos;

		if (from == limit)
			continue;
		pos = next_stop(signals, passed, from, limit);
		ck_assert(ts_search_init(&search, q, &stops, from, limit, &err));
		ck_assert_int_eq(ts_search_run(&search, 1000, &found, &err), TS_ITEM);
		ts_search_fini(&search);
		ck_assert_uint_eq(found.pos, pos);
		ck_assert((found.kind == TS_STOP_SIGNAL) ==
			  (signals[pos] && !(passed[0] >> signals[pos] & 1)));
	}
	stops.passed_signals = NULL;
}
END_TEST

START_TEST(a_search_goes_on_in_slices_and_says_how_far_it_came)
{
	for (unsigned i = 0; i < 5 * TS_CHUNK_STEPS; i++) {
		if (i % TS_CHUNK_STEPS == 7 || i == 4 * TS_CHUNK_STEPS + 9)
			effect(TS_FX_READ, i < 4 * TS_CHUNK_STEPS + 9 ? "a" : "ab");
		script_step(s, 0);
	}
	build();
	watch.addr++; /* reads of its neighbour are looked at too */
	watch.len = 1;
	watch_for(TS_WATCH_READ);
	ck_assert(ts_search_init(&search, q, &stops, 8, s->steps.n_steps, &err));
	for (uint64_t i = 1; i <= 4; i++) {
		ck_assert_int_eq(ts_search_run(&search, 1, &found, &err), TS_MORE);
		/* a chunk may show a change of the step before it */
		ck_assert_uint_eq(ts_search_reached(&search), i * TS_CHUNK_STEPS - 1);
	}
	ck_assert_int_eq(ts_search_run(&search, 1, &found, &err), TS_ITEM);
	ck_assert_uint_eq(found.pos, 4 * TS_CHUNK_STEPS + 10);
	ts_search_fini(&search);
}
END_TEST

/* A client waits, and ^C with it, while a slice lasts. */
START_TEST(events_that_do_not_stop_take_slices)
{
	static const uint64_t all[TS_N_SIGNALS / 64] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };

	for (unsigned is_reverse = 0; is_reverse < 2; is_reverse++) {
		unsigned n = 0;

		for (unsigned i = 0; !is_reverse && i < 1000; i++) {
			event(TS_EV_SIGNAL, 14);
			script_step(s, 0);
		}
		if (!is_reverse)
			build();
		stops = (struct ts_stops){ .has_signals = true, .passed_signals = all };
		ck_assert(ts_search_init(&search, q, &stops, is_reverse ? 1000 : 0, is_reverse ? 0 : 1000, &err));
		while (ts_search_run(&search, 1, &found, &err) == TS_MORE)
			n++;
		ts_search_fini(&search);
		ck_assert_int_eq(found.kind, TS_STOP_END);
		ck_assert_uint_gt(n, 10);
	}
}
END_TEST

START_TEST(chunks_that_touch_nothing_watched_are_not_read)
{
	s->rec.has_reads = true;
	effect(TS_FX_WRITE, "a");
	script_steps(s, 6 * TS_CHUNK_STEPS);
	build();
	watch_for(TS_WATCH_ACCESS);
	s->n_reads = 0;
	ck_assert_uint_eq(go(6 * TS_CHUNK_STEPS, 0, TS_STOP_WATCH), 0);
	ck_assert_uint_eq(s->n_reads, TS_CHUNK_STEPS);
}
END_TEST

START_TEST(a_trace_that_is_gone_fails_the_search)
{
	script_steps(s, 5);
	effect(TS_FX_WRITE, "a");
	script_step(s, 0);
	build();
	watch_for(TS_WATCH_WRITE);
	s->fail_at = 3;
	ck_assert(ts_search_init(&search, q, &stops, 0, 6, &err));
	ck_assert_int_eq(ts_search_run(&search, 9, &found, &err), TS_FAIL);
	ck_assert_str_eq(err.text, "step 3: the script's trace is gone");
	ts_search_fini(&search);
}
END_TEST

UNIT_FIXTURE_SUITE("search", setup, teardown, a_breakpoint_where_one_stands_is_not_reported_again,
		   the_nearest_of_several_breakpoints_counts,
		   a_breakpoint_may_lie_at_the_first_and_at_the_last_position, another_process_does_not_stop,
		   nothing_beyond_the_limit_is_found,
		   a_write_watchpoint_stops_behind_the_change_and_backwards_before_it,
		   reads_stop_read_and_access_watchpoints_with_or_without_a_value,
		   a_change_that_shows_only_in_a_read_stops_a_write_watchpoint,
		   a_change_that_the_first_read_shows_has_no_step_before_it,
		   a_change_is_found_where_the_next_chunk_shows_it,
		   of_what_a_step_shows_the_first_counts,
		   what_a_step_writes_comes_before_what_the_next_one_shows,
		   a_write_of_an_unknown_value_may_be_a_change, hidden_accesses_count_for_what_they_change,
		   a_byte_that_starts_afresh_twice_in_a_step_is_compared_with_the_start_before,
		   where_both_hold_the_watchpoint_is_reported,
		   a_system_call_stops_at_its_entry_and_at_its_return, only_the_system_calls_asked_for_stop,
		   backwards_a_return_is_found_though_a_later_call_of_its_step_has_none,
		   a_signal_stops_before_its_step_and_a_fault_after_it_in_both_directions,
		   a_signal_that_arrived_after_its_step_stops_there_in_both_directions,
		   an_exit_and_a_fault_at_the_limit_are_stops, a_change_of_modules_stops_in_both_directions,
		   any_search_for_signals_finds_what_looking_everywhere_finds,
		   a_search_goes_on_in_slices_and_says_how_far_it_came, events_that_do_not_stop_take_slices,
		   chunks_that_touch_nothing_watched_are_not_read, a_trace_that_is_gone_fails_the_search)
