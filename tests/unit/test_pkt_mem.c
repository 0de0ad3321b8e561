/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#include <stdio.h>
#include <string.h>

#include "script.h"

START_TEST(m_reads_what_is_known_at_the_position)
{
	ck_assert_str_eq(fake_send("m401000,4"), "90909090");
	ck_assert_str_eq(fake_send("m602000,4"), "E14");
	rsp_session_go(&fake.session, 2);
	ck_assert_str_eq(fake_send("m602000,4"), "11223344");
	ck_assert_str_eq(fake_send("m602001,2"), "2233");
}
END_TEST

START_TEST(m_ends_before_the_first_unknown_byte)
{
	rsp_session_go(&fake.session, 2);
	ck_assert_str_eq(fake_send("m602002,40"), "3344");
	ck_assert_str_eq(fake_send("m601fff,40"), "E14");
	ck_assert_str_eq(fake_send("m401008,ffffffffffffffff"), "9090909090909090");
}
END_TEST

START_TEST(m_fits_into_a_packet)
{
	const struct fake_options small = { .packet_size = 64 };

	fake_again(&small);
	ck_assert_str_eq(fake_send("m7fffffffeff0,1000"), "000102030405060708090a0b0c0d0e0f");
	rsp_session_go(&fake.session, 2);
	ck_assert_str_eq(fake_send("m401000,10"), "90909090909090909090909090909090");
}
END_TEST

START_TEST(memory_is_that_of_the_selected_threads_process)
{
	rsp_session_go(&fake.session, 8);
	ck_assert_str_eq(fake_send("m401000,4"), "E14");
	ck_assert_str_eq(fake_send("Hg3e8"), "OK");
	ck_assert_str_eq(fake_send("m401000,4"), "90909090");
}
END_TEST

START_TEST(an_old_lldb_gets_no_part_of_its_cache_lines)
{
	ck_assert_str_eq(fake_send("m401000,200"), "90909090909090909090909090909090");
	fake_send("QThreadSuffixSupported");
	ck_assert_str_eq(fake_send("m401000,200"), "E14");
	ck_assert_str_eq(fake_send("m401000,1ff"), "90909090909090909090909090909090");
	ck_assert_str_eq(fake_send("m401008,200"), "9090909090909090");
	fake_send("qSupported:swbreak+");
	ck_assert_str_eq(fake_send("m401000,200"), "90909090909090909090909090909090");
}
END_TEST

static void know_a_line(struct ts_recording *rec)
{
	static const uint8_t line[512] = { 0xcc };

	ts_steps_value(&rec->initial, TS_FX_WRITE, 0x401000, line, sizeof(line));
}

START_TEST(an_old_lldb_gets_a_cache_line_that_is_known)
{
	const struct fake_options opt = { .change = know_a_line };

	fake_again(&opt);
	fake_send("QThreadSuffixSupported");
	ck_assert_ptr_eq(strstr(fake_send("m401000,200"), "cc0000"), fake.text);
	ck_assert_uint_eq(fake.reply.len, 1024);
}
END_TEST

START_TEST(x_sends_bytes_behind_a_b)
{
	ck_assert_str_eq(fake_send("x401000,2"), "b\x90\x90");
	ck_assert(!fake.reply.is_binary); /* run lengths may be used */
	fake_send("x7fffffffeff0,4");
	ck_assert_uint_eq(fake.reply.len, 5);
	ck_assert_mem_eq(fake.text, "b\0\1\2\3", 5);
	fake_send("x7fffffffeffe,4");
	ck_assert_uint_eq(fake.reply.len, 3);
	ck_assert_mem_eq(fake.text, "b\x0e\x0f", 3);
	ck_assert_str_eq(fake_send("x602000,4"), "E14");
}
END_TEST

START_TEST(the_probe_of_an_old_lldb_is_an_error)
{
	ck_assert_int_eq(fake_send("x0,0")[0], 'E');
}
END_TEST

START_TEST(a_trace_that_cannot_be_read_any_more_is_an_error_number)
{
	fake_send("qSupported"); /* gdb would read a text as the memory's contents */
	rsp_session_go(&fake.session, 2);
	fake.script->fail_at = 0;
	ck_assert_str_eq(fake_send("m602000,4"), "E05");
	ck_assert_str_eq(fake_send("x602000,4"), "E05");
}
END_TEST

START_TEST(writing_is_refused)
{
	ck_assert_str_eq(fake_send("M401000,2:9090"), "E01");
	fake_send("qSupported");
	ck_assert_str_eq(fake_send("M401000,2:9090"), "E.a recording can't be changed");
	ck_assert_str_eq(fake_send("X401000,2:ab"), "E.a recording can't be changed");
	ck_assert_int_eq(fake_send("X401000,0:")[0], 'E');
	ck_assert_str_eq(fake_send("m401000,2"), "9090");
}
END_TEST

START_TEST(malformed_packets_are_errors)
{
	static const char *const packets[] = {
		"m",
		"m401000",
		"m401000,",
		"m401000,0",
		"m,4",
		"mzz,4",
		"m401000,4,",
		"m11111111111111111,4",
		"x",
		"x401000",
		"x401000,4:",
		"M",
		"M401000,2",
		"M401000,2:90",
		"M401000,2:909090",
		"M401000,2:9z90",
		"M401000,2:909",
		"X401000,2:a",
		"X401000,2:abc",
		"X401000,2",
	};

	fake_send("qSupported"); /* refusals of well-formed packets have a text then */
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		ck_assert_msg(strcmp(fake_send(packets[i]), "E16") == 0, "%s: %s", packets[i], fake.text);
}
END_TEST

FAKE_SUITE("pkt_mem", m_reads_what_is_known_at_the_position, m_ends_before_the_first_unknown_byte,
	   m_fits_into_a_packet, memory_is_that_of_the_selected_threads_process,
	   an_old_lldb_gets_no_part_of_its_cache_lines, an_old_lldb_gets_a_cache_line_that_is_known,
	   x_sends_bytes_behind_a_b, the_probe_of_an_old_lldb_is_an_error,
	   a_trace_that_cannot_be_read_any_more_is_an_error_number, writing_is_refused,
	   malformed_packets_are_errors)
