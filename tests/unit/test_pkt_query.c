/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does the last reply claim the feature? */
static bool is_claimed(const char *feature)
{
	const char *at = strstr(fake.text, feature);

	return at && at > fake.text && at[-1] == ';' && (at[strlen(feature)] == ';' || !at[strlen(feature)]);
}

static const char gdb_13[] =
	"qSupported:multiprocess+;swbreak+;hwbreak+;qRelocInsn+;fork-events+;vfork-events+;exec-events+;"
	"vContSupported+;QThreadEvents+;no-resumed+;memory-tagging+;xmlRegisters=i386";
static const char lldb_14[] =
	"qSupported:xmlRegisters=i386,arm,mips,arc;multiprocess+;fork-events+;vfork-events+";

START_TEST(gdb_is_told_the_packet_size_and_the_features)
{
	fake_send(gdb_13);
	ck_assert(strncmp(fake.text, "PacketSize=8000;", 16) == 0);
	ck_assert(is_claimed("multiprocess+"));
	ck_assert(is_claimed("swbreak+"));
	ck_assert(is_claimed("hwbreak+"));
	ck_assert(is_claimed("ReverseStep+"));
	ck_assert(is_claimed("ReverseContinue+"));
	ck_assert(is_claimed("QStartNoAckMode+"));
	ck_assert(is_claimed("qXfer:features:read+"));
	ck_assert(is_claimed("qXfer:threads:read+"));
	ck_assert(is_claimed("qXfer:auxv:read+"));
	ck_assert(is_claimed("QCatchSyscalls+"));
	ck_assert(is_claimed("fork-events+"));
	ck_assert(is_claimed("vfork-events+"));
	ck_assert(!is_claimed("exec-events+"));
	ck_assert(is_claimed("binary-upload+"));
}
END_TEST

START_TEST(what_no_recording_can_do_is_not_claimed)
{
	fake_send(gdb_13);
	ck_assert_ptr_null(strstr(fake.text, "memory-map"));
	ck_assert_ptr_null(strstr(fake.text, "QNonStop"));
	ck_assert_ptr_null(strstr(fake.text, "QThreadEvents"));
	ck_assert_ptr_null(strstr(fake.text, "QThreadSuffixSupported"));
	ck_assert_ptr_null(strstr(fake.text, "qXfer:siginfo"));
	ck_assert_ptr_null(strstr(fake.text, "qXfer:libraries:"));
}
END_TEST

START_TEST(features_of_the_client_are_claimed_only_if_it_has_them)
{
	fake_send("qSupported:hwbreak+;swbreak-;multiprocess");
	ck_assert(is_claimed("hwbreak+"));
	ck_assert(!is_claimed("swbreak+"));
	ck_assert(!is_claimed("multiprocess+"));
	ck_assert(fake.session.has_hwbreak && !fake.session.has_swbreak && !fake.session.has_multiprocess);
	fake_send("qSupported");
	ck_assert(!is_claimed("hwbreak+") && !fake.session.has_hwbreak);
}
END_TEST

static void know_nothing(struct ts_recording *rec)
{
	free(rec->exec_path);
	free(rec->auxv);
	rec->exec_path = NULL;
	rec->auxv = NULL;
	rec->auxv_len = 0;
	rec->has_syscalls = false;
}

START_TEST(features_of_the_recording_are_claimed_only_if_it_has_them)
{
	const struct fake_options poor = { .change = know_nothing };

	fake_again(&poor);
	fake_send(gdb_13);
	ck_assert(!is_claimed("qXfer:exec-file:read+"));
	ck_assert(!is_claimed("qXfer:auxv:read+"));
	ck_assert(!is_claimed("QCatchSyscalls+"));
	ck_assert_str_eq(fake_send("qXfer:exec-file:read::0,100"), "");
	ck_assert_str_eq(fake_send("qXfer:auxv:read::0,100"), "");
	ck_assert_str_eq(fake_send("QCatchSyscalls:1"), "");
}
END_TEST

START_TEST(the_path_of_the_program_is_told_if_its_file_is_there)
{
	const struct fake_options with_exec = { .exec = "/bin/sh" };

	fake_send(gdb_13);
	ck_assert(!is_claimed("qXfer:exec-file:read+")); /* "/usr/bin/fake" is recorded, but not here */
	ck_assert_str_eq(fake_send("qXfer:exec-file:read::0,100"), "");
	fake_again(&with_exec);
	fake_send(gdb_13);
	ck_assert(is_claimed("qXfer:exec-file:read+"));
}
END_TEST

