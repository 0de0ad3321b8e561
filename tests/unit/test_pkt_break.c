/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#define FALSE_CODE "X3,220027"
#define TRUE_CODE  "X3,220127"

/* Where running on from the beginning stops. */
static uint64_t stop_with(const char *breakpoint)
{
	rsp_session_go(&fake.session, 0);
	ck_assert_str_eq(fake_send(breakpoint), "OK");
	fake_resume("c");
	ck_assert(!rsp_session_is_running(&fake.session));
	return fake.session.pos;
}

START_TEST(one_true_condition_of_several_is_enough)
{
	ck_assert_uint_eq(stop_with("Z0,402000,1"), 3);
	ck_assert_uint_eq(stop_with("Z0,402000,1;" FALSE_CODE), FAKE_N_STEPS);
	ck_assert_uint_eq(stop_with("Z0,402000,1;" TRUE_CODE), 3);
	ck_assert_uint_eq(stop_with("Z0,402000,1;" FALSE_CODE ";" TRUE_CODE), 3);
	ck_assert_uint_eq(stop_with("Z0,402000,1;" FALSE_CODE ";" FALSE_CODE), FAKE_N_STEPS);
}
END_TEST

START_TEST(gdb_separates_only_the_first_condition)
{
	ck_assert_uint_eq(stop_with("Z0,402000,1;" FALSE_CODE TRUE_CODE), 3);
	ck_assert_uint_eq(stop_with("Z0,402000,1;" FALSE_CODE FALSE_CODE FALSE_CODE), FAKE_N_STEPS);
	ck_assert_str_eq(fake_send("Z0,402000,1" FALSE_CODE), "E16");
}
END_TEST

/*
 * "const8 VALUE; const8 0 (channel); const8 0 (function); printf 1 "%d\n"; end", as gdb writes dprintf-style
 * agent
 */
#define PRINT(value) "X10,22" value "22002200340100055c6e25640027"

START_TEST(commands_print_and_do_not_stop)
{
	ck_assert_uint_eq(stop_with("Z0,402000,1;cmds:1," PRINT("07")), FAKE_N_STEPS);
	ck_assert_str_eq(fake_console(), "\n7");
	ck_assert_uint_eq(stop_with("Z0,402000,1;cmds:0," PRINT("07") PRINT("08")), FAKE_N_STEPS);
	ck_assert_str_eq(fake_console(), "\n7\n8");
	ck_assert_uint_eq(stop_with("Z0,402000,1;" FALSE_CODE ";cmds:0," PRINT("07")), FAKE_N_STEPS);
	ck_assert_str_eq(fake_console(), "");
	ck_assert_uint_eq(stop_with("Z0,402000,1;" TRUE_CODE ";cmds:0," PRINT("07")), FAKE_N_STEPS);
	ck_assert_str_eq(fake_console(), "\n7");
	ck_assert_uint_eq(stop_with("Z0,402000,1"), 3);
	ck_assert_str_eq(fake_console(), "");
}
END_TEST

START_TEST(commands_print_forwards_only_and_also_where_a_step_arrives)
{
	ck_assert_str_eq(fake_send("Z0,402000,1;cmds:0," PRINT("07")), "OK");
	rsp_session_go(&fake.session, FAKE_N_STEPS);
	fake_resume("bc");
	ck_assert_uint_eq(fake.session.pos, 0);
	ck_assert_str_eq(fake_console(), "");
	rsp_session_go(&fake.session, 2);
	fake_resume("s");
	ck_assert_uint_eq(fake.session.pos, 3);
	ck_assert_str_eq(fake_console(), "\n7");
	fake_resume("c");
	ck_assert_str_eq(fake_console(), "");
}
END_TEST

START_TEST(a_hard_breakpoint_beside_commands_stops_after_they_have_printed)
{
	ck_assert_str_eq(fake_send("Z1,402000,1"), "OK");
	ck_assert_uint_eq(stop_with("Z0,402000,1;cmds:0," PRINT("07")), 3);
	ck_assert_str_eq(fake_console(), "\n7");
}
END_TEST

START_TEST(malformed_commands_are_an_error)
{
	static const char *const bad[] = {
		"Z0,402000,1;cmds:",	    "Z0,402000,1;cmds:1",
		"Z0,402000,1;cmds:1,X5,22", "Z0,402000,1;cmds:x," PRINT("07"),
		"Z0,402000,1;cmd:1,",	    "Z0,402000,1;cmds:1,X3,220a",
		"Z0,402000,1;cmds:1,X1,ff", "Z0,402000,1;cmds:1,X1,27;",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(fake_send(bad[i])[0] == 'E', "%s: %s", bad[i], fake.text);
	rsp_session_go(&fake.session, 0);
	fake_resume("c");
	ck_assert_uint_eq(fake.session.pos, FAKE_N_STEPS);
}
END_TEST

START_TEST(a_breakpoint_without_conditions_keeps_no_room_for_them)
{
	struct ts_break at = { 0, 0x402000 };
	const struct rsp_break *br;

	ck_assert_str_eq(fake_send("Z0,402000,1"), "OK");
	br = rsp_breaks_at(&fake.session.breaks, RSP_BREAK_SOFT, at);
	ck_assert_ptr_nonnull(br);
	ck_assert_ptr_null(br->conditions);
	ck_assert_ptr_null(br->commands);
}
END_TEST

FAKE_SUITE("pkt_break", a_breakpoint_without_conditions_keeps_no_room_for_them, one_true_condition_of_several_is_enough, gdb_separates_only_the_first_condition,
	   commands_print_and_do_not_stop, commands_print_forwards_only_and_also_where_a_step_arrives,
	   a_hard_breakpoint_beside_commands_stops_after_they_have_printed, malformed_commands_are_an_error)
