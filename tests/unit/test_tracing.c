/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints as a client sees them: packets in, frames out.
 */
#include "tracing_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "protocol/tracing/collector.h"
#include "script.h"

/* ---------------------------------------------------------------------------------------- the implied run */

START_TEST(a_recording_is_a_run_that_has_stopped)
{
	begin();
	ck_assert_str_eq(fake_send("qTStatus"),
			 "T0;tstop::0;tframes:21;tcreated:21;circular:0;disconn:1;starttime:0;"
			 "stoptime:0;username:;notes:");
}
END_TEST

START_TEST(frame_k_is_position_k)
{
	begin();
	rsp_session_go(&fake.session, 7);
	for (unsigned k = 0; k <= N_STEPS; k++) {
		char packet[32], reply[32];

		snprintf(packet, sizeof(packet), "QTFrame:%x", k);
		snprintf(reply, sizeof(reply), "F%xT1", k);
		ck_assert_str_eq(fake_send(packet), reply);
		ck_assert_str_eq(fake_send(packet), reply);
		ck_assert_uint_eq(reg(16), 0x401000 + k % ROUND_LEN);
	}
	ck_assert_uint_eq(fake.session.pos, 7);
	ck_assert_str_eq(fake_send("QTFrame:21"), "F-1");
	ck_assert_uint_eq(reg(16), 0x401000); /* what was selected stays */
	ck_assert_str_eq(fake_send("QTFrame:ffffffff"), "OK");
	ck_assert_uint_eq(reg(16), 0x401003);
}
END_TEST

START_TEST(a_frame_has_the_memory_of_its_position)
{
	begin();
	rsp_session_go(&fake.session, 30);
	fake_send("QTFrame:b");
	ck_assert_str_eq(fake_send("m602000,4"), "02000000");
	ck_assert_str_eq(fake_send("m602100,4"), "E14");
	ck_assert_int_eq(fake_send("M602000,1:00")[0], 'E');
	fake_send("QTFrame:-1");
	ck_assert_str_eq(fake_send("m602000,4"), "07000000");
}
END_TEST

START_TEST(frames_are_found_by_address_from_the_selected_one_on)
{
	begin();
	ck_assert_str_eq(fake_send("QTFrame:pc:401002"), "F2T1");
	ck_assert_str_eq(fake_send("QTFrame:pc:401002"), "F6T1");
	ck_assert_str_eq(fake_send("QTFrame:range:401001:401002"), "F9T1");
	ck_assert_str_eq(fake_send("QTFrame:range:401001:401002"), "FaT1");
	ck_assert_str_eq(fake_send("QTFrame:outside:401001:401003"), "FcT1");
	ck_assert_str_eq(fake_send("QTFrame:outside:0:401000"), "FdT1");
	ck_assert_str_eq(fake_send("QTFrame:tdp:1"), "FeT1");
	ck_assert_str_eq(fake_send("QTFrame:tdp:2"), "F-1");
	ck_assert_str_eq(fake_send("QTFrame:pc:400fff"), "F-1");
	ck_assert_str_eq(fake_send("QTFrame:outside:401000:401003"), "F-1");
	ck_assert_uint_eq(reg(16), 0x401002);
}
END_TEST

START_TEST(the_last_position_is_a_frame_that_is_found)
{
	begin();
	ck_assert_str_eq(fake_send("QTFrame:1d"), "F1dT1");
	ck_assert_str_eq(fake_send("QTFrame:pc:401000"), "F20T1");
	ck_assert_str_eq(fake_send("QTFrame:pc:401000"), "F-1");
	ck_assert_str_eq(fake_send("QTFrame:tdp:1"), "F-1");
}
END_TEST

START_TEST(resuming_leaves_the_frame)
{
	begin();
	rsp_session_go(&fake.session, 5);
	fake_send("QTFrame:14");
	fake_resume("s");
	ck_assert_uint_eq(fake.session.pos, 6);
	ck_assert_uint_eq(reg(16), 0x401002);
}
END_TEST

