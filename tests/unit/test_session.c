/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#include <string.h>

static void check_stop(const char *resume, const char *reply, uint64_t pos)
{
	ck_assert_msg(!strncmp(fake_resume(resume), reply, strlen(reply)), "%s: %s", resume, fake.text);
	ck_assert_uint_eq(fake.session.pos, pos);
}

START_TEST(an_interrupt_between_two_runs_stops_the_next_before_it_moves)
{
	static const char *const resumes[] = { "s", "c", "vCont;s", "vCont;r401000,401003", "bs", "bc" };

	rsp_session_go(&fake.session, 3);
	check_stop("s", "T05", 4);
	for (size_t i = 0; i < sizeof(resumes) / sizeof(resumes[0]); i++) {
		rsp_session_interrupt(&fake.session);
		fake_send("m401000,4");
		check_stop(resumes[i], "T02", 4);
	}
	check_stop("s", "T05", 5);
}
END_TEST

START_TEST(an_interrupt_is_void_when_the_stop_before_it_has_been_shown)
{
	static const char *const lists[] = { "qXfer:threads:read::0,1000", "qfThreadInfo", "qRcmd,7768656e" };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		rsp_session_go(&fake.session, 0);
		check_stop("s", "T05", 1);
		rsp_session_interrupt(&fake.session);
		fake_send(lists[i]);
		check_stop("s", "T05", 2);
	}
}
END_TEST

START_TEST(a_packet_is_no_interrupt_of_the_next_run)
{
	ck_assert_str_eq(fake_send("vCtrlC"), "OK");
	check_stop("s", "T05", 1);
}
END_TEST

START_TEST(an_interrupt_when_nothing_ran_is_void)
{
	rsp_session_interrupt(&fake.session);
	check_stop("s", "T05", 1);
	fake_send_hex("qRcmd,%s", "when");
	rsp_session_interrupt(&fake.session);
	check_stop("s", "T05", 2);
}
END_TEST

START_TEST(a_new_client_does_not_inherit_interrupts_and_announcements)
{
	check_stop("s", "T05", 1);
	rsp_session_interrupt(&fake.session);
	rsp_session_reset(&fake.session);
	check_stop("s", "T05", 2);
	fake_send_hex("qRcmd,%s", "announce");
	rsp_session_reset(&fake.session);
	check_stop("s", "T05", 3);
}
END_TEST

START_TEST(an_end_is_no_step_that_stopped_for_lldb)
{
	fake_send("QStartNoAckMode");
	fake_send("qSupported:xmlRegisters=i386");
	check_stop("bs", "T05reason:exception;description:", 0);
	ck_assert_ptr_nonnull(strstr(fake.text, fake_hex("beginning of the recording")));
	ck_assert_ptr_nonnull(strstr(fake.text, ";replaylog:begin;"));
	check_stop("s", "T05", 1);
	ck_assert_ptr_null(strstr(fake.text, "reason"));
}
END_TEST

START_TEST(a_stop_that_is_announced_has_a_reason_for_lldb)
{
	fake_send("QStartNoAckMode");
	fake_send("qSupported:xmlRegisters=i386");
	fake_send_hex("qRcmd,%s", "announce goto 4");
	check_stop("c", "T05reason:exception;description:", 4);
	ck_assert_ptr_nonnull(strstr(fake.text, fake_hex("at position 4")));
}
END_TEST

START_TEST(registers_in_a_stop_have_numbers_of_two_digits)
{
	check_stop("s", "T0500:8877665544332211;", 1);
}
END_TEST

FAKE_SUITE("session", a_stop_that_is_announced_has_a_reason_for_lldb, an_end_is_no_step_that_stopped_for_lldb,
	   registers_in_a_stop_have_numbers_of_two_digits,
	   an_interrupt_between_two_runs_stops_the_next_before_it_moves,
	   an_interrupt_is_void_when_the_stop_before_it_has_been_shown, an_interrupt_when_nothing_ran_is_void,
	   a_packet_is_no_interrupt_of_the_next_run,
	   a_new_client_does_not_inherit_interrupts_and_announcements)
