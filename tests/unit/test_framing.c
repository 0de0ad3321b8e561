/* SPDX-License-Identifier: MIT */
/*
 * Packets out of bytes in every split, and replies that two independent decoders read back: one in gdb's
 * order (run lengths, then escapes), one in lldb's (both in one pass).
 */
#include "unit.h"

#include "protocol/wire/framing.h"
#include "src/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKET_SIZE 64

static struct rsp_framing frame;
static char events[4096]; /* what came out, as text */

static void setup(void)
{
	struct ts_error err = { 0 };

	ck_assert(rsp_framing_init(&frame, PACKET_SIZE, &err));
	events[0] = '\0';
}

static void teardown(void)
{
	rsp_framing_fini(&frame);
}

static void note(enum rsp_event event)
{
	static const char *const names[] = {
		[RSP_EV_ACK] = "ack ",	     [RSP_EV_NAK] = "nak ",	  [RSP_EV_INTERRUPT] = "interrupt ",
		[RSP_EV_BADSUM] = "badsum ", [RSP_EV_OVERSIZE] = "oversize ",
	};
	char *end = events + strlen(events);
	size_t room = sizeof events - strlen(events);

	if (event == RSP_EV_PACKET)
		snprintf(end, room, "[%s] ", (char *)frame.payload);
	else
		snprintf(end, room, "%s", names[event]);
}

static void feed(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	enum rsp_event event;

	while ((event = rsp_framing_feed(&frame, &p, &len)) != RSP_EV_NONE)
		note(event);
	ck_assert_uint_eq(len, 0);
}

static void feed_text(const char *text)
{
	feed(text, strlen(text));
}

/* Everything that was to be sent, as text; it is sent by that. */
static const char *sent(void)
{
	static char text[4096];

	ck_assert(rsp_framing_ok(&frame));
	ck_assert_uint_lt(frame.out.len, sizeof text);
	memcpy(text, frame.out.data ? frame.out.data : (const uint8_t *)"", frame.out.len);
	text[frame.out.len] = '\0';
	ts_buf_consume(&frame.out, frame.out.len);
	return text;
}

static void expect_events(const char *expected)
{
	ck_assert_str_eq(events, expected);
	events[0] = '\0';
}

static unsigned digit_value(uint8_t c)
{
	const char *digits = "0123456789abcdef";

	ck_assert_ptr_nonnull(strchr(digits, c));
	return (unsigned)(strchr(digits, c) - digits);
}

/* The body of the one packet that waits to be sent, after its checksum was looked at. */
static const uint8_t *sent_body(size_t *len)
{
	const uint8_t *p = frame.out.data;
	unsigned sum = 0;

	ck_assert_uint_ge(frame.out.len, 4);
	*len = frame.out.len - 4;
	ck_assert_uint_eq(p[0], '$');
	ck_assert_uint_eq(p[*len + 1], '#');
	for (size_t i = 0; i < *len; i++) {
		ck_assert(p[i + 1] != '#' && p[i + 1] != '$');
		sum += p[i + 1];
	}
	ck_assert_uint_eq(sum % 256, digit_value(p[*len + 2]) * 16 + digit_value(p[*len + 3]));
	return p + 1;
}

/* gdb: first every "c*n" is c and n - 29 more of it, then every "}c" is c ^ 0x20. */
static size_t decode_like_gdb(const uint8_t *body, size_t len, uint8_t *out)
{
	static uint8_t flat[1 << 16];
	size_t n_flat = 0, n = 0;

	for (size_t i = 0; i < len; i++) {
		if (body[i] != '*') {
			flat[n_flat++] = body[i];
			continue;
		}
		ck_assert_uint_gt(n_flat, 0);
		ck_assert_uint_lt(i + 1, len);
		ck_assert_msg(body[i + 1] >= 32 && body[i + 1] <= 126, "count %d", body[i + 1]);
		ck_assert_ptr_null(memchr("#$+-", body[i + 1], 4));
		for (int more = body[++i] - 29; more > 0; more--, n_flat++)
			flat[n_flat] = flat[n_flat - 1];
	}
	for (size_t i = 0; i < n_flat; i++)
		out[n++] = flat[i] == '}' ? flat[++i] ^ 0x20 : flat[i];
	return n;
}