START_TEST(a_client_that_connects_is_not_told_of_a_tracepoint_that_nobody_set)
{
	begin();
	ck_assert_str_eq(fake_send("qTfP"), "l");
	ck_assert_str_eq(fake_send("qTfP"), "T1:401000:E:20:0");
	for (unsigned i = 0; i < 5; i++)
		ck_assert_int_eq(fake_send("qTsP")[0], 'Z');
	ck_assert_str_eq(fake_send("qTsP"), "l");
	fake_send("qSupported:xmlRegisters=i386");
	ck_assert_str_eq(fake_send("qTfP"), "l");
	ck_assert_str_eq(fake_send("qTfV"), "1:0:1:74726163655f74696d657374616d70");
	ck_assert_str_eq(fake_send("qTsV"), "l");
}
END_TEST

START_TEST(no_list_is_given_of_a_whole_position)
{
	begin();
	ck_assert_str_eq(fake_send("qXfer:traceframe-info:read::0,1000"), "E01");
	fake_send("QTFrame:3");
	ck_assert_str_eq(fake_send("qXfer:traceframe-info:read::0,1000"), "E01");
}
END_TEST

/* --------------------------------------------------------------------------------------------- collecting */

#define AT_2 "QTDP:1:0000000000401002:E:0:0"

START_TEST(a_tracepoint_is_hit_wherever_it_was_executed)
{
	RUN(AT_2);
	ck_assert_str_eq(positions(), "2 6 10 14 18 22 26 30");
	ck_assert_str_eq(status(), "T0;tstop:" END ":0;tframes:8;tcreated:8;circular:0;disconn:0");
	ck_assert_str_eq(fake_send("qTP:1:401002"), "V8:30");
}
END_TEST

START_TEST(the_ends_of_the_recording_are_hits_too)
{
	RUN("QTDP:1:0000000000401000:E:0:0");
	ck_assert_str_eq(positions(), "0 4 8 12 16 20 24 28 32");
}
END_TEST

START_TEST(a_frame_shows_what_was_collected_and_nothing_else)
{
	RUN(AT_2 "-", "QTDP:-1:0000000000401002:M-1,602000,2");
	fake_send("QTFrame:3");
	ck_assert_uint_eq(reg(16), 0x401002);
	ck_assert_uint_eq(reg(2), UINT64_MAX);
	ck_assert_str_eq(fake_send("m602000,4"), "0300");
	ck_assert_str_eq(fake_send("m602002,1"), "E14");
	ck_assert_str_eq(fake_send("m401000,1"), "E14");
	fake_send("qXfer:traceframe-info:read::0,1000");
	ck_assert_ptr_nonnull(strstr(fake.text, "<memory start=\"0x602000\" length=\"0x2\"/>"));
	ck_assert_ptr_null(strstr(strstr(fake.text, "<memory") + 1, "<memory"));
	fake_send("QTFrame:ffffffff");
	ck_assert_str_eq(fake_send("m401000,1"), "90");
}
END_TEST

START_TEST(what_never_changes_is_in_every_frame)
{
	RUN(AT_2 "-", "QTDP:-1:0000000000401002:M-1,602000,2", "QTro:401000,401004:401008,401009");
	fake_send("QTFrame:0");
	ck_assert_str_eq(fake_send("m401003,2"), "90");
	ck_assert_str_eq(fake_send("m401008,2"), "90");
	ck_assert_str_eq(fake_send("m602000,2"), "0000");
}
END_TEST

START_TEST(registers_are_those_of_the_thread_that_hit)
{
	RUN(AT_2 "-", "QTDP:-1:0000000000401002:R04");
	for (unsigned i = 0; i < N_ROUNDS; i++) {
		char packet[32];

		snprintf(packet, sizeof(packet), "QTFrame:%x", i);
		fake_send(packet);
		ck_assert_uint_eq(reg(2), 10 + i);
		ck_assert_uint_eq(reg(3), UINT64_MAX);
	}
}
END_TEST

/* "reg 2; const8 13; equal; end", of what the second instruction sets in round 3 */
#define RCX_IS_13 "X7,260002220d1327"

START_TEST(a_condition_decides_what_is_a_hit)
{
	RUN(AT_2 ":" RCX_IS_13);
	ck_assert_str_eq(positions(), "14");
	ck_assert_str_eq(fake_send("qTP:1:401002"), "V1:6");
	RUN("QTDP:1:0000000000401002:D:0:0");
	ck_assert_str_eq(positions(), "");
}
END_TEST

