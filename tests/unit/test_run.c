/* SPDX-License-Identifier: MIT */
/*
 * Where resume packets stop, asked as a client asks: test_search has the search, this the rules around it.
 */
#include "fake_session.h"
#include "protocol/session/jobs/run_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "script.h"

#define FALSE_CODE "X3,220027"

/* The threads of the fake, as it calls them: 1000, 1001 and, of the other process, 1002. */
#define T0 "3e8"
#define T1 "3e9"
#define T2 "3ea"

static struct rsp_session *const s = &fake.session;

static void check_stop(uint64_t from, const char *packet, const char *reply, uint64_t pos)
{
	rsp_session_go(s, from);
	ck_assert_msg(!strncmp(fake_resume(packet), reply, strlen(reply)), "%s: %s", packet, fake.text);
	ck_assert_msg(s->pos == pos, "%s from %" PRIu64 ": at %" PRIu64, packet, from, s->pos);
}

static void check_thread(const char *tid)
{
	char key[32];

	snprintf(key, sizeof(key), "thread:%s;", tid);
	ck_assert_msg(strstr(fake.text, key) != NULL, "%s: %s", key, fake.text);
}

static void set(const char *packet)
{
	ck_assert_msg(!strcmp(fake_send(packet), "OK"), "%s: %s", packet, fake.text);
}

static void greet(void)
{
	fake_send("qSupported:swbreak+;hwbreak+");
}

/* Nothing but the registers comes before the thread: an ordinary stop. */
static bool has_reason(void)
{
	return strstr(fake.text, "break:") || strstr(fake.text, "watch:") ||
	       strstr(fake.text, "replaylog:") || strstr(fake.text, "syscall");
}

/* -------------------------------------------------------------------------------------------------- steps */

START_TEST(a_step_back_undoes_a_step_everywhere)
{
	for (uint64_t pos = 0; pos < FAKE_N_STEPS; pos++) {
		check_stop(pos, "s", "T05", pos + 1);
		ck_assert(!has_reason());
		ck_assert_msg(!strncmp(fake_resume("bs"), "T05", 3), "%s", fake.text);
		ck_assert_uint_eq(s->pos, pos);
		ck_assert(!has_reason());
	}
}
END_TEST

START_TEST(while_one_thread_steps_the_others_pass)
{
	check_stop(0, "vCont;s:" T1, "T05", 4);
	check_thread(T1);
	check_stop(3, "vCont;s:" T0, "T05", 7);
	check_thread(T0);
	check_stop(3, "vCont;s:" T2 ";c", "T05", 9);
	check_thread(T2);
}
END_TEST

START_TEST(while_one_thread_steps_back_the_others_pass)
{
	rsp_session_go(s, 6);
	set("Hc" T0);
	ck_assert_msg(!strncmp(fake_resume("bs"), "T05", 3), "%s", fake.text);
	ck_assert_uint_eq(s->pos, 2);
	check_thread(T0);
	rsp_session_go(s, 5);
	set("Hc" T1);
	rsp_session_go(s, 9);
	fake_resume("bs");
	ck_assert_uint_eq(s->pos, 5);
	check_thread(T1);
	fake_resume("bs");
	ck_assert_uint_eq(s->pos, 4);
}
END_TEST

START_TEST(the_thread_to_step_stays_that_of_the_last_Hc)
{
	set("Z0,402001,1");
	rsp_session_go(s, 2);
	set("Hc" T0);
	fake_resume("s");
	ck_assert_uint_eq(s->pos, 3);
	fake_resume("s"); /* stopped by the breakpoint of the other one */
	ck_assert_uint_eq(s->pos, 4);
	check_thread(T1);
	fake_resume("s");
	ck_assert_uint_eq(s->pos, 7);
	check_thread(T0);
	rsp_session_go(s, 4);
	set("Hc0");
	fake_resume("s");
	ck_assert_uint_eq(s->pos, 5);
	check_thread(T1);
}
END_TEST