static void add_arguments(struct ts_recording *rec)
{
	static const char more[] = "a b\0it's\0\0\033";

	ts_buf_put(&rec->cmdline, more, sizeof(more));
}

START_TEST(the_command_line_is_told_as_gdb_takes_it)
{
	const struct fake_options options = { .exec = "/bin/sh", .change = add_arguments };
	char path[PATH_MAX], expected[2 * PATH_MAX] = "S;";
	static const char args[] = "-v 'a b' 'it'\\''s' '' '?'";

	ck_assert_str_eq(fake_send("qExecAndArgs"), "U"); /* "/usr/bin/fake" is not here */
	fake_again(&options);
	ck_assert_ptr_nonnull(realpath("/bin/sh", path));
	for (const char *c = path; *c; c++)
		sprintf(expected + strlen(expected), "%02x", (unsigned)*c);
	strcat(expected, ";");
	for (const char *c = args; *c; c++)
		sprintf(expected + strlen(expected), "%02x", (unsigned)*c);
	strcat(expected, ";");
	ck_assert_str_eq(fake_send("qExecAndArgs"), expected);
}
END_TEST

START_TEST(lldb_is_known_by_the_order_of_its_packets)
{
	ck_assert_str_eq(fake_send("QStartNoAckMode"), "OK");
	fake_send(lldb_14);
	ck_assert(fake.session.is_lldb);
	ck_assert(!is_claimed("multiprocess+"));
	ck_assert(!is_claimed("qXfer:auxv:read+"));
	ck_assert(is_claimed("qXfer:features:read+"));
}
END_TEST

START_TEST(lldb_is_known_by_a_packet_of_its_own)
{
	fake_send(gdb_13);
	ck_assert_str_eq(fake_send("QThreadSuffixSupported"), "");
	ck_assert(fake.session.is_lldb);
}
END_TEST

START_TEST(gdb_is_not_taken_for_lldb)
{
	fake_send(gdb_13);
	ck_assert_str_eq(fake_send("QStartNoAckMode"), "OK");
	ck_assert(!fake.session.is_lldb);
	ck_assert(fake.session.wants_noack);
}
END_TEST

START_TEST(a_client_that_introduces_itself_finds_nothing_but_the_position)
{
	fake_send(gdb_13);
	rsp_session_go(&fake.session, 7);
	ck_assert_str_eq(fake_send("Z0,401003,1"), "OK");
	ck_assert_str_eq(fake_send("QCatchSyscalls:1;1"), "OK");
	fake_send_hex("vFile:open:%s,0,0", "/proc/100/maps");
	fake_send(gdb_13);
	ck_assert_uint_eq(fake.session.pos, 7);
	ck_assert_uint_eq(fake.session.breaks.n_items, 0);
	ck_assert(!fake.session.catches_syscalls);
	ck_assert(!fake.session.files[0].is_open);
}
END_TEST

START_TEST(errors_are_numbers_texts_or_hex_texts)
{
	ck_assert_str_eq(fake_send("M401000,1:00"), "E01");
	fake_send(gdb_13);
	ck_assert_str_eq(fake_send("M401000,1:00"), "E.a recording can't be changed");
	ck_assert_str_eq(fake_send("QEnableErrorStrings"), "OK");
	ck_assert_ptr_eq(strstr(fake_send("M401000,1:00"), "E01;"), fake.text);
	ck_assert_str_eq(fake.text + 4, fake_hex("a recording can't be changed"));
	fake.session.is_lldb = true;
	fake_send(lldb_14);
	ck_assert_str_eq(fake_send("M401000,1:00"), "E01");
}
END_TEST

START_TEST(what_must_be_unknown_is)
{
	ck_assert_str_eq(fake_send("vMustReplyEmpty"), "");
	ck_assert_str_eq(fake_send("qOffsets"), "");
}
END_TEST

START_TEST(settings_that_change_nothing_are_taken)
{
	ck_assert_str_eq(fake_send("QNonStop:0"), "OK");
	ck_assert_str_eq(fake_send("QThreadEvents:1"), "OK");
	ck_assert_str_eq(fake_send("QThreadEvents:0"), "OK");
	ck_assert_str_eq(fake_send("QPassSignals:"), "OK");
	ck_assert_str_eq(fake_send("QPassSignals:e;10;14"), "OK");
	ck_assert_str_eq(fake_send("QProgramSignals:0;1;3"), "OK");
	ck_assert_str_eq(fake_send("qSymbol::"), "OK");
	ck_assert_str_eq(fake_send("qSymbol:1234:6d61696e"), "OK");
	ck_assert_str_eq(fake_send("qSymbol::6d61696e"), "OK");
	ck_assert_str_eq(fake_send("vCtrlC"), "OK");
}
END_TEST