/* lldb: from left to right, a run repeats the decoded byte before it. */
static size_t decode_like_lldb(const uint8_t *body, size_t len, uint8_t *out)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (body[i] == '}') {
			out[n++] = body[++i] ^ 0x20;
		} else if (body[i] == '*') {
			for (int more = body[++i] - 29; more > 0; more--, n++)
				out[n] = out[n - 1];
		} else {
			out[n++] = body[i];
		}
	}
	return n;
}

static void expect_decodes_to(const uint8_t *payload, size_t len)
{
	static uint8_t decoded[1 << 16];
	size_t body_len;
	const uint8_t *body = sent_body(&body_len);

	ck_assert_uint_eq(decode_like_gdb(body, body_len, decoded), len);
	ck_assert_mem_eq(decoded, payload, len);
	ck_assert_uint_eq(decode_like_lldb(body, body_len, decoded), len);
	ck_assert_mem_eq(decoded, payload, len);
	ts_buf_consume(&frame.out, frame.out.len);
}

START_TEST(a_packet_gives_its_payload_and_is_acknowledged)
{
	feed_text("$g#67");
	expect_events("[g] ");
	ck_assert_uint_eq(frame.len, 1);
	ck_assert_str_eq(sent(), "+");
	feed_text("$vCont;s:1;c#c1$#00$m4,4#01$k#6B");
	expect_events("[vCont;s:1;c] [] [m4,4] [k] ");
	ck_assert_str_eq(sent(), "++++");
}
END_TEST

START_TEST(the_reply_follows_its_acknowledgement_in_one_buffer)
{
	feed_text("$?#3f");
	rsp_framing_send(&frame, "OK", 2, RSP_TEXT);
	ck_assert_str_eq(sent(), "+$OK#9a");
}
END_TEST

START_TEST(a_damaged_packet_is_asked_for_again)
{
	feed_text("$g#68");
	expect_events("badsum ");
	ck_assert_str_eq(sent(), "-");
	feed_text("$g#67");
	expect_events("[g] ");
	ck_assert_str_eq(sent(), "+");
}
END_TEST

START_TEST(a_checksum_that_is_no_number_damages_only_its_packet)
{
	feed_text("$g#z7$g#6z$g#67");
	expect_events("badsum badsum [g] ");
	ck_assert_str_eq(sent(), "--+");
	feed_text("$g#$?#3f");
	expect_events("badsum [?] ");
	feed_text("$g#6$?#3f");
	expect_events("badsum [?] ");
}
END_TEST

START_TEST(garbage_between_packets_is_dropped)
{
	feed_text("xyz#00}*$g#67 \r\n%Stop:T05#12$?#3f\xff");
	expect_events("[g] [?] ");
	ck_assert_str_eq(sent(), "++");
}
END_TEST

START_TEST(a_dollar_within_a_body_starts_afresh)
{
	feed_text("$m1234$g#67$x}$?#3f");
	expect_events("[g] [?] ");
	ck_assert_str_eq(sent(), "++");
}
END_TEST

START_TEST(an_interrupt_is_one_only_between_packets)
{
	feed("\x03", 1);
	expect_events("interrupt ");
	feed_text("\x03\x03$g#67\x03");
	expect_events("interrupt interrupt [g] interrupt ");
	feed_text("$a\x03""b#c6");
	expect_events("[a\x03""b] ");
	feed_text("$}\x03#80");
	expect_events("[#] ");
	feed_text("$g#\x03$g#6\x03");
	expect_events("badsum interrupt badsum interrupt ");
}
END_TEST

START_TEST(an_escape_without_its_byte_stays_as_it_came)
{
	feed_text("$x}#f5");
	expect_events("[x}] ");
}
END_TEST

