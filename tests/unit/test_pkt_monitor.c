/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "src/base/text/hex.h"

/* What a client shows of a command that succeeds. */
static const char *monitor(const char *command)
{
	char *out = fake.text;

	fake_send_hex("qRcmd,%s", command);
	ck_assert_msg(fake.reply.kind == RSP_REPLY_DATA, "%s: %s", command, fake.text);
	for (size_t i = 0; i < fake.reply.len; i += 2)
		*out++ = (char)(ts_hex_digit((uint8_t)fake.text[i]) << 4 |
				ts_hex_digit((uint8_t)fake.text[i + 1]));
	*out = '\0';
	return fake.text;
}

/* What gdb 13 shows of one that fails, before its own words. */
static const char *monitor_fails(const char *command)
{
	ck_assert_str_eq(fake_send_hex("qRcmd,%s", command), "E01");
	return fake_console();
}

static const char gdb[] = "qSupported:multiprocess+";

START_TEST(when_says_position_thread_and_pc_as_gdb_does)
{
	ck_assert_str_eq(monitor("when"), "position 0 of 10 (0.00%), thread 100.1000, pc 0x401000\n");
	fake_send(gdb);
	rsp_session_go(&fake.session, 4);
	ck_assert_str_eq(monitor("when"), "position 4 of 10 (40.00%), thread 100.1001, pc 0x402001\n");
	rsp_session_go(&fake.session, 10);
	ck_assert_str_eq(monitor("when"), "position 10 of 10 (100.00%), thread 100.1000, pc 0x401006\n");
	fake.tl->is_end_assumed = true;
	ck_assert_str_eq(monitor("when"),
			 "position 10 of 10 (100.00%), thread 100.1000, pc 0x401006 (assumed: the "
			 "recording does not show where the last instruction led)\n");
	rsp_session_go(&fake.session, 9);
	ck_assert_str_eq(monitor("when"), "position 9 of 10 (90.00%), thread 100.1000, pc 0x401005\n");
}
END_TEST

START_TEST(a_pc_that_nobody_knows_is_said_to_be_unknown)
{
	rsp_session_go(&fake.session, 9);
	rsp_session_stop_in(&fake.session, 2);
	ck_assert_str_eq(monitor("when"), "position 9 of 10 (90.00%), thread 101.1002, pc unknown\n");
	rsp_session_go(&fake.session, 9);
	fake_send("Hg3ea"); /* looked at, no more */
	ck_assert_str_eq(monitor("when"), "position 9 of 10 (90.00%), thread 100.1000, pc 0x401005\n");
}
END_TEST

START_TEST(a_trace_that_cannot_be_read_any_more_is_said_to_be_so)
{
	fake.script->fail_at = 0;
	ck_assert_ptr_eq(strstr(monitor_fails("when"), "step 0: the script's trace is gone"), fake.text);
}
END_TEST

START_TEST(goto_moves_to_positions_and_shares_and_ends)
{
	static const struct {
		const char *command;
		uint64_t pos;
	} moves[] = {
		{ "goto 7", 7 },     { "goto 0", 0 },
		{ "goto 10", 10 },   { "goto 50%", 5 },
		{ "goto 0%", 0 },    { "goto 100%", 10 },
		{ "goto 39.9%", 3 }, { "goto begin", 0 },
		{ "goto end", 10 },  { "  goto   12.500%  ", 1 },
	};

	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		fake.session.pos = 6;
		monitor(moves[i].command);
		ck_assert_msg(fake.session.pos == moves[i].pos, "%s: %d", moves[i].command,
			      (int)fake.session.pos);
	}
	ck_assert_str_eq(monitor("goto 4"), "position 4 of 10 (40.00%), thread 100.1001, pc 0x402001\n");
	ck_assert_uint_eq(fake.session.thread, 1);
}
END_TEST