START_TEST(a_thread_that_runs_no_more_steps_to_the_end_of_the_recording)
{
	check_stop(6, "vCont;s:" T1, "T05replaylog:end;", FAKE_N_STEPS);
	check_stop(6, "vCont;r402000,402010:" T1, "T05replaylog:end;", FAKE_N_STEPS);
}
END_TEST

START_TEST(a_step_back_stays_where_its_thread_begins)
{
	rsp_session_go(s, 3);
	set("Hc" T1);
	fake_resume("bs");
	ck_assert_uint_eq(s->pos, 3);
	ck_assert_ptr_nonnull(strstr(fake.text, "replaylog:begin;"));
	check_thread(T1);
	ck_assert_str_eq(fake_console(), "This thread begins here: what ran before are other threads.\n");
	fake_resume("bc"); /* the others' history is still there */
	ck_assert_uint_eq(s->pos, 0);
	ck_assert_str_eq(fake_console(), "");
}
END_TEST

START_TEST(both_ends_stay_ends)
{
	static const char *const forwards[] = { "s",   "c",  "vCont;s", "vCont;c", "vCont;r401000,402000",
						"C05", "S05" };

	for (size_t i = 0; i < sizeof(forwards) / sizeof(forwards[0]); i++)
		check_stop(FAKE_N_STEPS, forwards[i], "T05replaylog:end;", FAKE_N_STEPS);
	check_stop(0, "bs", "T05replaylog:begin;", 0);
	check_stop(0, "bc", "T05replaylog:begin;", 0);
	check_stop(3, "c", "T05replaylog:end;", FAKE_N_STEPS);
	check_stop(3, "bc", "T05replaylog:begin;", 0);
}
END_TEST

START_TEST(to_arrive_at_an_end_by_a_step_is_an_ordinary_stop)
{
	check_stop(FAKE_N_STEPS - 1, "s", "T05", FAKE_N_STEPS);
	ck_assert(!has_reason());
	check_stop(1, "bs", "T05", 0);
	ck_assert(!has_reason());
}
END_TEST

START_TEST(a_step_stops_at_a_breakpoint_of_a_thread_that_passes)
{
	greet();
	set("Z0,402001,1");
	check_stop(3, "vCont;s:" T0, "T05swbreak:;", 4);
	check_thread(T1);
	rsp_session_go(s, 6);
	set("Hc" T0);
	fake_resume("bs");
	ck_assert_uint_eq(s->pos, 4);
	ck_assert_ptr_nonnull(strstr(fake.text, "swbreak:;"));
}
END_TEST

/* gdb 13 crashes if it steps one thread alone, over a breakpoint, and another one stops. */
START_TEST(a_thread_that_steps_alone_for_gdb_is_the_one_that_stops)
{
	fake_send("qSupported:swbreak+;xmlRegisters=i386");
	set("Z0,402001,1");
	check_stop(3, "vCont;s:" T0, "T00", 4);
	check_thread(T0);
	ck_assert(!has_reason());
	ck_assert_str_eq(fake_console(), "This thread was to step, but thread 1001 runs and stops here.\n");
	check_stop(3, "vCont;s:" T0 ";c", "T05swbreak:;", 4); /* the user's step: all may stop */
	check_thread(T1);
	check_stop(3, "vCont;s:" T1, "T05", 4); /* its own breakpoint */
	check_thread(T1);
}
END_TEST

/*
 * gdb steps RISC-V by a breakpoint on the next instruction and a continue of the thread: from position 2 thread 0
 * gets to 0x401003 with its step, at position 3, although thread 1 runs there first.
 */
START_TEST(a_continue_of_one_thread_to_its_next_instruction_is_a_step)
{
	set("Z0,401003,1");
	check_stop(2, "vCont;c:" T0, "T05", 6); /* to no gdb */
	fake_send("qSupported:swbreak+;xmlRegisters=riscv");
	set("Z0,401003,1");
	check_stop(2, "vCont;c:" T0, "T05", 3);
	check_thread(T0);
	set("z0,401003,1");
	set("Z0,401004,1");
	check_stop(2, "vCont;c:" T0, "T05swbreak:;", 7); /* not its next one */
}
END_TEST