/* Events of a stream with everything in it must not depend on how it is cut. */
START_TEST(every_split_gives_the_same_events)
{
	static const char stream[] =
		"+$qSupported:xmlRegisters=i386#c1-junk$g#66\x03$X10,2:}]}\x03#ab$}\x0a#87++$m#6q"
		"$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa#02"
		"$bad$k#6b\x03$m0,1}]#d4$vCont?#49-";
	static const char expected[] =
		"ack [qSupported:xmlRegisters=i386] nak badsum interrupt [X10,2:}#] [*] ack ack "
		"badsum oversize [k] interrupt [m0,1}] [vCont?] nak ";
	size_t len = sizeof stream - 1;

	feed(stream, len);
	expect_events(expected);
	for (size_t i = 0; i <= len; i++) {
		feed(stream, i);
		feed(stream + i, len - i);
		expect_events(expected);
	}
	for (size_t i = 0; i < len; i++)
		feed(stream + i, 1);
	expect_events(expected);
}
END_TEST

START_TEST(a_packet_of_packet_size_fits_and_one_more_is_oversize)
{
	char body[PACKET_SIZE + 2];

	memset(body, 'a', sizeof body);
	feed_text("$");
	feed(body, PACKET_SIZE);
	feed_text("#40"); /* 64 * 0x61 = 0x1840 */
	ck_assert_uint_eq(frame.len, PACKET_SIZE);
	events[0] = '\0';

	feed_text("$");
	feed(body, PACKET_SIZE + 1);
	feed_text("#a1$g#67");
	expect_events("oversize [g] ");
	ck_assert_str_eq(sent(), "+++");
}
END_TEST

START_TEST(an_endless_packet_takes_no_more_memory)
{
	static uint8_t noise[1 << 16];

	memset(noise, 'z', sizeof noise);
	feed_text("$");
	for (int i = 0; i < 256; i++)
		feed(noise, sizeof noise);
	expect_events("");
	ck_assert_uint_eq(frame.len, PACKET_SIZE);
	ck_assert_uint_eq(frame.out.len, 0);
	feed_text("#00$g#67"); /* 2^24 * 'z' = 0 mod 256 */
	expect_events("oversize [g] ");
}
END_TEST

START_TEST(an_escaped_byte_counts_once_against_packet_size)
{
	feed_text("$");
	for (int i = 0; i < PACKET_SIZE; i++)
		feed_text("}]");
	feed_text("#80"); /* 64 * (0x7d + 0x5d) = 0x3680 */
	ck_assert_uint_eq(frame.len, PACKET_SIZE);
	ck_assert_int_eq(strncmp(events, "[}}}}", 5), 0);
}
END_TEST

START_TEST(every_byte_value_is_received)
{
	for (unsigned c = 0; c < 256; c++) {
		bool is_special = c == '#' || c == '$' || c == '}';
		uint8_t escaped = (uint8_t)(c ^ 0x20);
		char packet[16];
		int len;

		len = is_special ? sprintf(packet, "$}%c#%02x", escaped, (0x7d + escaped) & 0xff)
				 : sprintf(packet, "$%c#%02x", (int)c, c);
		feed(packet, (size_t)len);
		ck_assert_uint_eq(frame.len, 1);
		ck_assert_uint_eq(frame.payload[0], c);
		ck_assert_int_eq(events[0], '[');
		events[0] = '\0';
		/* any byte may come escaped, but for the two that end a body */
		if (escaped == '#' || escaped == '$')
			continue;
		len = sprintf(packet, "$}%c#%02x", escaped, (0x7d + escaped) & 0xff);
		feed(packet, (size_t)len);
		ck_assert_uint_eq(frame.len, 1);
		ck_assert_uint_eq(frame.payload[0], c);
		ck_assert_int_eq(events[0], '[');
		events[0] = '\0';
	}
}
END_TEST

