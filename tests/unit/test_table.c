/* SPDX-License-Identifier: MIT */
/*
 * The packet table over made-up topics that hold the protocol's awkward names: prefixes of each other in
 * every kind.
 */
#include "unit.h"

#include "protocol/wire/args.h"
#include "protocol/wire/reply.h"
#include "protocol/wire/table.h"
#include "src/base/error.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The session is whatever the handler takes it for. */
struct rsp_session {
	char args[256];
	unsigned n_calls;
};

static enum rsp_done take(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	size_t len;
	const uint8_t *rest = rsp_args_rest(a, &len);

	(void)r;
	s->n_calls++;
	snprintf(s->args, sizeof s->args, "%.*s", (int)len, (const char *)rest);
	return RSP_OK;
}

static enum rsp_done refuse(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	(void)a;
	s->n_calls++;
	rsp_reply_error_text(r, "refused");
	return RSP_REPLIED;
}

static const struct rsp_packet short_packets[] = {
	{ "z", RSP_PREFIX, take, .feature = "swbreak+" },
	{ "g", RSP_ARGS, .handler = take },
	{ "s", RSP_PREFIX, .handler = take },
	{ "?", RSP_EXACT, .handler = take },
	{ "k", RSP_EXACT, .handler = take },
	{ "Z", RSP_PREFIX, refuse, .feature = "swbreak+" },
	{ "D", RSP_ARGS, .handler = take },
	{ "bs", RSP_EXACT, take, .feature = "ReverseStep+" },
	{ "bc", RSP_EXACT, take, .feature = "ReverseContinue+" },
};

static const struct rsp_packet long_packets[] = {
	{ "vCont", RSP_ARGS, take, .feature = "vContSupported+" },
	{ "vCont?", RSP_EXACT, take, .feature = "vContSupported+" },
	{ "QTDPsrc", RSP_ARGS, take, .feature = "TracepointSource+" },
	{ "QTDP", RSP_ARGS, .handler = take },
	{ "QTD", RSP_PREFIX, .handler = take },
	{ "QTDV", RSP_ARGS, .handler = take },
	{ "qC", RSP_EXACT, .handler = take },
	{ "qCRC", RSP_ARGS, .handler = take },
	{ "qXfer:features:read", RSP_ARGS, take, .feature = "qXfer:features:read+" },
	{ "qXfer:threads:read", RSP_ARGS, take, .feature = "qXfer:threads:read+" },
	{ "qTfV", RSP_EXACT, .handler = take },
	{ "qTV", RSP_ARGS, .handler = take },
	{ "qRcmd", RSP_ARGS, .handler = take },
	{ "QStartNoAckMode", RSP_EXACT, take, .feature = "QStartNoAckMode+" },
};

static const struct rsp_packets short_topic = RSP_PACKETS(short_packets);
static const struct rsp_packets long_topic = RSP_PACKETS(long_packets);
static const struct rsp_packets *const topics[] = { &short_topic, &long_topic };
static const struct rsp_packets *const reversed[] = { &long_topic, &short_topic };

static struct rsp_table table;
static struct rsp_session session;
static struct rsp_reply reply;

static void setup(void)
{
	struct ts_error err = { 0 };

	ck_assert(rsp_table_init(&table, topics, 2, &err));
	ck_assert(rsp_reply_init(&reply, 1024, &err));
	session.n_calls = 0;
}

static void teardown(void)
{
	rsp_table_fini(&table);
	rsp_reply_fini(&reply);
}

/* Name of the packet that @text is, "" for none; *a gets the arguments. */
static const char *found(const char *text, struct rsp_args *a)
{
	const struct rsp_packet *packet = rsp_table_find(&table, (const uint8_t *)text, strlen(text), a);

	return packet ? packet->name : "";
}

static void expect_found(const char *text, const char *name, const char *args)
{
	struct rsp_args a;

	ck_assert_str_eq(found(text, &a), name);
	ck_assert_msg(rsp_args_ok(&a), "%s", text);
	ck_assert_uint_eq(a.left, strlen(args));
	ck_assert_mem_eq(a.p, args, a.left);
}

static void expect_bad(const char *text, const char *name)
{
	struct rsp_args a;

	ck_assert_str_eq(found(text, &a), name);
	ck_assert_msg(!rsp_args_ok(&a), "%s", text);
}

static void expect_unknown(const char *text)
{
	struct rsp_args a;

	ck_assert_str_eq(found(text, &a), "");
}

START_TEST(each_name_finds_itself)
{
	for (unsigned topic = 0; topic < 2; topic++) {
		for (unsigned i = 0; i < topics[topic]->n; i++)
			expect_found(topics[topic]->packets[i].name, topics[topic]->packets[i].name, "");
	}
}
END_TEST