START_TEST(a_step_that_arrives_at_a_breakpoint_has_just_stepped)
{
	greet();
	set("Z0,401001,1");
	check_stop(0, "s", "T05", 1);
	ck_assert(!has_reason());
	check_stop(2, "bs", "T05", 1);
	ck_assert(!has_reason());
}
END_TEST

START_TEST(a_step_tells_of_the_watchpoint_that_it_triggers)
{
	set("Z2,602002,1");
	check_stop(1, "s", "T05watch:602002;", 2);
	check_stop(2, "bs", "T05watch:602002;", 1);
}
END_TEST

/* Step 1 writes the four bytes at 0x602000. */
static void set_three_watchpoints(const char *features)
{
	fake_send(features);
	set("Z2,602000,2");
	set("Z2,602003,1");
	set("Z2,602010,4");
}

START_TEST(a_stop_names_all_watchpoints_that_the_step_triggers)
{
	set_three_watchpoints("qSupported:multi-wp-addr+");
	for (unsigned is_back = 0; is_back < 2; is_back++) {
		check_stop(is_back ? FAKE_N_STEPS : 0, is_back ? "bc" : "c", "T05watch:602000;", is_back ? 1 : 2);
		ck_assert_ptr_nonnull(strstr(fake.text, ";watch:602003;"));
		ck_assert_ptr_null(strstr(fake.text, "watch:60201"));
	}
}
END_TEST

START_TEST(a_client_that_takes_one_watchpoint_gets_one)
{
	set_three_watchpoints("qSupported:xmlRegisters=i386");
	check_stop(0, "c", "T05watch:602000;", 2);
	ck_assert_ptr_null(strstr(fake.text, "watch:602003"));
}
END_TEST

START_TEST(one_action_that_steps_decides_what_vCont_does)
{
	check_stop(3, "vCont;c:" T0 ";s:" T1, "T05", 4);
	check_stop(0, "vCont;t:" T0 ";s", "T05", 1);
	check_stop(0, "vCont;C05:" T0 ";S05", "T05", 1);
}
END_TEST

