/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "script.h"

/* A clock by which each look takes a millisecond, however fast the machine is. */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	static int64_t ns;

	(void)id;
	ns += 1000000;
	*ts = (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
	return 0;
}

START_TEST(a_trace_that_cannot_be_read_any_more_is_an_error_number)
{
	fake_send("qSupported"); /* gdb would read a text as an answer */
	rsp_session_go(&fake.session, 2);
	fake.script->fail_at = 0;
	ck_assert_str_eq(fake_resume("qCRC:602000,4"), "E05");
	ck_assert_str_eq(fake_resume("qSearch:memory:602000;4;a"), "E05");
}
END_TEST

START_TEST(a_search_finds_the_first_place)
{
	ck_assert_str_eq(fake_resume("qSearch:memory:7ffffffde000;21000;\x05\x06"), "1,7fffffffeff5");
	ck_assert_str_eq(fake_resume("qSearch:memory:401000;10;\x90\x90"), "1,401000");
	ck_assert_str_eq(fake_resume("qSearch:memory:401001;10;\x90"), "1,401001");
	ck_assert_str_eq(fake_resume("qSearch:memory:401000;10;\x91"), "0");
}
END_TEST

START_TEST(a_search_ends_with_its_range)
{
	ck_assert_str_eq(fake_resume("qSearch:memory:7fffffffeff0;6;\x05\x06"), "0");
	ck_assert_str_eq(fake_resume("qSearch:memory:7fffffffeff0;7;\x05\x06"), "1,7fffffffeff5");
	ck_assert_str_eq(fake_resume("qSearch:memory:401000;1;\x90\x90"), "0");
	ck_assert_str_eq(fake_resume("qSearch:memory:401000;2;\x90\x90"), "1,401000");
}
END_TEST

START_TEST(a_search_goes_on_over_its_own_blocks)
{
	char packet[64];

	/* The two bytes lie on every place of two blocks' border in turn. */
	for (uint64_t start = 0x7fffffffeff5 - 0x4002; start <= 0x7fffffffeff5 - 0x3ffc; start++) {
		snprintf(packet, sizeof(packet), "qSearch:memory:%llx;20000;\x05\x06\x07",
			 (unsigned long long)start);
		ck_assert_str_eq(fake_resume(packet), "1,7fffffffeff5");
	}
}
END_TEST

START_TEST(unknown_bytes_match_nothing)
{
	static const char zeros[] = "qSearch:memory:602000;1000;\0\0";

	ck_assert_str_eq(fake_resume_bytes(zeros, sizeof(zeros) - 1), "0");
	/* Unknown bytes lie before the only known zero on the stack. */
	ck_assert_str_eq(fake_resume_bytes("qSearch:memory:7ffffffde000;21000;\0", 35), "1,7fffffffeff0");
	ck_assert_str_eq(fake_resume_bytes("qSearch:memory:7ffffffde000;21000;\0\0", 36), "0");
}
END_TEST

START_TEST(a_search_that_cannot_end_in_time_is_no_answer)
{
	ck_assert_str_eq(fake_resume("qSearch:memory:0;ffffffffffffffff;\x90"), "1,401000");
	ck_assert_str_eq(fake_resume("qSearch:memory:401010;ffffffff;\x90"), "E14");
}
END_TEST

START_TEST(a_checksum_is_the_one_that_gdb_computes)
{
	/*
	 * By zlib's crc32, which is the same with the bits of each byte and of the sum reversed, and a final
	 * inversion.
	 */
	ck_assert_str_eq(fake_resume("qCRC:7fffffffeff0,10"), "Ca97aff4d");
	ck_assert_str_eq(fake_resume("qCRC:401000,10"), "Cf9dbcbba");
}
END_TEST

START_TEST(a_checksum_over_unknown_bytes_is_an_error)
{
	ck_assert_str_eq(fake_resume("qCRC:7fffffffeff0,11"), "E14");
	ck_assert_str_eq(fake_resume("qCRC:602000,1"), "E14");
	ck_assert_str_eq(fake_resume("qCRC:401000,ffffffff"), "E14");
}
END_TEST

/* The longest search, 64 MiB in blocks of 16 KiB: a slice of 2 ms has two of them, and goes on when asked. */
START_TEST(a_long_search_goes_on_in_slices)
{
	struct rsp_reply *r = &fake.reply;
	unsigned n = 1;

	ck_assert_str_eq(fake_send("qSearch:memory:401010;ffffffff;\x90"), "(none)");
	ck_assert(rsp_session_is_running(&fake.session));
	for (rsp_reply_reset(r); !rsp_session_run(&fake.session, r); rsp_reply_reset(r))
		n++;
	rsp_reply_finish(r);
	ck_assert_uint_eq(r->len, 3);
	ck_assert_mem_eq(r->data, "E14", 3);
	ck_assert_uint_gt(n, 1000);
}
END_TEST

START_TEST(an_interrupt_ends_a_search)
{
	ck_assert_str_eq(fake_send("qSearch:memory:401010;ffffffff;\x90"), "(none)");
	rsp_session_interrupt(&fake.session);
	rsp_reply_reset(&fake.reply);
	ck_assert(rsp_session_run(&fake.session, &fake.reply));
	rsp_reply_finish(&fake.reply);
	ck_assert_mem_eq(fake.reply.data, "E04", 3);
}
END_TEST

START_TEST(malformed_packets_are_errors)
{
	static const char *const packets[] = {
		"qSearch:memory",
		"qSearch:memory:",
		"qSearch:memory:401000;10",
		"qSearch:memory:401000;10;",
		"qSearch:memory:401000;0;a",
		"qSearch:memory:ffffffffffffffff;2;a",
		"qSearch:memory:401000,10,a",
		"qCRC",
		"qCRC:",
		"qCRC:401000",
		"qCRC:401000,",
		"qCRC:401000,0",
		"qCRC:401000,10,",
		"qCRC:ffffffffffffffff,2",
	};

	fake_send("qSupported"); /* refusals of well-formed packets have a text then */
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		ck_assert_msg(strcmp(fake_send(packets[i]), "E16") == 0, "%s: %s", packets[i], fake.text);
}
END_TEST

FAKE_SUITE("pkt_scan", a_trace_that_cannot_be_read_any_more_is_an_error_number,
	   a_search_finds_the_first_place, a_search_ends_with_its_range, a_search_goes_on_over_its_own_blocks,
	   unknown_bytes_match_nothing, a_search_that_cannot_end_in_time_is_no_answer,
	   a_checksum_is_the_one_that_gdb_computes, a_checksum_over_unknown_bytes_is_an_error,
	   a_long_search_goes_on_in_slices, an_interrupt_ends_a_search, malformed_packets_are_errors)