START_TEST(a_condition_that_cannot_be_evaluated_ends_the_run)
{
	RUN(AT_2 ":X6,2201220005"
		 "27");
	ck_assert_str_eq(run_error(), "divide by zero, position 2");
	ck_assert_ptr_nonnull(strstr(fake.text, ":1;tframes:0;tcreated:0;circular:0;disconn:0"));
	RUN(AT_2 ":X4,26000327"); /* rdx */
	ck_assert_str_eq(run_error(), "cannot read register rdx, position 2");
	/* ref32 at 0x601ffe, whose first byte is unknown, and at 0x602002, whose third one is */
	RUN(AT_2 ":X7,2400601ffe" "1927");
	ck_assert_str_eq(run_error(), "cannot read memory at 0x601ffe, position 2");
	RUN(AT_2 ":X7,2400602002" "1927");
	ck_assert_str_eq(run_error(), "cannot read memory at 0x602004, position 2");
	RUN(AT_2 ":X3,210000"); /* goto itself */
	ck_assert_ptr_nonnull(strstr(status(), "T0;terror:"));
}
END_TEST

START_TEST(the_run_ends_with_the_hit_that_completes_a_pass_count)
{
	RUN("QTDP:3:0000000000401002:E:0:4", "QTDP:4:0000000000401001:E:0:0");
	ck_assert_str_eq(positions(), "1 2 5 6 9 10 13 14");
	ck_assert_str_eq(status(), "T0;tpasscount:3;tframes:8;tcreated:8;circular:0;disconn:0");
}
END_TEST

START_TEST(the_pass_count_of_a_tracepoint_that_steps_waits_for_the_steps)
{
	RUN("QTDP:3:0000000000401002:E:2:2");
	/* thread 0 steps from 2 to 3 to 8, thread 1 from 6 to 7 to 12 */
	ck_assert_str_eq(positions(), "2 3 6 7 8 12");
	ck_assert_ptr_nonnull(strstr(status(), "T0;tpasscount:3;"));
}
END_TEST

START_TEST(steps_collect_what_is_theirs)
{
	RUN("QTDP:1:0000000000401000:E:2:1-", "QTDP:-1:0000000000401000:M-1,602000,1-",
	    "QTDP:-1:0000000000401000:SM-1,602000,4-", "QTDP:-1:0000000000401000:R04");
	ck_assert_str_eq(positions(), "0 1 2");
	fake_send("QTFrame:1");
	ck_assert_str_eq(fake_send("m602000,4"), "00000000");
	ck_assert_uint_eq(reg(2), UINT64_MAX);
	fake_send("QTFrame:2");
	ck_assert_uint_eq(reg(2), 10);
	ck_assert_uint_eq(reg(16), 0x401002);
}
END_TEST

START_TEST(frames_of_several_tracepoints_stand_in_order_of_time)
{
	RUN("QTDP:7:0000000000401003:E:0:0", "QTDP:2:0000000000401001:E:0:0",
	    "QTDP:5:0000000000401001:E:0:2");
	ck_assert_str_eq(positions(), "1 1 3 5 5");
	ck_assert_str_eq(fake_send("QTFrame:0"), "F0T2");
	ck_assert_str_eq(fake_send("QTFrame:1"), "F1T5");
	ck_assert_str_eq(fake_send("QTFrame:tdp:7"), "F2T7");
	ck_assert_str_eq(fake_send("QTFrame:tdp:5"), "F4T5");
	ck_assert_str_eq(fake_send("QTFrame:tdp:7"), "F-1");
	fake_send("QTFrame:ffffffff");
	ck_assert_str_eq(fake_send("QTFrame:pc:401003"), "F2T7");
	ck_assert_str_eq(fake_send("QTFrame:range:401000:401002"), "F3T2");
	ck_assert_str_eq(fake_send("QTFrame:outside:401000:401002"), "F-1");
	fake_send("QTFrame:ffffffff");
	ck_assert_str_eq(fake_send("QTFrame:outside:401000:401002"), "F2T7");
}
END_TEST

/* "getv 2; const8 1; add; setv 2; tracev 2; tracev 1; pop; end" */
#define COUNT "X00000011,2c00022201022d00022e00022e00012927"