START_TEST(every_byte_value_is_sent)
{
	uint8_t all[256];

	for (unsigned c = 0; c < 256; c++)
		all[c] = (uint8_t)c;
	rsp_framing_send(&frame, all, sizeof all, RSP_BINARY);
	ck_assert_uint_eq(frame.out.len, 4 + 256 + 4); /* four escapes */
	expect_decodes_to(all, sizeof all);
	rsp_framing_send(&frame, all, sizeof all, RSP_TEXT);
	expect_decodes_to(all, sizeof all);
}
END_TEST

START_TEST(runs_are_written_as_the_manual_has_them)
{
	rsp_framing_send(&frame, "0000", 4, RSP_TEXT);
	ck_assert_str_eq(sent(), "$0* #7a"); /* the manual's own example */
	rsp_framing_send(&frame, "000", 3, RSP_TEXT);
	ck_assert_str_eq(sent(), "$000#90");
	rsp_framing_send(&frame, "xxxxx1", 6, RSP_TEXT);
	ck_assert_str_eq(sent(), "$x*!1#f4");
}
END_TEST

START_TEST(runs_of_every_length_and_byte_decode)
{
	static uint8_t payload[400];
	static const uint8_t bytes[] = "0x*}#$+-\0\xff\x5d\x0a\x03";

	for (size_t i = 0; i < sizeof bytes; i++) {
		for (size_t len = 0; len <= sizeof payload - 2; len++) {
			payload[0] = '*'; /* "}\n" on the wire: a run after it must not join the "\n" */
			memset(payload + 1, bytes[i], len);
			payload[1 + len] = 'y';
			rsp_framing_send(&frame, payload, len + 2, RSP_TEXT);
			expect_decodes_to(payload, len + 2);
			rsp_framing_send(&frame, payload, len + 2, RSP_BINARY);
			expect_decodes_to(payload, len + 2);
		}
	}
}
END_TEST

START_TEST(mixed_runs_decode)
{
	static uint8_t payload[2000];
	uint32_t seed = 1;

	for (int round = 0; round < 200; round++) {
		size_t len = 0;

		while (len < 1000) {
			size_t run;

			seed = seed * 1664525 + 1013904223;
			run = seed >> 24 & 7 ? 1 + (seed >> 28) : seed >> 20 & 255;
			memset(payload + len, "0f*}#$+- "[seed >> 16 & 7], run);
			len += run;
		}
		rsp_framing_send(&frame, payload, len, RSP_TEXT);
		expect_decodes_to(payload, len);
	}
}
END_TEST

START_TEST(a_run_is_found_wherever_it_begins)
{
	char payload[64];
	size_t len;

	for (unsigned before = 0; before < 24; before++) {
		for (unsigned behind = 0; behind < 24; behind++) {
			sprintf(payload, "%.*s0000%.*s", before, "abcdefghabcdefghabcdefgh", behind,
				"hgfedcbahgfedcbahgfedcba");
			rsp_framing_send(&frame, payload, strlen(payload), RSP_TEXT);
			sent_body(&len);
			ck_assert_uint_eq(len, before + 3 + behind);
			expect_decodes_to((uint8_t *)payload, strlen(payload));
		}
	}
}
END_TEST

START_TEST(long_runs_shrink_in_text_and_never_in_binary)
{
	static const uint8_t zeros[1000];
	size_t len;

	rsp_framing_send(&frame, zeros, sizeof zeros, RSP_BINARY);
	sent_body(&len);
	ck_assert_uint_eq(len, sizeof zeros);
	sent();
	rsp_framing_send(&frame, zeros, sizeof zeros, RSP_TEXT);
	sent_body(&len);
	ck_assert_uint_eq(len, 33); /* ten runs of 98 and one of 20 */
}
END_TEST

START_TEST(a_refused_reply_goes_out_again)
{
	rsp_framing_send(&frame, "OK", 2, RSP_TEXT);
	ck_assert_str_eq(sent(), "$OK#9a");
	feed_text("-");
	expect_events("nak ");
	ck_assert_str_eq(sent(), "$OK#9a");
	feed_text("-");
	ck_assert_str_eq(sent(), "$OK#9a");
	rsp_framing_send(&frame, "E01", 3, RSP_TEXT);
	ck_assert_str_eq(sent(), "$E01#a6");
	feed_text("-");
	ck_assert_str_eq(sent(), "$E01#a6");
}
END_TEST