START_TEST(arguments_begin_after_the_separator)
{
	expect_found("vCont;s:1;c", "vCont", "s:1;c");
	expect_found("D;1", "D", "1");
	expect_found("D;", "D", "");
	expect_found("qRcmd,7768657265", "qRcmd", "7768657265");
	expect_found("qXfer:features:read:target.xml:0,1000", "qXfer:features:read", "target.xml:0,1000");
	expect_found("g;thread:1;", "g", "thread:1;");
}
END_TEST

START_TEST(arguments_of_a_prefix_begin_at_once)
{
	expect_found("z0,4010d7,1", "z", "0,4010d7,1");
	expect_found("z;", "z", ";");
	expect_found("s401000", "s", "401000");
	expect_found("sfoo", "s", "foo");
}
END_TEST

START_TEST(the_longest_name_wins)
{
	expect_found("QTDPsrc:1:40100a", "QTDPsrc", "1:40100a");
	expect_found("QTDP:1:40100a", "QTDP", "1:40100a");
	expect_found("QTDV:1:0", "QTDV", "1:0");
	expect_found("qCRC:401000,1d8", "qCRC", "401000,1d8");
	expect_found("vCont?", "vCont?", "");
}
END_TEST

START_TEST(a_shorter_name_serves_where_the_longer_does_not_go_on_so)
{
	expect_found("QTDPs:1", "QTD", "Ps:1");
	expect_found("QTDPsrcs:1", "QTD", "Psrcs:1");
	expect_found("QTDVx", "QTD", "Vx");
	expect_found("QTD", "QTD", "");
}
END_TEST

START_TEST(what_only_begins_like_a_name_is_unknown)
{
	static const char *const texts[] = {
		"", "q", "v", "vCon", "vContinue", "vMustReplyEmpty", "bsx", "b", "qCR", "qCRCx", "qC1",
		"qXfer", "qXfer:auxv:read", "qXfer:features:readable:x", "qXfer:features:write:target.xml:0",
		"!", "~", "qTf", "qTfVx", "QStartNoAckModeX",
	};

	for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++)
		expect_unknown(texts[i]);
}
END_TEST

START_TEST(an_exact_name_with_arguments_is_known_and_bad)
{
	expect_bad("vCont?;x", "vCont?");
	expect_bad("bs;1", "bs");
	expect_bad("qC:1", "qC");
	expect_bad("QStartNoAckMode,", "QStartNoAckMode");
}
END_TEST

START_TEST(a_name_of_one_letter_is_known_whatever_follows)
{
	expect_bad("kill", "k");
	expect_bad("?#", "?");
	expect_bad("g1", "g");
	expect_bad("Detach", "D");
}
END_TEST

START_TEST(no_name_shadows_another_in_any_order)
{
	struct rsp_table other;
	struct ts_error err = { 0 };

	ck_assert(rsp_table_init(&other, reversed, 2, &err));
	for (unsigned topic = 0; topic < 2; topic++) {
		for (unsigned i = 0; i < topics[topic]->n; i++) {
			const struct rsp_packet *packet = &topics[topic]->packets[i];
			struct rsp_args a;

			ck_assert_ptr_eq(rsp_table_find(&other, (const uint8_t *)packet->name,
							strlen(packet->name), &a),
					 packet);
		}
	}
	rsp_table_fini(&other);
}
END_TEST

/* What the rules say, by looking at every line. */
static const struct rsp_packet *find_naively(const uint8_t *payload, size_t len)
{
	const struct rsp_packet *best = NULL;

	for (unsigned topic = 0; topic < 2; topic++) {
		for (unsigned i = 0; i < topics[topic]->n; i++) {
			const struct rsp_packet *p = &topics[topic]->packets[i];
			size_t n = strlen(p->name);

			if (n > len || memcmp(p->name, payload, n) != 0 || (best && strlen(best->name) > n))
				continue;
			if (n == len || n == 1 || p->kind == RSP_PREFIX ||
			    (payload[n] && strchr(":;,", payload[n])))
				best = p;
		}
	}
	return best;
}

/* Names cut at each length and followed by each byte, by two bytes, and by another name. */
START_TEST(the_search_agrees_with_looking_at_every_line)
{
	for (unsigned topic = 0; topic < 2; topic++) {
		for (unsigned i = 0; i < topics[topic]->n; i++) {
			const char *name = topics[topic]->packets[i].name;
			size_t name_len = strlen(name);
			uint8_t payload[64];
			struct rsp_args a;

			for (size_t len = 0; len <= name_len; len++) {
				memcpy(payload, name, len);
				for (unsigned c = 0; c < 256 * 3; c++) {
					payload[len] = (uint8_t)c;
					payload[len + 1] = c < 512 ? ':' : 'P';
					ck_assert_ptr_eq(
						rsp_table_find(&table, payload, len + 1 + c / 256, &a),
						find_naively(payload, len + 1 + c / 256));
				}
			}
		}
	}
}
END_TEST