START_TEST(variables_go_from_hit_to_hit)
{
	RUN("QTDV:2:fffffffffffffffe:0:68697473", "QTDV:1:0:1:74", AT_2 "-",
	    "QTDP:-1:0000000000401002:" COUNT);
	ck_assert_str_eq(fake_send("qTV:2"), "V6");
	ck_assert_str_eq(fake_send("qTV:3"), "U");
	fake_send("QTFrame:0");
	ck_assert_str_eq(fake_send("qTV:2"), "Vffffffffffffffff");
	ck_assert_str_eq(fake_send("qTV:1"), "V2"); /* the clock is the position */
	fake_send("QTFrame:5");
	ck_assert_str_eq(fake_send("qTV:2"), "V4");
	fake_send("qXfer:traceframe-info:read::0,1000");
	ck_assert_ptr_nonnull(strstr(fake.text, "<tvar id=\"0x2\"/>"));
	ck_assert_str_eq(fake_send("qTfV"), "2:fffffffffffffffe:0:68697473");
}
END_TEST

START_TEST(what_nobody_defined_cannot_be_set)
{
	RUN(AT_2 "-", "QTDP:-1:0000000000401002:X00000007,22012d00032927");
	ck_assert_str_eq(run_error(), "cannot set trace state variable 3, position 2");
	ck_assert_str_eq(positions(), "2");
}
END_TEST

/* "reg 3; trace_quick 4; pop; end" and "const32 602000; trace_quick 1; pop; end" */
START_TEST(an_action_on_what_is_unknown_collects_nothing_and_others_do)
{
	RUN(AT_2 "-", "QTDP:-1:0000000000401002:X00000007,2600030d042927X00000009,24006020000d012927");
	ck_assert_ptr_nonnull(strstr(status(), "T0;tstop:" END ":0;tframes:8;"));
	fake_send("QTFrame:7");
	ck_assert_str_eq(fake_send("m602000,4"), "07");
}
END_TEST

START_TEST(a_range_may_be_relative_to_a_register)
{
	/* rcx is 17 in the last round; what is at 0x602000 is at 0x602000 - 17 from there */
	RUN(AT_2 "-", "QTDP:-1:0000000000401002:M2,601fef,4");
	fake_send("QTFrame:7");
	ck_assert_str_eq(fake_send("m602000,4"), "07000000");
}
END_TEST

/* ------------------------------------------------------------------------------------------------ live */

START_TEST(live_collects_where_the_client_moves_forwards)
{
	begin();
	fake_send_hex("qRcmd,%s", "collect live");
	rsp_session_go(&fake.session, 2);
	ck_assert_str_eq(fake_send(AT_2), "OK");
	ck_assert_str_eq(fake_send("QTStart"), "OK");
	fake_resume("s"); /* from where it stands, which is no arrival */
	ck_assert_str_eq(positions(), "");
	ck_assert_str_eq(status(), "T1;tnotrun:0;tframes:0;tcreated:0;circular:0;disconn:0");
	fake_send("Z0,401003,1");
	fake_resume("c");
	fake_resume("c");
	ck_assert_str_eq(positions(), "6 10");
	fake_resume("bc");
	ck_assert_str_eq(positions(), "6 10");
	fake_resume("c");
	ck_assert_str_eq(positions(), "6 10 10");
	ck_assert_str_eq(fake_send("QTStop"), "OK");
	fake_resume("c");
	ck_assert_str_eq(status(), "T0;tstop::0;tframes:3;tcreated:3;circular:0;disconn:0");
}
END_TEST

START_TEST(live_steps_go_on_from_one_move_to_the_next)
{
	begin();
	fake_send_hex("qRcmd,%s", "collect live");
	fake_send("QTDP:1:0000000000401001:E:2:0");
	fake_send("QTStart");
	for (unsigned i = 0; i < 2; i++)
		fake_resume("s");
	ck_assert_str_eq(positions(), "1 2");
	fake_resume("s");
	ck_assert_str_eq(positions(), "1 2 3");
}
END_TEST

START_TEST(live_steps_end_with_a_jump)
{
	begin();
	fake_send_hex("qRcmd,%s", "collect live");
	fake_send("QTDP:1:0000000000401001:E:10:0");
	fake_send("QTStart");
	for (unsigned i = 0; i < 2; i++)
		fake_resume("s");
	ck_assert_str_eq(positions(), "1 2");
	rsp_session_go(&fake.session, 7); /* from here thread 0 runs, as it did while it stepped */
	fake_resume("s");
	fake_resume("s");
	ck_assert_str_eq(positions(),
			 "1 2 9 10 11 13"); /* hits at 9 and 13, and steps of thread 0 behind 9 */
}
END_TEST

/* ---------------------------------------------------------------------------------------------- bad input */

