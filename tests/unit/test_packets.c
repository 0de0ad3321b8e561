/* SPDX-License-Identifier: MIT */
/*
 * Every packet of every topic, with arguments that nobody means well.
 */
#include "fake_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/packets/packets.h"
#include "script.h"

static const struct rsp_packets *const topics[] = {
	&rsp_regs_packets,  &rsp_mem_packets,     &rsp_scan_packets,  &rsp_resume_packets,
	&rsp_break_packets, &rsp_thread_packets,  &rsp_query_packets, &rsp_xfer_packets,
	&rsp_file_packets,  &rsp_monitor_packets, &rsp_lldb_packets,  &rsp_tls_packets,
};
#define N_TOPICS (sizeof(topics) / sizeof(topics[0]))

static void for_each_packet(void (*check)(const struct rsp_packet *p))
{
	for (unsigned i = 0; i < N_TOPICS; i++) {
		for (unsigned j = 0; j < topics[i]->n; j++)
			check(&topics[i]->packets[j]);
	}
}

/* Send a packet with these arguments and say what it was if it is not answered as it should be. */
static void send_args(const struct rsp_packet *p, const char *separator, const char *args, size_t args_len,
		      bool is_wrong)
{
	size_t name_len = strlen(p->name), sep_len = strlen(separator);
	char *packet = malloc(name_len + sep_len + args_len);

	memcpy(packet, p->name, name_len);
	memcpy(packet + name_len, separator, sep_len);
	memcpy(packet + name_len + sep_len, args, args_len);
	fake_send_bytes(packet, name_len + sep_len + args_len);
	ck_assert_msg(fake.reply.len > 0 || !strcmp(fake.text, "(none)"), "%s%s%.20s: empty", p->name,
		      separator, args);
	ck_assert_msg(!is_wrong || fake.text[0] == 'E', "%s%s%.20s: %.20s", p->name, separator, args,
		      fake.text);
	ck_assert_uint_le(fake.session.pos, FAKE_N_STEPS);
	free(packet);
}

static void send_everywhere(const struct rsp_packet *p, const char *args, size_t len, bool is_wrong)
{
	static const char *const separators[] = { ":", ";", "," };

	if (p->kind == RSP_PREFIX)
		send_args(p, "", args, len, is_wrong);
	for (unsigned i = 0; p->kind != RSP_PREFIX && i < 3; i++)
		send_args(p, separators[i], args, len, is_wrong);
}

/* Whatever follows, these take it: a client's features may be anything. */
static bool takes_anything(const struct rsp_packet *p)
{
	return !strcmp(p->name, "qSupported");
}

static void send_garbage(const struct rsp_packet *p)
{
	static const char *const garbage[] = {
		"!zz", "\xff\xfe", "-", "g0x", "zz,1,2,3", "thread:zz", "~;~;~"
	};
	static const char zeros[4];

	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++)
		send_everywhere(p, garbage[i], strlen(garbage[i]), !takes_anything(p));
	send_everywhere(p, zeros, sizeof(zeros), !takes_anything(p));
}

START_TEST(garbage_is_an_error_of_every_packet)
{
	for_each_packet(send_garbage);
}
END_TEST

static void send_overlong(const struct rsp_packet *p)
{
	static const char fillers[] = "0f:;,pzx-=.\xff";
	static char args[30000];

	for (size_t i = 0; i + 1 < sizeof(fillers); i++) {
		memset(args, fillers[i], sizeof(args));
		send_everywhere(p, args, sizeof(args), false);
	}
	for (size_t i = 0; i < sizeof(args); i++)
		args[i] = ";1,0:"[i % 5];
	send_everywhere(p, args, sizeof(args), false);
}

START_TEST(overlong_arguments_are_answered)
{
	for_each_packet(send_overlong);
}
END_TEST

/*
 * Without arguments a packet is known, and answered: only these are empty: lldb then does
 * without the suffix, and gdb without the place of a program that was not found.
 */
static void send_alone(const struct rsp_packet *p)
{
	fake_send(p->name);
	ck_assert_msg(fake.reply.len > 0 || !strcmp(fake.text, "(none)") ||
			      !strcmp(p->name, "QThreadSuffixSupported") || !strcmp(p->name, "qOffsets"),
		      "%s: empty", p->name);
}

START_TEST(no_arguments_at_all_are_answered)
{
	for_each_packet(send_alone);
}
END_TEST