START_TEST(goto_finds_events_in_both_directions)
{
	static const struct {
		const char *command;
		uint64_t from, pos;
	} moves[] = {
		{ "goto next-syscall", 0, 6 },	   { "goto next-syscall", 5, 6 },
		{ "goto previous-syscall", 10, 6 }, { "goto previous-syscall", 7, 6 },
		{ "goto next-thread-end", 3, 5 },   { "goto previous-thread-end", 9, 5 },
	};

	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		rsp_session_go(&fake.session, moves[i].from);
		monitor(moves[i].command);
		ck_assert_msg(fake.session.pos == moves[i].pos, "%s: %d", moves[i].command,
			      (int)fake.session.pos);
	}
	rsp_session_go(&fake.session, 6);
	ck_assert_str_eq(monitor_fails("goto next-syscall"), "there is no syscall after position 6\n");
	ck_assert_str_eq(monitor_fails("goto previous-syscall"), "there is no syscall before position 6\n");
	rsp_session_go(&fake.session, 0);
	ck_assert_str_eq(monitor_fails("goto previous-gap"), "there is no gap before position 0\n");
	ck_assert_ptr_nonnull(strstr(monitor_fails("goto next-breakpoint"), "a kind of event"));
	ck_assert_uint_eq(fake.session.pos, 0);
}
END_TEST

static void make_untraced(struct ts_recording *rec)
{
	rec->has_syscalls = false;
}

START_TEST(that_system_calls_were_not_recorded_is_not_that_there_are_none)
{
	const struct fake_options untraced = { .change = make_untraced };

	fake_again(&untraced);
	rsp_session_go(&fake.session, 6);
	ck_assert_str_eq(monitor_fails("goto next-syscall"), "system calls were not recorded\n");
	ck_assert_str_eq(monitor_fails("goto next-fault"), "there is no fault after position 6\n");
	ck_assert_uint_eq(fake.session.pos, 6);
}
END_TEST

START_TEST(goto_elsewhere_says_why_and_moves_nothing)
{
	static const char *const commands[] = {
		"goto",
		"goto 11",
		"goto -7",
		"goto 101%",
		"goto 100.1%",
		"goto x",
		"goto 5x",
		"goto 5 6",
		"goto 5%%",
		"goto .5%",
		"goto 5.%",
		"goto 0x5g",
		"goto 18446744073709551616",
		"goto 99999999999999999999%",
		"goto BEGIN",
	};

	rsp_session_go(&fake.session, 6);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const char *why = monitor_fails(commands[i]), *example = strstr(why, "; example: goto 50%\n");

		ck_assert_msg(example && example[strlen("; example: goto 50%\n")] == 0, "%s: %s", commands[i], why);
		ck_assert_uint_eq(fake.session.pos, 6);
	}
	ck_assert_str_eq(monitor_fails("goto 11"),
			 "'11' is not a position: the last one is 10; example: goto 50%\n");
	ck_assert_str_eq(monitor_fails("goto nextsyscall"),
			 "'nextsyscall' is not a place, and no mark has this name; example: goto 50%\n");
	ck_assert_str_eq(monitor_fails("goto frame"),
			 "'frame' is not a place: no trace frame is selected; example: goto 50%\n");
}
END_TEST

START_TEST(a_client_that_reads_texts_of_errors_gets_one)
{
	fake_send("qSupported:error-message+");
	ck_assert_str_eq(fake_send_hex("qRcmd,%s", "goto 11"),
			 "E.'11' is not a position: the last one is 10; example: goto 50%");
	ck_assert_str_eq(fake_console(), "");
}
END_TEST

START_TEST(a_reason_that_no_error_text_can_have_goes_to_the_console)
{
	fake_send("qSupported:error-message+");
	ck_assert_str_eq(fake_send_hex("qRcmd,%s", "history $nope"), "E.Nothing was done");
	ck_assert_ptr_nonnull(strstr(fake_console(), "$nope"));
}
END_TEST

START_TEST(lldb_shows_console_output_only)
{
	fake.session.is_lldb = true;
	ck_assert_str_eq(fake_send_hex("qRcmd,%s", "when"), "OK");
	ck_assert_str_eq(fake_console(), "position 0 of 10 (0.00%), thread 100.1000, pc 0x401000\n");
}
END_TEST

START_TEST(a_text_that_does_not_fit_goes_to_the_console)
{
	const struct fake_options small = { .packet_size = 64 };

	fake_again(&small);
	ck_assert_str_eq(fake_send_hex("qRcmd,%s", "help"), "OK");
	ck_assert_ptr_nonnull(strstr(fake_console(), "monitor goto"));
}
END_TEST