static void check_bad(const char *const *bad, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ck_assert_str_eq(fake_send("QTinit"), "OK");
		ck_assert_str_eq(fake_send(AT_2 "-"), "OK");
		ck_assert_msg(fake_send(bad[i])[0] == 'E', "%s: %s", bad[i], fake.text);
	}
}

START_TEST(malformed_definitions_are_errors)
{
	static const char *const bad[] = {
		"QTDP:",
		"QTDP:1",
		"QTDP:1:401000",
		"QTDP:1:401000:X:0:0",
		"QTDP:1:401000:E",
		"QTDP:1:401000:E:0",
		"QTDP:1:401000:E:0:",
		"QTDP:1:401000:E:0:0:",
		"QTDP:1:401002:E:0:0",
		"QTDP:1:401000:E:0:0:X2,27",
		"QTDP:1:401000:E:0:0:X1,2g",
		"QTDP:0:401000:E:0:0",
		"QTDP:8000:401000:E:0:0",
		"QTDP:1:11112222333344445:E:0:0",
		"QTDP:-2:401002:R07",
		"QTDP:-1:401003:R07",
		"QTDP:-1:401002:Q",
		"QTDP:-1:401002:M-1,602000",
		"QTDP:-1:401002:Mx,602000,4",
		"QTDP:-1:401002:X00000002,27",
		"QTDP:-1:401002:Rxx",
		"QTDPsrc:1:401003:at:0:1:66",
		"QTDPsrc:1:401002:at:0:1:6",
		"QTDPsrc:1:401002",
		"QTDV:2",
		"QTDV:x:0:0:66",
		"QTDV:2:0:0:6",
		"QTEnable:1:401003",
		"QTDisable:1",
		"QTro:402000,401000",
		"QTro:401000",
		"QTBuffer:size:",
		"QTBuffer:circular:2",
		"QTBuffer:colour:1",
		"QTDisconnected:2",
		"QTNotes:user:6;",
		"QTNotes:note:66;",
		"QTNotes:user:610062;",
		"QTNotes:stop:zz;",
		"QTFrame:",
		"QTFrame:pc:",
		"QTFrame:range:1",
		"QTFrame:tdp:x",
		"qTBuffer:0",
		"qTBuffer:0,0",
		"qTP:1",
		"qTV:",
	};

	begin();
	check_bad(bad, sizeof(bad) / sizeof(bad[0]));
}
END_TEST

/* gdb lists the sections of its program: there is room for 4096. */
START_TEST(too_many_read_only_ranges_are_refused)
{
	static char packet[10 + 4 * 4097];
	char *at = packet + sprintf(packet, "QTro");

	begin();
	for (unsigned i = 0; i < 4096; i++)
		at += sprintf(at, ":1,2");
	ck_assert_str_eq(fake_send(packet), "OK");
	sprintf(at, ":1,2");
	ck_assert_int_eq(fake_send(packet)[0], 'E');
}
END_TEST

START_TEST(the_notes_of_a_run_are_kept)
{
	begin();
	RUN("QTDP:1:0000000000401002:E:0:0");
	ck_assert_str_eq(fake_send("QTNotes:user:6d65;notes:78;tstop:79;"), "OK");
	ck_assert_ptr_nonnull(strstr(fake_send("qTStatus"), "T0;tstop:79:0;"));
	ck_assert_ptr_nonnull(strstr(fake.text, ";username:6d65;notes:78"));
	begin();
	RUN("QTDP:1:0000000000401002:E:0:1");
	ck_assert_str_eq(fake_send("QTNotes:tstop:79;"), "OK"); /* nobody stopped it */
	ck_assert_ptr_nonnull(strstr(fake_send("qTStatus"), "T0;tpasscount:1;"));
}
END_TEST