START_TEST(malformed_resumes_do_not_move)
{
	static const char *const bad[] = {
		"vCont;",
		"vCont;x",
		"vCont;s:zz",
		"vCont;s:7777",
		"vCont;r401000",
		"vCont;r401000,",
		"vCont;s;",
		"vCont;C",
		"vCont;C5",
		"vCont;s:1:2",
		"vCont;c,",
		"vCont;r,401000",
		"sxyz",
		"c-1",
		"S",
		"C5",
		"S05;",
		"C05;zz",
		"bs;",
		"bc,1",
		"s401000",
		"c401000",
		"S05;401000",
		"vCont;s:p1.zz",
		"vCont;s: " T0,
		"vCont;r0,1:p-1.5",
		"vCont;c:-2",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_stop(4, bad[i], "E", 4);
}
END_TEST

/* -------------------------------------------------------------------------------------------------- stops */

START_TEST(a_breakpoint_where_one_stands_is_not_reported)
{
	greet();
	set("Z0,401000,1");
	set("Z1,401003,1");
	check_stop(0, "c", "T05hwbreak:;", 6);
	fake_resume("bc");
	ck_assert_uint_eq(s->pos, 0);
	ck_assert_ptr_nonnull(strstr(fake.text, "swbreak:;"));
	check_stop(6, "c", "T05replaylog:end;", FAKE_N_STEPS);
}
END_TEST

START_TEST(a_client_that_knows_no_swbreak_gets_none)
{
	set("Z0,401003,1");
	check_stop(0, "c", "T05", 6);
	ck_assert(!has_reason());
	fake_send("qSupported:hwbreak+");
	set("Z0,401003,1");
	check_stop(0, "c", "T05", 6);
	ck_assert(!has_reason());
}
END_TEST

START_TEST(a_watchpoint_comes_before_a_breakpoint)
{
	greet();
	set("Z0,401001,1");
	set("Z0,401002,1");
	set("Z2,602000,4");
	check_stop(1, "c", "T05watch:602000;", 2);
	check_stop(FAKE_N_STEPS, "bc", "T05swbreak:;", 2);
	check_stop(2, "bc", "T05watch:602000;", 1);
}
END_TEST

START_TEST(a_breakpoint_comes_before_the_end)
{
	greet();
	set("Z0,401000,1");
	set("Z0,401006,1");
	check_stop(3, "c", "T05swbreak:;", FAKE_N_STEPS);
	check_stop(FAKE_N_STEPS, "c", "T05replaylog:end;", FAKE_N_STEPS);
	check_stop(3, "bc", "T05swbreak:;", 0);
	check_stop(0, "bc", "T05replaylog:begin;", 0);
}
END_TEST

START_TEST(the_other_process_has_its_own_addresses)
{
	greet();
	set("Z0,501000,1"); /* of the first process, which never comes there */
	check_stop(0, "c", "T05replaylog:end;", FAKE_N_STEPS);
	rsp_session_go(s, 8);
	set("Z0,501000,1");
	check_stop(0, "c", "T05swbreak:;", 8);
	check_thread(T2);
}
END_TEST

START_TEST(what_was_removed_stops_no_more)
{
	set("Z0,401003,1");
	set("Z0,401003,1");
	set("z0,401003,1");
	set("z0,401003,1");
	set("Z2,602000,4");
	set("Z2,602000,4");
	set("z2,602000,4");
	check_stop(0, "c", "T05replaylog:end;", FAKE_N_STEPS);
}
END_TEST

START_TEST(a_watched_range_has_bounds)
{
	ck_assert_int_eq(fake_send("Z2,602000,0")[0], 'E');
	ck_assert_int_eq(fake_send("Z2,602000,100001")[0], 'E');
	ck_assert_int_eq(fake_send("Z2,ffffffffffffffff,2")[0], 'E');
	ck_assert_int_eq(fake_send("Z2,1,ffffffffffffffff")[0], 'E');
	ck_assert_int_eq(fake_send("z2,602000,0")[0], 'E');
	set("Z2,ffffffffffffffff,1");
	set("Z2,600000,100000");
	check_stop(0, "c", "T05watch:602000;", 2);
}
END_TEST

/* ------------------------------------------------------------------------------------------- system calls */

/* Steps at 0x401000 and on, of which step 3 is system call 7 that returns, and step 5 one that does not. */
static void make_calls(struct ts_recording *rec)
{
	struct ts_steps *b = &((struct script *)rec)->steps;

	ts_steps_reset(b);
	for (unsigned i = 0; i < 8; i++) {
		if (i == 3 || i == 5) {
			struct ts_event *ev = ts_steps_event(b, TS_EV_SYSCALL);

			ev->number = i == 3 ? 7 : 8;
			ev->has_ret = i == 3;
		}
		ts_steps_close(b, 0x401000 + i, 1, 0);
	}
}

static void use_calls(void)
{
	fake_again(&(struct fake_options){ .change = make_calls });
	greet();
}

START_TEST(system_calls_stop_where_they_begin_and_where_they_end)
{
	use_calls();
	check_stop(0, "c", "T05replaylog:end;", 8);
	set("QCatchSyscalls:1");
	check_stop(0, "c", "T05syscall_entry:7;", 3);
	check_stop(3, "c", "T05syscall_return:7;", 4);
	check_stop(4, "c", "T05syscall_entry:8;", 5);
	check_stop(5, "c", "T05replaylog:end;", 8);
	check_stop(8, "bc", "T05syscall_entry:8;", 5);
	check_stop(5, "bc", "T05syscall_return:7;", 4);
	check_stop(4, "bc", "T05syscall_entry:7;", 3);
	check_stop(3, "bc", "T05replaylog:begin;", 0);
	set("QCatchSyscalls:0");
	check_stop(0, "c", "T05replaylog:end;", 8);
}
END_TEST

START_TEST(only_the_calls_asked_for_stop)
{
	use_calls();
	set("QCatchSyscalls:1;8");
	check_stop(0, "c", "T05syscall_entry:8;", 5);
	check_stop(5, "bc", "T05replaylog:begin;", 0);
	set("QCatchSyscalls:1;8;7");
	check_stop(0, "c", "T05syscall_entry:7;", 3);
}
END_TEST

START_TEST(a_breakpoint_whose_condition_fails_hides_no_system_call)
{
	use_calls();
	set("QCatchSyscalls:1;7");
	set("Z0,401003,1;" FALSE_CODE);
	set("Z0,401004,1;" FALSE_CODE);
	check_stop(0, "c", "T05syscall_entry:7;", 3);
	check_stop(3, "c", "T05syscall_return:7;", 4);
	check_stop(4, "c", "T05replaylog:end;", 8);
	check_stop(8, "bc", "T05syscall_return:7;", 4);
	check_stop(4, "bc", "T05syscall_entry:7;", 3);
	check_stop(3, "bc", "T05replaylog:begin;", 0);
}
END_TEST

/* ------------------------------------------------------------------------------------------------- ranges */

#define N_ROUNDS  20000u
#define ROUND_LEN 4u

/*
 * A loop at 0x401000..0x401003, run N_ROUNDS times; in its middle round a call of 0x402000 and 0x402001 lies
 * between the second and the third instruction, which writes at 0x602000.  Then 0x403000.
 */
#define CALL_POS (N_ROUNDS / 2 * ROUND_LEN + 2)
#define LOOP_END (N_ROUNDS * ROUND_LEN + 2)

static void make_loop(struct ts_recording *rec)
{
	struct ts_steps *b = &((struct script *)rec)->steps;

	ts_steps_reset(b);
	for (unsigned i = 0; i < N_ROUNDS; i++) {
		ts_steps_close(b, 0x401000, 1, 0);
		ts_steps_close(b, 0x401001, 1, 0);
		if (i == N_ROUNDS / 2) {
			ts_steps_close(b, 0x402000, 1, 0);
			ts_steps_value(b, TS_FX_WRITE, 0x602000, "\x05\x06\x07\x08", 4);
			ts_steps_close(b, 0x402001, 1, 0);
		}
		ts_steps_close(b, 0x401002, 1, 0);
		ts_steps_close(b, 0x401003, 1, 0);
	}
	ts_steps_close(b, 0x403000, 1, 0);
	ck_assert(!b->is_failed);
}

static void use_loop(void)
{
	fake_again(&(struct fake_options){ .change = make_loop });
	greet();
}

START_TEST(a_range_is_left_at_the_first_position_outside)
{
	use_loop();
	check_stop(0, "vCont;r401000,401002", "T05", 2);
	ck_assert(!has_reason());
	check_stop(0, "vCont;r401000,401003", "T05", 3);
	check_stop(1, "vCont;r401000,401002", "T05", 2);
}
END_TEST

START_TEST(an_empty_range_is_one_step)
{
	use_loop();
	check_stop(0, "vCont;r401000,401000", "T05", 1);
	check_stop(1, "vCont;r401000,401000", "T05", 2);
	check_stop(0, "vCont;r0,0", "T05", 1);
	check_stop(0, "vCont;r401004,401000", "T05", 1);
}
END_TEST

START_TEST(a_step_from_outside_the_range_is_one_step_too)
{
	use_loop();
	check_stop(0, "vCont;r500000,500010", "T05", 1);
}
END_TEST

START_TEST(a_range_is_left_by_a_call_and_by_its_return)
{
	use_loop();
	check_stop(0, "vCont;r401000,401004", "T05", CALL_POS);
	ck_assert(!has_reason());
	check_stop(CALL_POS, "vCont;r402000,402002", "T05", CALL_POS + 2);
	check_stop(CALL_POS + 2, "vCont;r401000,401004", "T05", LOOP_END);
}
END_TEST

START_TEST(a_range_that_is_never_left_ends_with_the_recording)
{
	use_loop();
	check_stop(CALL_POS + 2, "vCont;r401000,404000", "T05", LOOP_END + 1);
}
END_TEST

START_TEST(a_range_step_stops_at_breakpoints_and_watchpoints_inside)
{
	use_loop();
	set("Z0,401002,1");
	check_stop(0, "vCont;r401000,401004", "T05swbreak:;", 2);
	check_stop(2, "vCont;r401000,401004", "T05swbreak:;", 2 + ROUND_LEN);
	set("z0,401002,1");
	set("Z2,602003,1");
	check_stop(0, "vCont;r401000,403000", "T05watch:602003;", CALL_POS + 2);
}
END_TEST

START_TEST(a_range_step_is_that_of_its_thread)
{
	/* In the usual recording: thread 0 is at 0x401003 when it runs again. */
	check_stop(2, "vCont;r401002,401004:" T0, "T05", 7);
	check_thread(T0);
}
END_TEST

/* --------------------------------------------------------------------------------------------- interrupts */

/* Send ^C when the run has had @n slices; the reply. */
static const char *interrupt_after(const char *packet, unsigned n)
{
	fake_send(packet);
	for (; n && rsp_session_is_running(s); n--) {
		rsp_reply_reset(&fake.reply);
		rsp_session_run(s, &fake.reply);
	}
	if (rsp_session_is_running(s)) {
		rsp_reply_reset(&fake.reply);
		rsp_session_interrupt(s);
		ck_assert(rsp_session_run(s, &fake.reply));
	}
	rsp_reply_finish(&fake.reply);
	memcpy(fake.text, fake.reply.data, fake.reply.len);
	fake.text[fake.reply.len] = '\0';
	return fake.text;
}

/*
 * A run that is interrupted again and again comes to the stop that it would have come to, and to each on its
 * way.
 */
static void check_interrupted(const char *packet, uint64_t from, uint64_t to, const char *reply)
{
	bool is_reverse = to < from;
	unsigned n = 0;

	rsp_session_go(s, from);
	for (;; n++) {
		uint64_t before = s->pos;

		interrupt_after(packet, n % 4);
		if (is_reverse)
			ck_assert_msg(s->pos <= before && s->pos >= to, "%" PRIu64, s->pos);
		else
			ck_assert_msg(s->pos >= before && s->pos <= to, "%" PRIu64, s->pos);
		if (strncmp(fake.text, "T02", 3))
			break;
		ck_assert(!has_reason());
		ck_assert_msg(n < 100000, "it comes to no end");
	}
	ck_assert_msg(!strncmp(fake.text, reply, strlen(reply)), "%s", fake.text);
	ck_assert_uint_eq(s->pos, to);
}

START_TEST(nothing_is_missed_where_a_run_is_interrupted)
{
	use_loop();
	set("Z0,401001,1;" FALSE_CODE);
	set("Z2,602000,1");
	check_interrupted("c", 0, CALL_POS + 2, "T05watch:602000;");
	check_interrupted("bc", LOOP_END, CALL_POS + 1, "T05watch:602000;");
	set("z2,602000,1");
	set("Z0,402001,1");
	check_interrupted("c", 0, CALL_POS + 1, "T05swbreak:;");
	check_interrupted("bc", LOOP_END, CALL_POS + 1, "T05swbreak:;");
	check_interrupted("c", CALL_POS + 1, LOOP_END + 1, "T05replaylog:end;");
	check_interrupted("bc", CALL_POS + 1, 0, "T05replaylog:begin;");
}
END_TEST

START_TEST(nothing_is_missed_where_a_range_step_is_interrupted)
{
	use_loop();
	set("Z0,402000,1");
	check_interrupted("vCont;r401000,402010", 0, CALL_POS, "T05swbreak:;");
	set("z0,402000,1");
	check_interrupted("vCont;r401000,402000", 0, CALL_POS, "T05");
}
END_TEST

static struct rsp_resume *run_of_job(void)
{
	return s->job.state;
}

/* As above, but caught at a known place: on its way, which is not searched yet. */
START_TEST(a_range_step_that_is_interrupted_on_its_way_finds_what_it_passed)
{
	use_loop();
	rsp_session_go(s, 0);
	rsp_resume_range(s, 0, 0x401000, 0x402010);
	run_of_job()->walk.state = TS_WALK_LEAVING;
	run_of_job()->walk.pos = CALL_POS + 100;
	rsp_session_interrupt(s);
	rsp_reply_reset(&fake.reply);
	ck_assert(rsp_session_run(s, &fake.reply));
	ck_assert_msg(!strncmp((const char *)fake.reply.data, "T02", 3), "%.20s",
		      (const char *)fake.reply.data);
	ck_assert_uint_eq(s->pos, CALL_POS + 100);

	set("Z0,402000,1");
	for (unsigned is_at_it = 0; is_at_it < 2; is_at_it++) {
		rsp_session_go(s, 0);
		rsp_resume_range(s, 0, 0x401000, 0x402010);
		run_of_job()->walk.state = TS_WALK_LEAVING;
		run_of_job()->walk.pos = is_at_it ? CALL_POS : CALL_POS + 100;
		rsp_session_interrupt(s);
		rsp_reply_reset(&fake.reply);
		ck_assert(rsp_session_run(s, &fake.reply));
		ck_assert_msg(!strncmp((const char *)fake.reply.data, "T05swbreak", 10), "%.20s",
			      (const char *)fake.reply.data);
		ck_assert_uint_eq(s->pos, CALL_POS);
	}
}
END_TEST

START_TEST(a_packet_ends_a_run_without_a_stop)
{
	use_loop();
	set("Z0,401001,1;" FALSE_CODE);
	fake_send("c");
	for (unsigned i = 0; !rsp_session_is_running(s) && i < 1000; i++) {
		rsp_session_go(s, 0); /* it was quicker than a slice */
		fake_send("c");
	}
	if (!rsp_session_is_running(s))
		return;
	ck_assert_str_eq(fake_send("qC"), "QC" T0);
	ck_assert(!rsp_session_is_running(s));
	ck_assert_uint_eq(s->pos, 0);
}
END_TEST

FAKE_SUITE("run", a_step_back_undoes_a_step_everywhere, while_one_thread_steps_the_others_pass,
	   while_one_thread_steps_back_the_others_pass, the_thread_to_step_stays_that_of_the_last_Hc,
	   a_thread_that_runs_no_more_steps_to_the_end_of_the_recording,
	   a_step_back_stays_where_its_thread_begins, both_ends_stay_ends,
	   to_arrive_at_an_end_by_a_step_is_an_ordinary_stop,
	   a_step_stops_at_a_breakpoint_of_a_thread_that_passes,
	   a_thread_that_steps_alone_for_gdb_is_the_one_that_stops,
	   a_step_that_arrives_at_a_breakpoint_has_just_stepped,
	   a_step_tells_of_the_watchpoint_that_it_triggers,
	   a_stop_names_all_watchpoints_that_the_step_triggers, a_client_that_takes_one_watchpoint_gets_one,
	   one_action_that_steps_decides_what_vCont_does,
	   malformed_resumes_do_not_move, a_breakpoint_where_one_stands_is_not_reported,
	   a_client_that_knows_no_swbreak_gets_none, a_watchpoint_comes_before_a_breakpoint,
	   a_breakpoint_comes_before_the_end, the_other_process_has_its_own_addresses,
	   what_was_removed_stops_no_more, a_watched_range_has_bounds,
	   system_calls_stop_where_they_begin_and_where_they_end, only_the_calls_asked_for_stop,
	   a_breakpoint_whose_condition_fails_hides_no_system_call,
	   a_range_is_left_at_the_first_position_outside, an_empty_range_is_one_step,
	   a_step_from_outside_the_range_is_one_step_too, a_range_is_left_by_a_call_and_by_its_return,
	   a_range_that_is_never_left_ends_with_the_recording,
	   a_range_step_stops_at_breakpoints_and_watchpoints_inside, a_range_step_is_that_of_its_thread,
	   nothing_is_missed_where_a_run_is_interrupted, nothing_is_missed_where_a_range_step_is_interrupted,
	   a_range_step_that_is_interrupted_on_its_way_finds_what_it_passed,
	   a_packet_ends_a_run_without_a_stop,
	   a_continue_of_one_thread_to_its_next_instruction_is_a_step)
