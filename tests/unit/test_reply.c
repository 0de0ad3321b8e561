/* SPDX-License-Identifier: MIT */
/*
 * Each kind of reply, and its room: nothing longer than PacketSize, escapes included, and never half a text.
 */
#include "unit.h"

#include "protocol/wire/args.h"
#include "protocol/wire/framing.h"
#include "protocol/wire/reply.h"
#include "src/base/error.h"

#include <signal.h>
#include <string.h>

#define PACKET_SIZE 64

static struct rsp_reply reply;

static void setup(void)
{
	struct ts_error err = { 0 };

	ck_assert(rsp_reply_init(&reply, PACKET_SIZE, &err));
}

static void teardown(void)
{
	rsp_reply_fini(&reply);
}

static void expect(enum rsp_reply_kind kind, const char *text)
{
	ck_assert_int_eq(reply.kind, kind);
	ck_assert_uint_eq(reply.len, strlen(text));
	ck_assert_mem_eq(reply.data, text, reply.len);
}

START_TEST(a_new_reply_is_empty)
{
	expect(RSP_REPLY_EMPTY, "");
	ck_assert(!reply.is_binary);
	ck_assert_uint_eq(rsp_reply_room(&reply), PACKET_SIZE);
}
END_TEST

START_TEST(text_numbers_and_hex_are_added_in_order)
{
	rsp_reply_printf(&reply, "T%02x", 5);
	rsp_reply_puts(&reply, "watch:");
	rsp_reply_num(&reply, 0x402028);
	rsp_reply_putc(&reply, ';');
	rsp_reply_num(&reply, 0);
	rsp_reply_putc(&reply, ':');
	rsp_reply_hex(&reply, "\x00\xff\x1a", 3);
	rsp_reply_put(&reply, ";x", 2);
	rsp_reply_hex_text(&reply, "hi");
	rsp_reply_register(&reply, 7, "\x12\x34", 2);
	rsp_reply_register(&reply, 0x1a2, "\x56", 1);
	rsp_reply_finish(&reply);
	expect(RSP_REPLY_DATA, "T05watch:402028;0:00ff1a;x686907:1234;1a2:56;");
}
END_TEST

START_TEST(the_largest_number_is_sixteen_digits)
{
	rsp_reply_num(&reply, UINT64_MAX);
	expect(RSP_REPLY_DATA, "ffffffffffffffff");
}
END_TEST

START_TEST(unknown_bytes_are_xx)
{
	rsp_reply_hex(&reply, "\x12", 1);
	rsp_reply_unknown(&reply, 3);
	rsp_reply_unknown(&reply, 0);
	expect(RSP_REPLY_DATA, "12xxxxxx");
}
END_TEST

START_TEST(threads_are_written_as_they_are_read)
{
	static const char *const texts[] = { "0", "-1", "1f", "p1.2", "p32ed.-1", "p-1.-1", "p0.0" };

	for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct rsp_args a = rsp_args(texts[i], strlen(texts[i]));

		rsp_reply_reset(&reply);
		rsp_reply_tid(&reply, rsp_args_tid(&a));
		expect(RSP_REPLY_DATA, texts[i]);
	}
}
END_TEST

START_TEST(ok_is_ok)
{
	rsp_reply_ok(&reply);
	rsp_reply_finish(&reply);
	expect(RSP_REPLY_OK, "OK");
}
END_TEST

START_TEST(data_after_ok_is_our_own_fault)
{
	rsp_reply_ok(&reply);
	rsp_reply_puts(&reply, "x");
}
END_TEST

START_TEST(ok_after_data_is_our_own_fault)
{
	rsp_reply_puts(&reply, "x");
	rsp_reply_ok(&reply);
}
END_TEST

START_TEST(ok_after_no_data_at_all_is_our_own_fault)
{
	rsp_reply_puts(&reply, "");
	rsp_reply_ok(&reply);
}
END_TEST

START_TEST(an_error_takes_the_place_of_data)
{
	rsp_reply_puts(&reply, "0011");
	rsp_reply_error(&reply, 0x14);
	expect(RSP_REPLY_ERROR, "E14");
	rsp_reply_puts(&reply, "22");
	rsp_reply_unknown(&reply, 2);
	rsp_reply_binary(&reply, "ab", 2);
	rsp_reply_finish(&reply);
	expect(RSP_REPLY_ERROR, "E14");
	ck_assert(!reply.is_binary);
}
END_TEST