START_TEST(expressions_that_cannot_work_are_refused_when_they_come)
{
	static const char *const bad[] = {
		"QTDP:-1:401002:X00000003,200005",	 /* jumps behind its end */
		"QTDP:-1:401002:X00000004,21000127",	 /* jumps into an instruction */
		"QTDP:-1:401002:X00000002,0227",	 /* takes what is not there */
		"QTDP:-1:401002:X00000005,2201280021",	 /* ends within an instruction */
		"QTDP:-1:401002:X00000006,220128210002", /* overflows its stack in a loop */
		"QTDP:-1:401002:X00000001,ff",		 /* no instruction */
		"QTDP:-1:401002:X00000002,2201",	 /* has no end */
		"QTDP:2:401000:E:0:0:X1,ff",
		"QTDP:2:401000:E:0:0:S",
		"QTDP:2:401000:E:0:0:F5",
		"QTDP:-1:401002:L",
	};

	begin();
	check_bad(bad, sizeof(bad) / sizeof(bad[0]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fake_send("QTinit");
		fake_send(AT_2);
		fake_send(bad[i]);
		/* a client that goes on all the same gets no run, or one without what was refused */
		fake_resume("QTStart");
		ck_assert_msg(fake.text[0] == 'E', "%s: %s", bad[i], fake.text);
	}
}
END_TEST

/* Before tstart the settings are those that the client has made. */
START_TEST(settings_show_before_the_run_begins)
{
	begin();
	ck_assert_str_eq(fake_send("QTBuffer:circular:1"), "OK");
	ck_assert_str_eq(fake_send("QTBuffer:size:1000"), "OK");
	ck_assert_str_eq(fake_send("QTNotes:user:6d65;notes:78;"), "OK");
	ck_assert_str_eq(fake_send("QTNotes:user:796f75;"), "OK");
	ck_assert_str_eq(status(), "T0;tstop::0;tframes:21;tcreated:21;tfree:1000;tsize:1000;circular:1;disconn:1");
	fake_send("qTStatus");
	ck_assert_ptr_nonnull(strstr(fake.text, ";username:796f75;notes:78"));
}
END_TEST

/* Each definition is memory of the server until the run is forgotten. */
START_TEST(definitions_are_bounded)
{
	char packet[4200];
	unsigned n = 0;

	begin();
	memset(packet, '4', sizeof(packet));
	memcpy(packet, "QTDV:5:0:0:", 11);
	packet[4001] = '\0';
	while (n < 20000 && !strcmp(fake_send(packet), "OK"))
		n++;
	ck_assert_uint_gt(n, 1000);
	ck_assert_uint_lt(n, 16000);
	ck_assert_str_eq(fake_send("QTinit"), "OK");
	ck_assert_str_eq(fake_send(packet), "OK");
}
END_TEST

/* The frames of the recording stay until a run of the client's own has begun. */
START_TEST(a_refused_start_leaves_the_frames_of_the_recording)
{
	begin();
	ck_assert_str_eq(fake_send("QTDisconnected:1"), "OK"); /* defines no run */
	ck_assert_str_eq(fake_send("QTinit"), "OK");
	ck_assert_str_eq(fake_send(AT_2 "-"), "OK");
	ck_assert_int_eq(fake_send("QTDP:-1:401002:X00000001,ff")[0], 'E');
	ck_assert_int_eq(fake_send("QTStart")[0], 'E');
	ck_assert_str_eq(status(), "T0;tstop::0;tframes:21;tcreated:21;circular:0;disconn:1");
	ck_assert_str_eq(fake_send("QTFrame:6"), "F6T1");
	ck_assert_uint_eq(reg(16), 0x401002);
	ck_assert_str_eq(fake_send("QTFrame:pc:401003"), "F7T1");
}
END_TEST

START_TEST(a_loop_without_end_ends_the_run_and_not_the_server)
{
	RUN(AT_2 "-", "QTDP:-1:0000000000401002:X00000003,210000");
	ck_assert_ptr_nonnull(strstr(status(), "T0;terror:"));
	ck_assert_str_eq(positions(), "2");
}
END_TEST

START_TEST(a_run_is_not_changed_while_it_runs)
{
	begin();
	fake_send_hex("qRcmd,%s", "collect live");
	ck_assert_int_eq(fake_send("QTStart")[0], 'E'); /* nothing is defined */
	fake_send(AT_2);
	fake_send("QTStart");
	ck_assert_int_eq(fake_send("QTDP:2:0000000000401000:E:0:0")[0], 'E');
	ck_assert_int_eq(fake_send("QTDV:2:0:0:66")[0], 'E');
	ck_assert_str_eq(fake_send("QTDisable:1:401002"), "OK");
	fake_resume("c");
	ck_assert_str_eq(positions(), "");
}
END_TEST

/* ------------------------------------------------------------------------------------------------ limits */

START_TEST(a_buffer_that_is_full_ends_the_run)
{
	RUN(AT_2, "QTBuffer:size:14"); /* three frames of six bytes, and two bytes */
	ck_assert_str_eq(positions(), "2 6 10");
	ck_assert_str_eq(status(), "T0;tfull:0;tframes:3;tcreated:3;tfree:2;tsize:14;circular:0;disconn:0");
	ck_assert_str_eq(fake_send("QTFrame:pc:401002"), "F0T1");
	fake_send("QTFrame:2");
	ck_assert_str_eq(fake_send("QTFrame:pc:401002"), "F-1");
}
END_TEST

START_TEST(max_memory_bounds_the_frames)
{
	struct rsp_frame_budget budget = { .max = 256 };

	begin();
	fake.target.budget = &budget; /* 128 used: less than five frames of at least 32 */
	fake_send("QTinit");
	fake_send(AT_2);
	fake_resume("QTStart");
	ck_assert_str_eq(run_error(),
			 "the trace frames of all clients reach the limit of --max-memory (256 bytes)");
	ck_assert_str_eq(positions(), "2 6 10 14");
	budget.max = 96; /* two ranges do not fit into the frame */
	fake_send("QTinit");
	fake_send(AT_2 "-");
	fake_send("QTDP:-1:0000000000401002:M-1,602000,1M-1,602001,1");
	fake_resume("QTStart");
	ck_assert_str_eq(run_error(),
			 "the trace frames of all clients reach the limit of --max-memory (96 bytes)");
	fake_send("QTinit");
	ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(a_circular_buffer_keeps_the_last_frames)
{
	RUN(AT_2, "QTBuffer:size:14", "QTBuffer:circular:1");
	ck_assert_str_eq(positions(), "22 26 30");
	ck_assert_str_eq(status(),
			 "T0;tstop:" END ":0;tframes:3;tcreated:8;tfree:2;tsize:14;circular:1;disconn:0");
	ck_assert_str_eq(fake_send("QTFrame:pc:401002"), "F0T1");
	ck_assert_str_eq(fake_send("QTFrame:tdp:1"), "F1T1");
}
END_TEST

START_TEST(a_range_that_is_too_long_is_an_error)
{
	RUN(AT_2 "-", "QTDP:-1:0000000000401002:M-1,0,ffffffffffffffff");
	ck_assert_str_eq(run_error(), "cannot collect memory at 0x0, position 2");
}
END_TEST

/* ------------------------------------------------------------------------------------------------ bytes */

START_TEST(all_frames_are_one_sequence_of_bytes)
{
	/* two frames: number 1, length, 'M' address length bytes */
	static const char all[] = "010018000000"
				  "4d0020600000000000010000"
				  "4d0120600000000000010000"
				  "010018000000"
				  "4d0020600000000000010001"
				  "4d0120600000000000010000";

	RUN("QTDP:1:0000000000401002:E:0:2-", "QTDP:-1:0000000000401002:M-1,602000,1M-1,602001,1");
	ck_assert_str_eq(fake_send("qTBuffer:0,7d0"), all);
	ck_assert_str_eq(fake_send("qTBuffer:20,7d0"), all + 0x40);
	ck_assert_str_eq(fake_send("qTBuffer:1,2"), "0018");
	ck_assert_str_eq(fake_send("qTBuffer:3c,7d0"), "l");
	ck_assert_int_eq(fake_send("qTBuffer:3d,7d0")[0], 'E');
}
END_TEST

/* A client reads them from the beginning to the end, in pieces of any length, and asks again for one that was lost. */
START_TEST(frames_are_read_in_pieces)
{
	char all[512];

	RUN("QTDP:1:0000000000401002:E:0:2-", "QTDP:-1:0000000000401002:M-1,602000,1M-1,602001,1");
	snprintf(all, sizeof(all), "%s", fake_send("qTBuffer:0,7d0"));
	ck_assert_uint_eq(strlen(all), 120);
	for (unsigned len = 1; len <= 61; len++) {
		for (unsigned off = 0; off < 60; off += len) {
			char packet[64];
			size_t n = 60 - off < len ? 60 - off : len;

			snprintf(packet, sizeof(packet), "qTBuffer:%x,%x", off, len);
			for (unsigned again = 0; again < 2; again++) {
				const char *piece = fake_send(packet);

				ck_assert_uint_eq(strlen(piece), 2 * n);
				ck_assert(!strncmp(piece, all + 2 * (size_t)off, 2 * n));
			}
		}
	}
	ck_assert_int_eq(fake_send("qTBuffer:1e,2")[0], '0');
}
END_TEST

/* Two frames that a recording was saved with, of position 2; the first has what is at 0x602000. */
static bool get_saved(struct ts_frames *f, uint64_t n, struct ts_frame *out, struct ts_error *err)
{
	(void)f;
	(void)err;
	out->pos = 2;
	out->tracepoint = 1;
	if (!n)
		ts_frame_add_range(out, 0x602000, 4);
	return true;
}

static uint64_t pos_of_saved(const struct ts_frames *f, uint64_t n)
{
	(void)f;
	(void)n;
	return 2;
}

static uint64_t next_saved(const struct ts_frames *f, uint32_t number, uint64_t from)
{
	return number == 1 && from < f->n_frames ? from : TS_NO_FRAME;
}

static void save_frames(struct ts_recording *rec)
{
	static const struct ts_frames_ops ops = { get_saved, pos_of_saved, next_saved };
	static struct ts_frames frames = { &ops, 2 };
	struct ts_map *m = ts_steps_map(&rec->initial, 0x500000, 0x1000, "guard", 5, NULL, 0);

	m->fill = TS_FILL_ZERO; /* nobody may read it */
	rec->frames = &frames;
}

START_TEST(a_saved_frame_has_what_was_collected_and_what_cannot_change)
{
	static const struct fake_options options = { .change = save_frames };

	fake_again(&options);
	ck_assert_int_eq(strncmp(fake_send("QTFrame:0"), "F0T1", 4), 0);
	ck_assert_str_eq(fake_send("m602000,4"), "11223344");
	ck_assert_str_eq(fake_send("m401000,2"), "9090");
	ck_assert_str_eq(fake_send("m40100e,4"), "9090"); /* as far as it is known */
	ck_assert_int_eq(strncmp(fake_send("QTFrame:1"), "F1T1", 4), 0);
	ck_assert_int_eq(fake_send("m602000,4")[0], 'E');
	ck_assert_int_eq(fake_send("m7fffffffeff0,2")[0], 'E'); /* the stack may be written */
	ck_assert_int_eq(fake_send("m500000,2")[0], 'E');
	ck_assert_str_eq(fake_send("m401000,2"), "9090");
}
END_TEST

FAKE_SUITE("tracing", a_recording_is_a_run_that_has_stopped, frame_k_is_position_k,
	   a_frame_has_the_memory_of_its_position, frames_are_found_by_address_from_the_selected_one_on,
	   the_last_position_is_a_frame_that_is_found, resuming_leaves_the_frame,
	   a_client_that_connects_is_not_told_of_a_tracepoint_that_nobody_set,
	   no_list_is_given_of_a_whole_position, a_tracepoint_is_hit_wherever_it_was_executed,
	   the_ends_of_the_recording_are_hits_too, a_frame_shows_what_was_collected_and_nothing_else,
	   what_never_changes_is_in_every_frame, registers_are_those_of_the_thread_that_hit,
	   a_condition_decides_what_is_a_hit, a_condition_that_cannot_be_evaluated_ends_the_run,
	   the_run_ends_with_the_hit_that_completes_a_pass_count,
	   the_pass_count_of_a_tracepoint_that_steps_waits_for_the_steps, steps_collect_what_is_theirs,
	   frames_of_several_tracepoints_stand_in_order_of_time, variables_go_from_hit_to_hit,
	   what_nobody_defined_cannot_be_set, an_action_on_what_is_unknown_collects_nothing_and_others_do,
	   a_range_may_be_relative_to_a_register, a_buffer_that_is_full_ends_the_run,
	   max_memory_bounds_the_frames, a_circular_buffer_keeps_the_last_frames,
	   a_range_that_is_too_long_is_an_error, live_collects_where_the_client_moves_forwards,
	   live_steps_go_on_from_one_move_to_the_next, live_steps_end_with_a_jump,
	   malformed_definitions_are_errors, too_many_read_only_ranges_are_refused,
	   the_notes_of_a_run_are_kept, expressions_that_cannot_work_are_refused_when_they_come,
	   settings_show_before_the_run_begins,
	   definitions_are_bounded,
	   a_refused_start_leaves_the_frames_of_the_recording,
	   a_loop_without_end_ends_the_run_and_not_the_server, a_run_is_not_changed_while_it_runs,
	   all_frames_are_one_sequence_of_bytes, frames_are_read_in_pieces,
	   a_saved_frame_has_what_was_collected_and_what_cannot_change)