START_TEST(help_has_a_line_for_each_command)
{
	static const char *const commands[] = { "announce", "checkpoint", "collect", "condition", "direction",
						"export",   "filter",	  "goto",    "help",	  "info",
						"physical", "translate", "wait",	  "when" };
	const char *at = monitor("help");

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		ck_assert_ptr_nonnull(at);
		ck_assert_int_eq(strncmp(at, "monitor ", 8), 0);
		ck_assert_int_eq(strncmp(at + 8, commands[i], strlen(commands[i])), 0);
		at = strchr(at, '\n') + 1;
	}
	for (; *at; at = strchr(at, '\n') + 1)
		ck_assert_int_eq(strncmp(at, "monitor ", 8), 0);
}
END_TEST

START_TEST(no_command_is_help)
{
	char *help = strdup(monitor("help"));

	ck_assert_str_eq(monitor(""), help);
	ck_assert_str_eq(monitor("  "), help);
	free(help);
}
END_TEST

START_TEST(an_unknown_command_names_help)
{
	ck_assert_str_eq(monitor_fails("whence"),
			 "'whence' is neither a question nor a command (help lists them); example: events first 5\n");
	ck_assert_str_eq(monitor_fails("whe"),
			 "'whe' is neither a question nor a command (help lists them); example: events first 5\n");
	ck_assert_str_eq(monitor_fails("when then"), "'then' is not understood here; example: when at 50%\n");
}
END_TEST

static void make_odd(struct ts_recording *rec)
{
	ts_recording_warn(rec, "odd thing");
	ts_recording_warn(rec, "odd thing");
	ts_recording_warn(rec, "another\033");
}

START_TEST(info_says_what_the_recording_is_and_what_is_odd)
{
	const struct fake_options odd = { .change = make_odd };

	fake_again(&odd);
	fake.tl->damage = (struct ts_error){ .code = TS_ETRUNC, .off = 0x1f, .text = "cut off" };
	ck_assert_str_eq(
		monitor("info"),
		"format: script\narchitecture: x86_64\nsystem: linux\nprogram: /usr/bin/fake\narguments: "
		"fake -v\n"
		"positions: 0 to 10\nthreads: 3\nmemory reads: not recorded\nsystem calls: recorded\n"
		"unexplained changes: 0\nwarning: odd thing (2 times)\nwarning: another?\ndamage: 0x1f: cut "
		"off\n");
}
END_TEST

START_TEST(announce_makes_the_next_resume_a_stop_of_signal_0_right_here)
{
	static const char *const resumes[] = { "s",
					       "c",
					       "S05",
					       "C05",
					       "bs",
					       "bc",
					       "vCont;c",
					       "vCont;s:p64.3e8;c:p64.-1",
					       "vCont;r401000,401003:p64.3e8" };
	static const char stop[] = "T00", thread[] = "thread:p64.3e9;";

	fake_send(gdb);
	for (size_t i = 0; i < sizeof(resumes) / sizeof(resumes[0]); i++) {
		monitor("goto 4");
		ck_assert_str_eq(fake_send_hex("qRcmd,%s", "announce"), "OK");
		ck_assert_str_eq(fake_console(), "");
		fake_send("Hgp64.3e8"); /* gdb still looks at the thread from before */
		ck_assert_msg(!strncmp(fake_send(resumes[i]), stop, strlen(stop)), "%s: %s", resumes[i],
			      fake.text);
		ck_assert_ptr_nonnull(strstr(fake.text, thread));
		ck_assert_uint_eq(fake.session.pos, 4);
	}
	ck_assert_int_eq(strncmp(fake_resume("s"), "T05", 3), 0);
	ck_assert_uint_eq(fake.session.pos, 5);
}
END_TEST

START_TEST(lldb_s_user_is_told_to_resume)
{
	fake_send("QThreadSuffixSupported");
	fake_send(gdb);
	fake_send_hex("qRcmd,%s", "announce goto 4");
	ck_assert_str_eq(fake_console(), "The next step or continue stops at position 4.\n");
	ck_assert_uint_eq(fake.session.pos, 0);
	ck_assert_int_eq(strncmp(fake_resume("s"), "T05reason:exception;", 20), 0);
	ck_assert_uint_eq(fake.session.pos, 4);
}
END_TEST

