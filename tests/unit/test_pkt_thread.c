/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#include <string.h>

#define MULTIPROCESS "qSupported:multiprocess+"

START_TEST(only_threads_that_exist_are_listed)
{
	ck_assert_str_eq(fake_send("qfThreadInfo"), "m3e8");
	ck_assert_str_eq(fake_send("qsThreadInfo"), "l");
	rsp_session_go(&fake.session, 3);
	ck_assert_str_eq(fake_send("qfThreadInfo"), "m3e8,3e9");
	fake_send("qXfer:threads:read::0,100");
	ck_assert_str_eq(fake_send("qfThreadInfo"), "m3e8,3e9");
	rsp_session_go(&fake.session, 10);
	ck_assert_str_eq(fake_send("qfThreadInfo"), "m3e8,3ea");
	ck_assert_str_eq(fake_send("qsThreadInfo"), "l");
}
END_TEST

START_TEST(ids_have_processes_for_a_client_that_knows_them)
{
	fake_send(MULTIPROCESS);
	rsp_session_go(&fake.session, 10);
	ck_assert_str_eq(fake_send("qfThreadInfo"), "mp64.3e8,p65.3ea");
	ck_assert_str_eq(fake_send("qC"), "QCp64.3e8");
	ck_assert_str_eq(fake_send("Tp65.3ea"), "OK");
	ck_assert_str_eq(fake_send("Hgp65.3ea"), "OK");
	ck_assert_str_eq(fake_send("qC"), "QCp65.3ea");
}
END_TEST

START_TEST(a_list_that_does_not_fit_comes_in_pieces_of_whole_ids)
{
	const struct fake_options small = { .packet_size = 64 };
	char all[512] = "", piece[65];

	fake_again(&small);
	fake_send(MULTIPROCESS);
	rsp_session_go(&fake.session, 10);
	for (unsigned i = 0; i < 40; i++)
		ts_buf_printf(&fake.session.document.text, "%s%x", i ? "," : "", 0x1000 + i);
	strcpy(fake.session.document.name, "thread list");
	while (strcmp(strcpy(piece, fake_send("qsThreadInfo")), "l")) {
		ck_assert_int_eq(piece[0], 'm');
		ck_assert_uint_ge(strlen(piece), strstr(piece, "1027") ? 2 : 60);
		strcat(strcat(all, *all ? "," : ""), piece + 1);
	}
	ck_assert_uint_eq(strlen(all), 40 * 5 - 1);
	ck_assert_str_eq(all + 38 * 5, "1026,1027");
}
END_TEST

START_TEST(a_thread_is_alive_from_its_first_step_to_its_end)
{
	ck_assert_str_eq(fake_send("T3e8"), "OK");
	ck_assert_str_eq(fake_send("T3e9"), "E16");
	rsp_session_go(&fake.session, 3);
	ck_assert_str_eq(fake_send("T3e9"), "OK");
	rsp_session_go(&fake.session, 9);
	ck_assert_str_eq(fake_send("T3e9"), "E16");
}
END_TEST

START_TEST(selecting_a_thread_for_registers_leaves_the_one_to_step)
{
	rsp_session_go(&fake.session, 4);
	ck_assert_str_eq(fake_send("Hg3e8"), "OK");
	ck_assert_uint_eq(fake.session.thread, 0);
	ck_assert_uint_eq(fake.session.step_thread, TS_NO_THREAD);
	ck_assert_str_eq(fake_send("Hc3e9"), "OK");
	ck_assert_uint_eq(fake.session.thread, 0);
	ck_assert_uint_eq(fake.session.step_thread, 1);
	ck_assert_str_eq(fake_send("Hg0"), "OK");
	ck_assert_uint_eq(fake.session.thread, 0);
}
END_TEST

