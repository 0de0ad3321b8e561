/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#define FALSE_CODE "X3,220027"
#define TRUE_CODE  "X3,220127"

/* Where running on from the beginning stops. */
static uint64_t stop_with(const char *breakpoint)
{
	rsp_session_go(&fake.session, 0);
	ck_assert_str_eq(fake_send(breakpoint), "OK");
	fake_send("c");
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

FAKE_SUITE("pkt_break", one_true_condition_of_several_is_enough, gdb_separates_only_the_first_condition)
