/* SPDX-License-Identifier: MIT */
#include "protocol/session/jobs/goto_parse.h"

#include <string.h>

#include "fake_session.h"
#include "protocol/session/session.h"

static struct rsp_destination d;
static struct ts_buf why;

static void check_parse(const char *arg, enum rsp_destination_kind kind)
{
	ck_assert_msg(rsp_destination_parse(&d, arg), "%s", arg);
	ck_assert_int_eq(d.kind, kind);
}

START_TEST(each_form_is_taken_apart)
{
	check_parse("0", RSP_TO_POSITION);
	ck_assert_uint_eq(d.pos, 0);
	check_parse("18446744073709551615", RSP_TO_POSITION);
	ck_assert_uint_eq(d.pos, UINT64_MAX);
	check_parse("begin", RSP_TO_POSITION);
	ck_assert_uint_eq(d.pos, 0);
	check_parse("end", RSP_TO_SHARE);
	ck_assert_uint_eq(d.share.part, d.share.scale);
	check_parse("12.5%", RSP_TO_SHARE);
	ck_assert_uint_eq(ts_percentage_of(&d.share, 1000), 125);
	check_parse("29%", RSP_TO_SHARE); /* 0.29 * 100 is 28.99... as a double */
	ck_assert_uint_eq(ts_percentage_of(&d.share, 100), 29);
	check_parse("frame", RSP_TO_FRAME);
	check_parse("next-thread-end", RSP_TO_NEXT);
	ck_assert_int_eq(d.event, TS_EV_THREAD_END);
	check_parse("previous-fault", RSP_TO_PREVIOUS);
	ck_assert_int_eq(d.event, TS_EV_FAULT);
}
END_TEST

START_TEST(anything_else_is_refused)
{
	static const char *const bad[] = { "", "5 ", "-1", "5x", "0x5", "18446744073709551616", "101%", "5.%",
					   ".5%", "next", "next-", "next-fault ", "previous-syscalls", "END" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!rsp_destination_parse(&d, bad[i]), "\"%s\"", bad[i]);
}
END_TEST

static void check_find(const char *arg, enum rsp_reach reach, uint64_t pos)
{
	uint64_t found = 77;

	ts_buf_init(&why);
	ck_assert(rsp_destination_parse(&d, arg));
	ck_assert_int_eq(rsp_reach(&fake.session, &d, &found, &why), reach);
	ck_assert_uint_eq(found, pos);
	ck_assert((why.len > 0) == (reach == RSP_UNREACHABLE));
	ts_buf_fini(&why);
}

/* The fake has ten steps; step 5 ends thread 1, step 6 is a system call. */
START_TEST(a_destination_is_found_or_left_alone)
{
	check_find("10", RSP_REACHED, 10);
	check_find("11", RSP_UNREACHABLE, 77);
	check_find("end", RSP_REACHED, 10);
	check_find("25%", RSP_REACHED, 2);
	check_find("frame", RSP_UNREACHABLE, 77);
	check_find("next-syscall", RSP_REACHED, 6);
	check_find("next-thread-end", RSP_REACHED, 5);
	check_find("previous-syscall", RSP_UNREACHABLE, 77);
	rsp_session_go(&fake.session, 6);
	check_find("next-syscall", RSP_UNREACHABLE, 77);
	rsp_session_go(&fake.session, 7);
	check_find("previous-syscall", RSP_REACHED, 6);
}
END_TEST

FAKE_SUITE("destination", each_form_is_taken_apart, anything_else_is_refused,
	   a_destination_is_found_or_left_alone)