START_TEST(running_a_packet_calls_its_handler_with_its_arguments)
{
	ck_assert_int_eq(rsp_table_run(&table, &session, (const uint8_t *)"vCont;c", 7, &reply), RSP_OK);
	ck_assert_uint_eq(session.n_calls, 1);
	ck_assert_str_eq(session.args, "c");
	ck_assert_int_eq(rsp_table_run(&table, &session, (const uint8_t *)"Z0,1,1", 6, &reply), RSP_REPLIED);
	ck_assert_uint_eq(session.n_calls, 2);
	ck_assert_int_eq(reply.kind, RSP_REPLY_ERROR);
}
END_TEST

START_TEST(unknown_packets_and_bad_ones_call_nothing)
{
	ck_assert_int_eq(rsp_table_run(&table, &session, (const uint8_t *)"vMustReplyEmpty", 15, &reply),
			 RSP_UNSUPPORTED);
	ck_assert_int_eq(rsp_table_run(&table, &session, (const uint8_t *)"", 0, &reply), RSP_UNSUPPORTED);
	ck_assert_int_eq(rsp_table_run(&table, &session, (const uint8_t *)"bs;1", 4, &reply), RSP_BAD);
	ck_assert_uint_eq(session.n_calls, 0);
	ck_assert_int_eq(reply.kind, RSP_REPLY_EMPTY);
}
END_TEST

START_TEST(each_feature_is_claimed_once_in_the_order_of_the_lines)
{
	static const char expected[] =
		"PacketSize=400;swbreak+;ReverseStep+;ReverseContinue+;vContSupported+;"
		"TracepointSource+;qXfer:features:read+;qXfer:threads:read+;QStartNoAckMode+";

	rsp_reply_puts(&reply, "PacketSize=400");
	rsp_table_features(&table, NULL, NULL, &reply);
	ck_assert_uint_eq(reply.len, sizeof expected - 1);
	ck_assert_mem_eq(reply.data, expected, reply.len);
}
END_TEST

static bool is_reverse(const struct rsp_session *s, const char *feature)
{
	ck_assert_ptr_eq(s, &session);
	return strncmp(feature, "Reverse", 7) == 0;
}

START_TEST(a_session_claims_what_it_wants)
{
	rsp_table_features(&table, is_reverse, &session, &reply);
	ck_assert_uint_eq(reply.len, 30);
	ck_assert_mem_eq(reply.data, ";ReverseStep+;ReverseContinue+", 30);
}
END_TEST

START_TEST(an_empty_table_knows_nothing)
{
	struct rsp_table empty;
	struct ts_error err = { 0 };
	struct rsp_args a;

	ck_assert(rsp_table_init(&empty, NULL, 0, &err));
	ck_assert_ptr_null(rsp_table_find(&empty, (const uint8_t *)"g", 1, &a));
	rsp_table_fini(&empty);
}
END_TEST

START_TEST(one_name_twice_is_our_own_fault)
{
	static const struct rsp_packets *const twice[] = { &short_topic, &long_topic, &short_topic };
	struct ts_error err = { 0 };
	struct rsp_table t;

	rsp_table_init(&t, twice, 3, &err);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {
		each_name_finds_itself,
		arguments_begin_after_the_separator,
		arguments_of_a_prefix_begin_at_once,
		the_longest_name_wins,
		a_shorter_name_serves_where_the_longer_does_not_go_on_so,
		what_only_begins_like_a_name_is_unknown,
		an_exact_name_with_arguments_is_known_and_bad,
		a_name_of_one_letter_is_known_whatever_follows,
		no_name_shadows_another_in_any_order,
		the_search_agrees_with_looking_at_every_line,
		running_a_packet_calls_its_handler_with_its_arguments,
		unknown_packets_and_bad_ones_call_nothing,
		each_feature_is_claimed_once_in_the_order_of_the_lines,
		a_session_claims_what_it_wants,
		an_empty_table_knows_nothing,
	};
	Suite *suite = suite_create("table");
	TCase *tcase = tcase_create("table");

	unit_forks();
	tcase_add_checked_fixture(tcase, setup, teardown);
	for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
		tcase_add_test(tcase, tests[i]);
	tcase_add_test_raise_signal(tcase, one_name_twice_is_our_own_fault, SIGABRT);
	suite_add_tcase(suite, tcase);
	return suite;
}