START_TEST(announce_moved_announces_only_what_the_client_does_not_know)
{
	fake_send(gdb);
	fake_resume("s");
	ck_assert_str_eq(fake_send_hex("qRcmd,%s", "announce moved"), "OK");
	ck_assert_int_eq(strncmp(fake_resume("s"), "T05", 3), 0);
	ck_assert_uint_eq(fake.session.pos, 2);
	monitor("goto 4");
	ck_assert_str_eq(monitor("announce moved"), "moved\n");
	ck_assert_int_eq(strncmp(fake_resume("s"), "T00", 3), 0);
	ck_assert_uint_eq(fake.session.pos, 4);
}
END_TEST

START_TEST(direction_reverse_turns_every_resume_but_bs_and_bc)
{
	static const struct {
		const char *packet;
		uint64_t pos;
	} resumes[] = {
		{ "s", 3 }, { "S05", 3 }, { "vCont;s", 3 }, { "vCont;r401000,401003:p64.3e8", 2 }, { "bs", 3 },
		{ "c", 0 }, { "C05", 0 }, { "vCont;c", 0 }, { "bc", 0 },
	};

	fake_send(gdb);
	ck_assert_str_eq(monitor("direction"), "step and continue go forwards\n");
	ck_assert_str_eq(monitor("direction reverse"), "step and continue go backwards\n");
	for (size_t i = 0; i < sizeof(resumes) / sizeof(resumes[0]); i++) {
		rsp_session_go(&fake.session, 4);
		fake_send(resumes[i].packet);
		ck_assert_msg(fake.session.pos == resumes[i].pos, "%s: %s", resumes[i].packet, fake.text);
	}
	ck_assert_str_eq(monitor_fails("direction up"), "direction takes reverse or forward\n");
	ck_assert_str_eq(monitor("direction forward"), "step and continue go forwards\n");
	rsp_session_go(&fake.session, 4);
	fake_resume("s");
	ck_assert_uint_eq(fake.session.pos, 5);
	fake.session.is_lldb = true;
	ck_assert_str_eq(fake_send_hex("qRcmd,%s", "direction reverse"), "OK");
	ck_assert_ptr_nonnull(strstr(fake_console(), "steps by lines run too far back"));
	ck_assert_str_eq(fake_send_hex("qRcmd,%s", "direction forward"), "OK");
	ck_assert_ptr_null(strstr(fake_console(), "lines"));
}
END_TEST

START_TEST(malformed_packets_are_errors)
{
	static const char *const packets[] = { "qRcmd,6", "qRcmd,zz", "qRcmd,7768656e,", "qRcmd,776865zz" };

	fake_send("qSupported"); /* refusals of well-formed packets have a text then */
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		ck_assert_msg(strcmp(fake_send(packets[i]), "E16") == 0, "%s: %s", packets[i], fake.text);
		ck_assert_str_eq(fake_console(), "");
	}
}
END_TEST

FAKE_SUITE("pkt_monitor", a_trace_that_cannot_be_read_any_more_is_said_to_be_so,
	   when_says_position_thread_and_pc_as_gdb_does, a_pc_that_nobody_knows_is_said_to_be_unknown,
	   goto_moves_to_positions_and_shares_and_ends, goto_finds_events_in_both_directions,
	   that_system_calls_were_not_recorded_is_not_that_there_are_none,
	   goto_elsewhere_says_why_and_moves_nothing, a_client_that_reads_texts_of_errors_gets_one,
	   a_reason_that_no_error_text_can_have_goes_to_the_console,
	   lldb_shows_console_output_only, a_text_that_does_not_fit_goes_to_the_console,
	   help_has_a_line_for_each_command, no_command_is_help, an_unknown_command_names_help,
	   info_says_what_the_recording_is_and_what_is_odd, announce_makes_the_next_resume_a_stop_of_signal_0_right_here,
	   lldb_s_user_is_told_to_resume, announce_moved_announces_only_what_the_client_does_not_know,
	   direction_reverse_turns_every_resume_but_bs_and_bc, malformed_packets_are_errors)