START_TEST(threads_cannot_be_stopped_one_by_one)
{
	ck_assert_int_eq(fake_send("QNonStop:1")[0], 'E');
}
END_TEST

START_TEST(system_calls_to_catch_are_kept)
{
	ck_assert_str_eq(fake_send("QCatchSyscalls:1;3b;e7"), "OK");
	ck_assert(fake.session.catches_syscalls);
	ck_assert_uint_eq(fake.session.n_syscalls, 2);
	ck_assert_uint_eq(fake.session.syscalls[1], 0xe7);
	ck_assert_int_eq(fake_send("QCatchSyscalls:1;3b;zz")[0], 'E');
	ck_assert_uint_eq(fake.session.n_syscalls, 2);
	ck_assert_str_eq(fake_send("QCatchSyscalls:1"), "OK");
	ck_assert_uint_eq(fake.session.n_syscalls, 0);
	ck_assert_str_eq(fake_send("QCatchSyscalls:0"), "OK");
	ck_assert(!fake.session.catches_syscalls);
}
END_TEST

START_TEST(the_processes_were_there_before)
{
	ck_assert_str_eq(fake_send("qAttached"), "1");
	ck_assert_str_eq(fake_send("qAttached:64"), "1");
	ck_assert_str_eq(fake_send("qAttached:65"), "1");
	ck_assert_int_eq(fake_send("qAttached:66")[0], 'E');
}
END_TEST

START_TEST(detaching_ends_the_session)
{
	ck_assert_str_eq(fake_send("D"), "OK");
	ck_assert(fake.session.is_closing);
}
END_TEST

START_TEST(a_client_that_lets_go_of_one_of_two_processes_stays)
{
	ck_assert_str_eq(fake_send("D;64"), "OK");
	ck_assert_str_eq(fake_send("vKill;65"), "OK");
	ck_assert(!fake.session.is_closing);
	fake.target.names.n_pids = 1;
	ck_assert_str_eq(fake_send("D;64"), "OK");
	ck_assert(fake.session.is_closing);
}
END_TEST

START_TEST(a_process_that_is_not_there_cannot_be_detached_or_killed)
{
	ck_assert_int_eq(fake_send("D;66")[0], 'E');
	ck_assert_int_eq(fake_send("vKill;66")[0], 'E');
	ck_assert_int_eq(fake_send("vAttach;66")[0], 'E');
	ck_assert(!fake.session.is_closing);
}
END_TEST

START_TEST(k_ends_the_session_without_a_reply)
{
	ck_assert_str_eq(fake_send("k"), "(none)");
	ck_assert(fake.session.is_closing);
}
END_TEST

START_TEST(lldb_is_told_that_it_has_killed)
{
	fake_send("QThreadSuffixSupported");
	ck_assert_str_eq(fake_send("k"), "X09");
	ck_assert(fake.session.is_closing);
}
END_TEST

START_TEST(an_extended_client_stays)
{
	fake.target.names.n_pids = 1;
	ck_assert_str_eq(fake_send("!"), "OK");
	ck_assert_str_eq(fake_send("vKill;64"), "OK");
	ck_assert_str_eq(fake_send("D;64"), "OK");
	ck_assert(!fake.session.is_closing);
	ck_assert_str_eq(fake_send("k"), "(none)");
	ck_assert(fake.session.is_closing);
}
END_TEST

START_TEST(an_extended_client_has_no_program_until_it_runs_or_attaches)
{
	static const char *const gone[] = { "D", "vKill;64" };
	static const char *const back[] = { "vRun;", "vAttach;64", "R00" };

	fake.target.names.n_pids = 1;
	fake_send("!");
	ck_assert_int_eq(fake_send("vRun;")[0], 'E');
	ck_assert_int_eq(fake_send("vAttach;64")[0], 'E');
	for (unsigned i = 0; i < 6; i++) {
		ck_assert_str_eq(fake_send(gone[i % 2]), "OK");
		ck_assert_str_eq(fake_send("?"), "W00");
		ck_assert_str_eq(fake_send("qfThreadInfo"), "l");
		ck_assert_ptr_null(strstr(fake_send("qXfer:threads:read::0,100"), "<thread "));
		fake_send(back[i % 3]);
		ck_assert_int_eq(fake_send("?")[0], 'T');
		ck_assert_str_eq(fake_send("qfThreadInfo"), "m3e8");
	}
	fake_send("D");
	fake_send(gdb_13);
	ck_assert_int_eq(fake_send("?")[0], 'T');
}
END_TEST

