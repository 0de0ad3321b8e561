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
	ck_assert(fake.reply.is_binary);
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
	ck_assert_str_eq(fake_send("qCRC:602000,4"), "E05");
	ck_assert_str_eq(fake_send("qSearch:memory:602000;4;a"), "E05");
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

START_TEST(a_search_finds_the_first_place)
{
	ck_assert_str_eq(fake_send("qSearch:memory:7ffffffde000;21000;\x05\x06"), "1,7fffffffeff5");
	ck_assert_str_eq(fake_send("qSearch:memory:401000;10;\x90\x90"), "1,401000");
	ck_assert_str_eq(fake_send("qSearch:memory:401001;10;\x90"), "1,401001");
	ck_assert_str_eq(fake_send("qSearch:memory:401000;10;\x91"), "0");
}
END_TEST

START_TEST(a_search_ends_with_its_range)
{
	ck_assert_str_eq(fake_send("qSearch:memory:7fffffffeff0;6;\x05\x06"), "0");
	ck_assert_str_eq(fake_send("qSearch:memory:7fffffffeff0;7;\x05\x06"), "1,7fffffffeff5");
	ck_assert_str_eq(fake_send("qSearch:memory:401000;1;\x90\x90"), "0");
	ck_assert_str_eq(fake_send("qSearch:memory:401000;2;\x90\x90"), "1,401000");
}
END_TEST

START_TEST(a_search_goes_on_over_its_own_blocks)
{
	char packet[64];

	/* The two bytes lie on every place of two blocks' border in turn. */
	for (uint64_t start = 0x7fffffffeff5 - 0x10002; start <= 0x7fffffffeff5 - 0xfffc; start++) {
		snprintf(packet, sizeof(packet), "qSearch:memory:%llx;20000;\x05\x06\x07",
			 (unsigned long long)start);
		ck_assert_str_eq(fake_send(packet), "1,7fffffffeff5");
	}
}
END_TEST

START_TEST(unknown_bytes_match_nothing)
{
	static const char zeros[] = "qSearch:memory:602000;1000;\0\0";

	ck_assert_str_eq(fake_send_bytes(zeros, sizeof(zeros) - 1), "0");
	/* Unknown bytes lie before the only known zero on the stack. */
	ck_assert_str_eq(fake_send_bytes("qSearch:memory:7ffffffde000;21000;\0", 35), "1,7fffffffeff0");
	ck_assert_str_eq(fake_send_bytes("qSearch:memory:7ffffffde000;21000;\0\0", 36), "0");
}
END_TEST

START_TEST(a_search_that_cannot_end_in_time_is_no_answer)
{
	ck_assert_str_eq(fake_send("qSearch:memory:0;ffffffffffffffff;\x90"), "1,401000");
	ck_assert_str_eq(fake_send("qSearch:memory:401010;ffffffff;\x90"), "E14");
}
END_TEST

START_TEST(a_checksum_is_the_one_that_gdb_computes)
{
	/*
	 * By zlib's crc32, which is the same with the bits of each byte and of the sum reversed, and a final
	 * inversion.
	 */
	ck_assert_str_eq(fake_send("qCRC:7fffffffeff0,10"), "Ca97aff4d");
	ck_assert_str_eq(fake_send("qCRC:401000,10"), "Cf9dbcbba");
}
END_TEST

START_TEST(a_checksum_over_unknown_bytes_is_an_error)
{
	ck_assert_str_eq(fake_send("qCRC:7fffffffeff0,11"), "E14");
	ck_assert_str_eq(fake_send("qCRC:602000,1"), "E14");
	ck_assert_str_eq(fake_send("qCRC:401000,ffffffff"), "E14");
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

FAKE_SUITE("pkt_mem", m_reads_what_is_known_at_the_position, m_ends_before_the_first_unknown_byte,
	   m_fits_into_a_packet, memory_is_that_of_the_selected_threads_process,
	   an_old_lldb_gets_no_part_of_its_cache_lines, an_old_lldb_gets_a_cache_line_that_is_known,
	   x_sends_bytes_behind_a_b, the_probe_of_an_old_lldb_is_an_error,
	   a_trace_that_cannot_be_read_any_more_is_an_error_number, writing_is_refused,
	   a_search_finds_the_first_place, a_search_ends_with_its_range, a_search_goes_on_over_its_own_blocks,
	   unknown_bytes_match_nothing, a_search_that_cannot_end_in_time_is_no_answer,
	   a_checksum_is_the_one_that_gdb_computes, a_checksum_over_unknown_bytes_is_an_error,
	   malformed_packets_are_errors)