START_TEST(a_reply_can_be_begun_again)
{
	rsp_reply_error(&reply, 1);
	rsp_reply_reset(&reply);
	expect(RSP_REPLY_EMPTY, "");
	rsp_reply_binary(&reply, "}", 1);
	rsp_reply_reset(&reply);
	ck_assert(!reply.is_binary);
	ck_assert_uint_eq(rsp_reply_room(&reply), PACKET_SIZE);
	rsp_reply_ok(&reply);
	expect(RSP_REPLY_OK, "OK");
}
END_TEST

START_TEST(an_error_text_comes_as_the_client_takes_it)
{
	rsp_reply_error_text(&reply, "no frame %d", 7);
	expect(RSP_REPLY_ERROR, "E01");
	reply.error_style = RSP_ERROR_TEXT;
	rsp_reply_error_text(&reply, "no frame %d", 7);
	expect(RSP_REPLY_ERROR, "E.no frame 7");
	reply.error_style = RSP_ERROR_HEX;
	rsp_reply_error_text(&reply, "no frame %d", 7);
	expect(RSP_REPLY_ERROR, "E01;6e6f206672616d652037");
	rsp_reply_reset(&reply);
	ck_assert_int_eq(reply.error_style, RSP_ERROR_HEX);
}
END_TEST

START_TEST(an_error_text_has_no_character_that_is_escaped)
{
	reply.error_style = RSP_ERROR_TEXT;
	rsp_reply_error_text(&reply, "a#b$c}d*e\nf\xffg");
	expect(RSP_REPLY_ERROR, "E.a?b?c?d?e?f?g");
	reply.error_style = RSP_ERROR_HEX;
	rsp_reply_error_text(&reply, "#$}*\n");
	expect(RSP_REPLY_ERROR, "E01;23247d2a3f");
	ck_assert(rsp_reply_is_plain("'rax' is 7, [0x10,4] + 3 = ~{"));
	for (const char *c = "#$}*\n\xff"; *c; c++)
		ck_assert(!rsp_reply_is_plain((char[]){ 'a', *c, '\0' }));
}
END_TEST