/* Packets as clients send them, to be damaged. */
static const char *const samples[] = {
	"?",
	"g",
	"p10",
	"G00112233",
	"P0=0000000000000000",
	"m401000,40",
	"x7fffffffeff0,10",
	"M401000,2:9090",
	"X401000,2:ab",
	"Hg3e8",
	"Hcp64.3e9",
	"T3e8",
	"s",
	"c",
	"s401000",
	"C05",
	"S05;401000",
	"bs",
	"bc",
	"vCont;s:3e8;c",
	"vCont;r401000,401004:3e8;c",
	"vCont;C05:p64.3e8;t",
	"vCont?",
	"QTDP:1:0000000000401001:E:3:2:X7,26000222031327-",
	"QTDP:-1:0000000000401001:R07M-1,602000,4X00000008,2c00022e00022927-",
	"QTDP:-1:0000000000401001:SM6,fffffffffffffff8,8",
	"QTDPsrc:1:401001:cmd:0:d:636f6c6c656374202472656773",
	"QTDV:2:fffffffffffffffe:0:68697473",
	"QTro:0000000000401000,0000000000401010:602000,602004",
	"QTNotes:user:6d65;notes:78;tstop:79;",
	"QTBuffer:size:1000",
	"QTDisconnected:1",
	"QTStart",
	"qTStatus",
	"QTFrame:2",
	"QTFrame:outside:401000:401002",
	"qTBuffer:10,200",
	"qTP:1:401001",
	"qTV:2",
	"Z0,401001,1",
	"z0,401001,1",
	"Z2,602000,4",
	"z2,602000,4",
	"Z1,402001,1;X3,220127",
	"qSupported:multiprocess+;swbreak+",
	"QStartNoAckMode",
	"qC",
	"qfThreadInfo",
	"qsThreadInfo",
	"qThreadExtraInfo,3e8",
	"qAttached:64",
	"qSymbol::",
	"qXfer:features:read:target.xml:0,1000",
	"qXfer:threads:read::0,40",
	"qXfer:exec-file:read:64:0,100",
	"qXfer:auxv:read::0,100",
	"qSearch:memory:401000;100;\x90\x90",
	"qCRC:401000,10",
	"qRcmd,7768656e",
	"qRcmd,676f746f2035",
	"qRcmd,676f746f20353025",
	"vFile:open:2f70726f632f3130302f6d617073,0,0",
	"vFile:pread:3,100,0",
	"vFile:fstat:3",
	"vFile:close:3",
	"vFile:readlink:2f70726f632f3130302f657865",
	"QCatchSyscalls:1;1;2",
	"QPassSignals:1;2",
	"QNonStop:0",
	"QThreadEvents:1",
	"vRun;61;62",
	"vAttach;64",
	"R00",
	"!",
	"vCtrlC",
};

static void damage(struct script_random *rnd, char *packet, size_t *len)
{
	size_t at = script_below(rnd, *len + 1);

	switch (script_below(rnd, 5)) {
	case 0: /* cut off */ *len = at; break;
	case 1: /* another byte */
		if (at < *len)
			packet[at] = (char)script_random(rnd);
		break;
	case 2: /* a byte that means something */
		if (at < *len)
			packet[at] = ":;,-0f.p="[script_below(rnd, 9)];
		break;
	case 3: /* a byte more */
		memmove(packet + at + 1, packet + at, *len - at);
		packet[at] = ":;,-0f.p="[script_below(rnd, 9)];
		++*len;
		break;
	case 4: /* a byte less */
		if (at < *len) {
			memmove(packet + at, packet + at + 1, *len - at - 1);
			--*len;
		}
		break;
	}
}

/* What must hold of a session whatever it was told. */
static void check_session(void)
{
	ck_assert_uint_le(fake.session.pos, FAKE_N_STEPS);
	ck_assert_uint_lt(fake.session.thread, fake.tl->rec->n_threads);
	ck_assert(fake.session.step_thread == TS_NO_THREAD ||
		  fake.session.step_thread < fake.tl->rec->n_threads);
	for (unsigned i = 0; i < 100 && rsp_session_is_running(&fake.session); i++) {
		rsp_reply_reset(&fake.reply);
		rsp_session_run(&fake.session, &fake.reply);
	}
	ck_assert(!rsp_session_is_running(&fake.session));
}

START_TEST(damaged_packets_in_any_order_leave_the_session_whole)
{
	struct script_random rnd = { 1 };
	char packet[256];

	for (unsigned i = 0; i < 60000; i++) {
		const char *sample = samples[script_below(&rnd, sizeof(samples) / sizeof(samples[0]))];
		size_t len = strlen(sample);

		memcpy(packet, sample, len);
		for (uint64_t n = script_below(&rnd, 4); n; n--)
			damage(&rnd, packet, &len);
		fake_send_bytes(packet, len);
		check_session();
	}
}
END_TEST

START_TEST(the_samples_are_packets_that_exist)
{
	const struct fake_options with_exec = { .exec = "/bin/sh" };

	fake_again(&with_exec);
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		fake_send(samples[i]);
		ck_assert_msg(fake.reply.len || !strcmp(fake.text, "(none)"), "%s: empty", samples[i]);
		check_session();
	}
}
END_TEST

FAKE_SUITE("packets", garbage_is_an_error_of_every_packet, overlong_arguments_are_answered,
	   no_arguments_at_all_are_answered, damaged_packets_in_any_order_leave_the_session_whole,
	   the_samples_are_packets_that_exist)