START_TEST(to_run_is_to_go_to_the_beginning)
{
	rsp_session_go(&fake.session, 5);
	ck_assert_ptr_eq(strstr(fake_send("vRun;2f62696e2f6c73;2d6c"), "T05"), fake.text);
	ck_assert_uint_eq(fake.session.pos, 0);
	rsp_session_go(&fake.session, 5);
	ck_assert_int_eq(fake_send("vRun;")[0], 'T');
	ck_assert_uint_eq(fake.session.pos, 0);
	rsp_session_go(&fake.session, 5);
	ck_assert_str_eq(fake_send("R00"), "(none)");
	ck_assert_uint_eq(fake.session.pos, 0);
}
END_TEST

START_TEST(to_attach_is_to_stay)
{
	rsp_session_go(&fake.session, 5);
	ck_assert_int_eq(fake_send("vAttach;64")[0], 'T');
	ck_assert_uint_eq(fake.session.pos, 5);
}
END_TEST

START_TEST(malformed_packets_are_errors)
{
	static const char *const packets[] = {
		"QStartNoAckMode:1",
		"QThreadSuffixSupported:",
		"QEnableErrorStrings;",
		"!1",
		"QNonStop",
		"QNonStop:",
		"QNonStop:2",
		"QNonStop:00",
		"QThreadEvents",
		"QThreadEvents:x",
		"QPassSignals:zz",
		"QPassSignals:1,2",
		"QProgramSignals:1;;2",
		"QCatchSyscalls",
		"QCatchSyscalls:",
		"QCatchSyscalls:2",
		"QCatchSyscalls:1;",
		"QCatchSyscalls:1,2",
		"QCatchSyscalls:0;1",
		"qAttached:zz",
		"qAttached:64:",
		"qSymbol",
		"qSymbol:",
		"qSymbol:zz:",
		"qSymbol::6",
		"qSymbol::zz",
		"D;zz",
		"D;64;",
		"k1",
		"vKill",
		"vKill;",
		"vKill;zz",
		"R",
		"R0",
		"R000",
		"Rzz",
		"vRun;zz",
		"vRun;6",
		"vAttach",
		"vAttach;",
		"vCtrlC:",
	};

	fake_send("qSupported"); /* refusals of well-formed packets have a text then */
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		ck_assert_msg(strcmp(fake_send(packets[i]), "E16") == 0, "%s: %s", packets[i], fake.text);
	ck_assert(!fake.session.is_lldb && !fake.session.is_extended && !fake.session.is_closing);
}
END_TEST

FAKE_SUITE("pkt_query", gdb_is_told_the_packet_size_and_the_features, what_no_recording_can_do_is_not_claimed,
	   features_of_the_client_are_claimed_only_if_it_has_them,
	   features_of_the_recording_are_claimed_only_if_it_has_them,
	   the_path_of_the_program_is_told_if_its_file_is_there,
	   the_command_line_is_told_as_gdb_takes_it, lldb_is_known_by_the_order_of_its_packets,
	   lldb_is_known_by_a_packet_of_its_own, gdb_is_not_taken_for_lldb,
	   a_client_that_introduces_itself_finds_nothing_but_the_position,
	   errors_are_numbers_texts_or_hex_texts, what_must_be_unknown_is,
	   settings_that_change_nothing_are_taken, threads_cannot_be_stopped_one_by_one,
	   system_calls_to_catch_are_kept, the_processes_were_there_before, detaching_ends_the_session,
	   a_client_that_lets_go_of_one_of_two_processes_stays,
	   a_process_that_is_not_there_cannot_be_detached_or_killed, k_ends_the_session_without_a_reply,
	   lldb_is_told_that_it_has_killed, an_extended_client_stays,
	   an_extended_client_has_no_program_until_it_runs_or_attaches, to_run_is_to_go_to_the_beginning,
	   to_attach_is_to_stay, malformed_packets_are_errors)