START_TEST(an_error_text_is_cut_to_the_packet)
{
	char text[600];

	memset(text, 'e', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	reply.error_style = RSP_ERROR_TEXT;
	rsp_reply_error_text(&reply, "%s", text);
	rsp_reply_finish(&reply);
	ck_assert_int_eq(reply.kind, RSP_REPLY_ERROR);
	ck_assert_uint_eq(reply.len, PACKET_SIZE);
	ck_assert_int_eq(reply.data[PACKET_SIZE - 1], 'e');
	reply.error_style = RSP_ERROR_HEX;
	rsp_reply_error_text(&reply, "%s", text);
	rsp_reply_finish(&reply);
	ck_assert_int_eq(reply.kind, RSP_REPLY_ERROR);
	ck_assert_uint_eq(reply.len, PACKET_SIZE);
	ck_assert_mem_eq(reply.data, "E01;65", 6);
	ck_assert_int_eq(reply.data[PACKET_SIZE - 1], '5');
}
END_TEST

static void put_64(void)
{
	rsp_reply_unknown(&reply, 32);
}

/* Every way to add text, at the last character and one beyond. */
START_TEST(text_that_does_not_fit_makes_the_reply_an_error)
{
	put_64();
	rsp_reply_finish(&reply);
	ck_assert_int_eq(reply.kind, RSP_REPLY_DATA);
	ck_assert_uint_eq(reply.len, 64);
	ck_assert_uint_eq(rsp_reply_room(&reply), 0);

	for (int way = 0; way < 7; way++) {
		rsp_reply_reset(&reply);
		put_64();
		switch (way) {
		case 0: rsp_reply_putc(&reply, 'a'); break;
		case 1: rsp_reply_puts(&reply, "a"); break;
		case 2: rsp_reply_printf(&reply, "%d", 7); break;
		case 3: rsp_reply_hex(&reply, "a", 1); break;
		case 4: rsp_reply_unknown(&reply, 1); break;
		case 5: rsp_reply_unknown(&reply, SIZE_MAX / 2 + 2); break;
		case 6: rsp_reply_printf(&reply, "%01000d", 7); break;
		}
		ck_assert_uint_eq(reply.len, 64);
		rsp_reply_finish(&reply);
		expect(RSP_REPLY_ERROR, "E01");
	}
}
END_TEST

START_TEST(after_text_that_did_not_fit_a_shorter_one_is_not_added)
{
	rsp_reply_unknown(&reply, 31);
	rsp_reply_puts(&reply, "abc");
	rsp_reply_puts(&reply, "d");
	ck_assert_uint_eq(reply.len, 62);
	rsp_reply_finish(&reply);
	ck_assert_int_eq(reply.kind, RSP_REPLY_ERROR);
}
END_TEST

START_TEST(escapes_count_against_the_room)
{
	rsp_reply_puts(&reply, "a}#$*");
	ck_assert_uint_eq(reply.len, 5);
	ck_assert_uint_eq(rsp_reply_room(&reply), PACKET_SIZE - 9);
	rsp_reply_unknown(&reply, 27);
	ck_assert_uint_eq(rsp_reply_room(&reply), 1);
	rsp_reply_printf(&reply, "%c", '*');
	rsp_reply_finish(&reply);
	ck_assert_int_eq(reply.kind, RSP_REPLY_ERROR);
}
END_TEST

START_TEST(binary_data_is_cut_to_what_fits)
{
	uint8_t bytes[100];

	memset(bytes, 'b', sizeof bytes);
	rsp_reply_putc(&reply, 'm');
	ck_assert_uint_eq(rsp_reply_fit(&reply, bytes, sizeof bytes), 63);
	ck_assert_uint_eq(rsp_reply_binary(&reply, bytes, sizeof bytes), 63);
	ck_assert(reply.is_binary);
	ck_assert_uint_eq(rsp_reply_binary(&reply, bytes, 1), 0);
	rsp_reply_finish(&reply);
	ck_assert_int_eq(reply.kind, RSP_REPLY_DATA);
	ck_assert_uint_eq(reply.len, 64);
}
END_TEST

START_TEST(binary_data_fits_with_its_escapes)
{
	uint8_t bytes[100];

	memset(bytes, '}', sizeof bytes);
	rsp_reply_putc(&reply, 'l');
	ck_assert_uint_eq(rsp_reply_fit(&reply, bytes, sizeof bytes), 31); /* 1 + 62: half a byte is left */
	ck_assert_uint_eq(rsp_reply_binary(&reply, bytes, sizeof bytes), 31);
	ck_assert_uint_eq(rsp_reply_fit(&reply, "a", 1), 1);
	ck_assert_uint_eq(rsp_reply_fit(&reply, "#", 1), 0);
}
END_TEST

/*
 * The promise to the client: for every mix of bytes, what protocol/wire/framing.c makes of a full reply is at
 * most PacketSize long.
 */
START_TEST(no_binary_reply_is_longer_on_the_wire_than_packet_size)
{
	struct ts_error err = { 0 };
	struct rsp_framing frame;
	uint8_t bytes[256];

	ck_assert(rsp_framing_init(&frame, PACKET_SIZE, &err));
	for (unsigned first = 0; first < 256; first++) {
		for (unsigned i = 0; i < 256; i++)
			bytes[i] = (uint8_t)(first + i * (first % 7));
		rsp_reply_reset(&reply);
		rsp_reply_binary(&reply, bytes, sizeof bytes);
		rsp_framing_send(&frame, reply.data, reply.len, RSP_BINARY);
		ck_assert_uint_le(frame.out.len - 4, PACKET_SIZE);
		ck_assert_uint_ge(frame.out.len - 4, PACKET_SIZE - 1);
		ts_buf_reset(&frame.out);
	}
	rsp_framing_fini(&frame);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {
		a_new_reply_is_empty,
		text_numbers_and_hex_are_added_in_order,
		the_largest_number_is_sixteen_digits,
		unknown_bytes_are_xx,
		threads_are_written_as_they_are_read,
		ok_is_ok,
		an_error_takes_the_place_of_data,
		a_reply_can_be_begun_again,
		an_error_text_comes_as_the_client_takes_it,
		an_error_text_has_no_character_that_is_escaped,
		an_error_text_is_cut_to_the_packet,
		text_that_does_not_fit_makes_the_reply_an_error,
		after_text_that_did_not_fit_a_shorter_one_is_not_added,
		escapes_count_against_the_room,
		binary_data_is_cut_to_what_fits,
		binary_data_fits_with_its_escapes,
		no_binary_reply_is_longer_on_the_wire_than_packet_size,
	};
	const TTest *const aborts[] = {
		data_after_ok_is_our_own_fault,
		ok_after_data_is_our_own_fault,
		ok_after_no_data_at_all_is_our_own_fault,
	};
	Suite *suite = suite_create("reply");
	TCase *tcase = tcase_create("reply");

	unit_forks();
	tcase_add_checked_fixture(tcase, setup, teardown);
	for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
		tcase_add_test(tcase, tests[i]);
	for (size_t i = 0; i < sizeof aborts / sizeof aborts[0]; i++)
		tcase_add_test_raise_signal(tcase, aborts[i], SIGABRT);
	suite_add_tcase(suite, tcase);
	return suite;
}