/* Thread 1 has run steps 3 and 4 of its three; thread 0's step before is 2. */
START_TEST(a_thread_that_was_only_looked_at_does_not_step)
{
	static const char *const steps[][2] = { { "bs", "3e9" }, { "s", "3e9" }, { "vCont;s", "3e9" } };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		rsp_session_go(&fake.session, 4);
		ck_assert_str_eq(fake_send("Hc0"), "OK");
		ck_assert_str_eq(fake_send("Hg3e8"), "OK");
		ck_assert_ptr_nonnull(strstr(fake_send(steps[i][0]), "thread:3e9;"));
		ck_assert_uint_eq(fake.session.pos, i ? 5 : 3);
	}
	rsp_session_go(&fake.session, 4);
	ck_assert_str_eq(fake_send("Hg3e8"), "OK");
	ck_assert_ptr_nonnull(strstr(fake_send("?"), "thread:3e9;"));
}
END_TEST

START_TEST(stepping_any_or_all_threads_is_left_to_the_recording)
{
	static const char *const packets[] = { "Hc0", "Hc-1", "Hcp0.0", "Hcp64.0", "Hcp64.-1", "Hcp-1.-1" };

	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		fake.session.step_thread = 0;
		ck_assert_str_eq(fake_send(packets[i]), "OK");
		ck_assert_uint_eq(fake.session.step_thread, TS_NO_THREAD);
	}
}
END_TEST

START_TEST(a_thread_that_does_not_exist_cannot_be_selected)
{
	ck_assert_str_eq(fake_send("Hg3e9"), "E16");
	ck_assert_str_eq(fake_send("Hc3e9"), "E16");
	ck_assert_str_eq(fake_send("Hg7"), "E16");
	ck_assert_str_eq(fake_send("Hgp65.3e8"), "E16");
	ck_assert_uint_eq(fake.session.thread, 0);
}
END_TEST

START_TEST(the_text_of_a_thread_says_where_it_is)
{
	rsp_session_go(&fake.session, 4);
	ck_assert_str_eq(fake_send("qThreadExtraInfo,3e9"), fake_hex("position 4 of 10"));
	ck_assert_str_eq(fake_send("qThreadExtraInfo,3e8"), fake_hex("runs again at position 6"));
	rsp_session_go(&fake.session, 9);
	ck_assert_str_eq(fake_send("qThreadExtraInfo,3ea"), fake_hex("does not run again"));
}
END_TEST

START_TEST(malformed_packets_are_errors)
{
	static const char *const packets[] = {
		"H",
		"Hg",
		"Hc",
		"Hx0",
		"Hgzz",
		"Hg3e8,",
		"Hcp-1.1",
		"Hc-2",
		"T",
		"Tzz",
		"T3e8;",
		"T-2",
		"qC:",
		"qfThreadInfo,1",
		"qsThreadInfo;",
		"qThreadExtraInfo",
		"qThreadExtraInfo,",
		"qThreadExtraInfo,zz",
		"qThreadExtraInfo,3e9",
	};

	fake_send("qSupported"); /* refusals of well-formed packets have a text then */
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		ck_assert_msg(strcmp(fake_send(packets[i]), "E16") == 0, "%s: %s", packets[i], fake.text);
}
END_TEST

START_TEST(a_list_goes_on_only_where_it_began)
{
	ck_assert_int_eq(fake_send("qsThreadInfo")[0], 'E');
	fake_send("qfThreadInfo");
	fake_send("qXfer:threads:read::0,100");
	ck_assert_int_eq(fake_send("qsThreadInfo")[0], 'E');
}
END_TEST

FAKE_SUITE("pkt_thread", only_threads_that_exist_are_listed, ids_have_processes_for_a_client_that_knows_them,
	   a_list_that_does_not_fit_comes_in_pieces_of_whole_ids,
	   a_thread_is_alive_from_its_first_step_to_its_end,
	   selecting_a_thread_for_registers_leaves_the_one_to_step,
	   a_thread_that_was_only_looked_at_does_not_step,
	   stepping_any_or_all_threads_is_left_to_the_recording,
	   a_thread_that_does_not_exist_cannot_be_selected, the_text_of_a_thread_says_where_it_is,
	   malformed_packets_are_errors, a_list_goes_on_only_where_it_began)