START_TEST(an_accepted_reply_is_not_sent_again)
{
	feed_text("-");
	ck_assert_str_eq(sent(), "");
	rsp_framing_send(&frame, "OK", 2, RSP_TEXT);
	ck_assert_str_eq(sent(), "$OK#9a");
	feed_text("+-");
	ck_assert_str_eq(sent(), "");
}
END_TEST

START_TEST(many_refusals_at_once_give_one_copy)
{
	rsp_framing_send(&frame, "OK", 2, RSP_TEXT);
	sent();
	feed_text("--------");
	ck_assert_str_eq(sent(), "$OK#9a");
}
END_TEST

START_TEST(the_reply_that_stops_acknowledging_is_still_acknowledged)
{
	feed_text("$QStartNoAckMode#b0");
	rsp_framing_send(&frame, "OK", 2, RSP_TEXT);
	rsp_framing_stop_acks(&frame);
	ck_assert_str_eq(sent(), "+$OK#9a");
	feed_text("-");
	ck_assert_str_eq(sent(), "$OK#9a");
	feed_text("+");
	expect_events("[QStartNoAckMode] nak ack ");
	feed_text("$g#67");
	rsp_framing_send(&frame, "00", 2, RSP_TEXT);
	ck_assert_str_eq(sent(), "$00#60");
}
END_TEST

START_TEST(a_packet_ends_the_wait_for_the_last_acknowledgement)
{
	rsp_framing_send(&frame, "OK", 2, RSP_TEXT);
	rsp_framing_stop_acks(&frame);
	sent();
	feed_text("$g#67-+");
	expect_events("[g] ");
	ck_assert_str_eq(sent(), "");
}
END_TEST

START_TEST(without_acknowledgements_nothing_is_asked_for_again)
{
	rsp_framing_send(&frame, "OK", 2, RSP_TEXT);
	rsp_framing_stop_acks(&frame);
	feed_text("+");
	sent();
	events[0] = '\0';
	feed_text("$g#00");
	expect_events("[g] ");
	feed_text("$g#zz");
	expect_events("badsum ");
	rsp_framing_send(&frame, "E01", 3, RSP_TEXT);
	ck_assert_str_eq(sent(), "$E01#a6");
	feed_text("-+-");
	expect_events("");
	ck_assert_str_eq(sent(), "");
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {
		a_packet_gives_its_payload_and_is_acknowledged,
		the_reply_follows_its_acknowledgement_in_one_buffer,
		a_damaged_packet_is_asked_for_again,
		a_checksum_that_is_no_number_damages_only_its_packet,
		garbage_between_packets_is_dropped,
		a_dollar_within_a_body_starts_afresh,
		an_interrupt_is_one_only_between_packets,
		an_escape_without_its_byte_stays_as_it_came,
		every_split_gives_the_same_events,
		a_packet_of_packet_size_fits_and_one_more_is_oversize,
		an_endless_packet_takes_no_more_memory,
		an_escaped_byte_counts_once_against_packet_size,
		every_byte_value_is_received,
		every_byte_value_is_sent,
		runs_are_written_as_the_manual_has_them,
		runs_of_every_length_and_byte_decode,
		mixed_runs_decode,
		a_run_is_found_wherever_it_begins,
		long_runs_shrink_in_text_and_never_in_binary,
		a_refused_reply_goes_out_again,
		an_accepted_reply_is_not_sent_again,
		many_refusals_at_once_give_one_copy,
		the_reply_that_stops_acknowledging_is_still_acknowledged,
		a_packet_ends_the_wait_for_the_last_acknowledgement,
		without_acknowledgements_nothing_is_asked_for_again,
	};
	Suite *suite = suite_create("frame");
	TCase *tcase = tcase_create("frame");

	tcase_add_checked_fixture(tcase, setup, teardown);
	for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}
