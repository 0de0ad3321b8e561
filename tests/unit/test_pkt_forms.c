/* SPDX-License-Identifier: MIT */
/*
 * Every packet in good forms, in each shorter one, and with each character replaced by others.
 *
 * What holds whatever a client sends: a packet that is known is never answered as one that is not (the empty
 * reply makes gdb give up the packet for the session), and a client that goes back to the beginning finds all
 * as it was.
 */
#include "fake_session.h"

#include <stdio.h>
#include <string.h>

#include "protocol/session/session.h"

static const struct {
	const char *packet; /* "%" begins text that is sent in hexadecimal, up to the next one */
	size_t name_len;    /* of what makes it known: from there on characters are changed */
} forms[] = {
	{ "g", 1 }, { "g;thread:3e8;", 1 }, { "p0", 1 }, { "p10;thread:3e9;", 1 }, { "P0=8877665544332211", 1 }, { "G00", 1 },
	{ "m401000,10", 1 }, { "m602000,4", 1 }, { "x401000,10", 1 }, { "x401000,0", 1 }, { "M602000,2:aabb", 1 },
	{ "X602000,2:ab", 1 }, { "?", 1 }, { "s", 1 }, { "s401000", 1 }, { "c", 1 }, { "S05", 1 }, { "C05;401000", 1 },
	{ "bs", 2 }, { "bc", 2 }, { "vCont?", 6 }, { "vCont;s", 6 }, { "vCont;s:p64.3e8;c:-1", 6 }, { "vCont;c:p64.-1", 6 },
	{ "vCont;r401000,401003:3e8;c", 6 }, { "vCont;t", 6 }, { "vCont;C05;S05", 6 }, { "Z0,401000,1", 2 },
	{ "Z0,401000,1;X3,220027", 2 }, { "Z0,401000,1;cmds:0,X1,27", 2 }, { "z0,401000,1", 2 }, { "Z1,401000,1", 2 },
	{ "z1,401000,1", 2 }, { "Z2,602000,4", 2 }, { "z2,602000,4", 2 }, { "Z3,602000,4", 2 }, { "z3,602000,4", 2 },
	{ "Z4,602000,4", 2 }, { "z4,602000,4", 2 }, { "Hg3e8", 1 }, { "Hgp64.3e9", 1 }, { "Hc-1", 1 }, { "T3e8", 1 },
	{ "Tp64.3e8", 1 }, { "qC", 2 }, { "qfThreadInfo", 12 }, { "qsThreadInfo", 12 }, { "qThreadExtraInfo,3e8", 16 },
	{ "qThreadExtraInfo,p64.3e9", 16 }, { "qGetTLSAddr:3e8,10,0", 11 }, { "qSupported:multiprocess+;swbreak+;x=y", 10 },
	{ "QStartNoAckMode", 15 }, { "QNonStop:0", 8 }, { "QThreadEvents:1", 13 }, { "QPassSignals:e;10;14", 12 },
	{ "QProgramSignals:0;1;f", 15 }, { "QCatchSyscalls:1;1;2", 14 }, { "QCatchSyscalls:1", 14 }, { "QCatchSyscalls:0", 14 },
	{ "qAttached:64", 9 }, { "qOffsets", 8 }, { "qSymbol::", 7 }, { "qSymbol:1:%name", 7 }, { "qHostInfo", 9 },
	{ "qProcessInfo", 12 }, { "qMemoryRegionInfo:401000", 17 }, { "qMemoryRegionInfo:0", 17 }, { "jThreadsInfo", 12 },
	{ "QListThreadsInStopReply", 23 }, { "QThreadSuffixSupported", 22 }, { "QEnableErrorStrings", 19 },
	{ "qqemu.Supported", 15 }, { "qSearch:memory:401000;20;\x90\x90", 14 }, { "qCRC:401000,8", 4 },
	{ "qXfer:features:read:target.xml:0,fff", 19 }, { "qXfer:features:read:target.xml:10,5", 19 },
	{ "qXfer:threads:read::0,fff", 18 }, { "qXfer:libraries-svr4:read::0,fff", 25 }, { "qXfer:exec-file:read:64:0,fff", 20 },
	{ "qXfer:siginfo:read::0,80", 18 }, { "qXfer:auxv:read::0,fff", 15 }, { "qXfer:traceframe-info:read::0,fff", 26 },
	{ "vFile:setfs:0", 11 }, { "vFile:open:%/proc/100/maps%,0,0", 10 }, { "vFile:open:%/bin/fake%,0,1b6", 10 },
	{ "vFile:pread:3,10,0", 11 }, { "vFile:fstat:3", 11 }, { "vFile:close:3", 11 }, { "vFile:stat:%/bin/fake", 10 },
	{ "vFile:readlink:%/proc/100/exe", 14 }, { "vFile:pwrite:3,0,abc", 12 }, { "vFile:unlink:%/x", 12 },
	{ "QTinit", 6 }, { "QTDP:1:401000:E:0:0", 4 }, { "QTDP:1:401000:E:0:5:X3,220027-", 4 }, { "QTDP:-1:401000:R3M-1,602000,4", 4 },
	{ "QTDP:-1:401000:X3,220027", 4 }, { "QTDP:-1:401000:S*X1,27", 4 }, { "QTDPsrc:1:401000:cond:0:1:61", 7 },
	{ "QTDPsrc:1:401000:at:0:4:%main", 7 }, { "QTDV:1:7:0:%var", 4 }, { "QTEnable:1:401000", 8 }, { "QTDisable:1:401000", 9 },
	{ "QTro:401000,402000:602000,602004", 4 }, { "QTDisconnected:1", 14 }, { "QTBuffer:circular:1", 8 }, { "QTBuffer:size:100", 8 },
	{ "QTBuffer:size:-1", 8 }, { "QTNotes:user:%me%;notes:%x%;tstop:%y", 7 }, { "QTStart", 7 }, { "qTStatus", 8 },
	{ "QTFrame:0", 7 }, { "QTFrame:pc:401000", 7 }, { "QTFrame:tdp:1", 7 }, { "QTFrame:range:401000:401002", 7 },
	{ "QTFrame:outside:401000:401002", 7 }, { "QTFrame:-1", 7 }, { "qTV:1", 3 }, { "qTP:1:401000", 3 }, { "qTBuffer:0,100", 8 },
	{ "qTfP", 4 }, { "qTsP", 4 }, { "qTfV", 4 }, { "qTsV", 4 }, { "qTfSTM", 6 }, { "qTsSTM", 6 }, { "qTSTMat:401000", 7 },
	{ "QTStop", 6 }, { "qRcmd,%goto 5", 5 }, { "qRcmd,%goto 50%%", 5 }, { "qRcmd,%when", 5 }, { "qRcmd,%history $rax first 2", 5 },
	{ "qRcmd,%goto next-syscall", 5 }, { "qRcmd,%executions 0x401000", 5 }, { "qRcmd,%maps", 5 }, { "qRcmd,%info", 5 },
	{ "qRcmd,%help", 5 }, { "qRcmd,%goto end", 5 }, { "R00", 1 }, { "vRun;%/bin/fake", 4 }, { "vAttach;64", 7 }, { "vCtrlC", 6 },
	{ "!", 1 },
};
#define N_FORMS (sizeof(forms) / sizeof(forms[0]))

/* What takes the place of a character: separators, digits at the limits, what is none, and what ends text. */
static const char others[] = { ';', ':', ',', '-', '=', 'z', 'f', '0', '*', '}', '\x80', '\0' };

/* The packet with its text in hexadecimal; "%%" is a percent sign in it. */
static size_t spell(const char *form, char packet[256])
{
	bool is_hex = false;
	size_t n = 0;

	for (; *form; form++) {
		if (form[0] == '%' && form[1] == '%' && is_hex)
			n += (size_t)sprintf(packet + n, "%02x", *form++);
		else if (*form == '%')
			is_hex = !is_hex;
		else if (is_hex)
			n += (size_t)sprintf(packet + n, "%02x", (uint8_t)*form);
		else
			packet[n++] = *form;
	}
	packet[n] = '\0';
	return n;
}

static bool is_known(const char *packet, size_t len)
{
	if (fake.session.is_closing)
		fake_again(&(struct fake_options){ 0 });
	fake_resume_bytes(packet, len);
	return fake.session.is_closing || fake.reply.len;
}

/* Back at the beginning, where the twin of this client, which sent nothing else, is too. */
static void check_beginning(const char *registers, const char *what)
{
	fake_send("QTFrame:-1");
	fake_send("QTStop");
	fake_send("Hg3e8");
	fake_resume("qRcmd,676f746f2030"); /* goto 0 */
	ck_assert_msg(*fake.text != 'E', "after %s: goto 0: %s", what, fake.text);
	ck_assert_msg(!strcmp(fake_send("g"), registers), "after %s: g: %s", what, fake.text);
	ck_assert_msg(!strcmp(fake_send("m602000,4"), "00000000") || strchr("xE", *fake.text), "after %s: %s",
		      what, fake.text);
}

START_TEST(a_known_packet_is_never_answered_as_an_unknown_one)
{
	char registers[sizeof(fake.text)];
	char packet[256], what[300];

	strcpy(registers, fake_send("g"));
	for (size_t i = 0; i < N_FORMS; i++) {
		size_t len = spell(forms[i].packet, packet);
		bool is_served = is_known(packet, len);

		for (size_t at = forms[i].name_len; at < len; at++) {
			char old = packet[at];

			if (at == forms[i].name_len && strchr(":;,", old))
				continue; /* with anything else it is another name */
			ck_assert_msg(!is_served || is_known(packet, at), "%.*s", (int)at, packet);
			for (size_t k = 0; k < sizeof(others); k++) {
				packet[at] = others[k];
				snprintf(what, sizeof(what), "%s with \\x%02x at %zu", forms[i].packet,
					 (uint8_t)others[k], at);
				ck_assert_msg(is_known(packet, len) || !is_served, "%s", what);
			}
			packet[at] = old;
		}
		if (fake.session.is_closing)
			fake_again(&(struct fake_options){ 0 });
		check_beginning(registers, forms[i].packet);
	}
}
END_TEST

START_TEST(numbers_that_are_too_long_are_refused)
{
	static const char *const packets[] = {
		"m%s,4", "m401000,%s", "x%s,4", "Z0,%s,1", "Z2,602000,%s", "p%s", "P%s=00", "Hg%s", "T%s", "vFile:pread:%s,1,0", "QTFrame:%s",
		"qCRC:%s,8", "qThreadExtraInfo,%s", "qMemoryRegionInfo:%s", "QTDV:%s:0:0:61", "qGetTLSAddr:%s,0,0", "qTV:%s",
	};
	static const char digits[] = "11111111111111111"; /* 17: more than 64 bits */

	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		char packet[128];

		snprintf(packet, sizeof(packet), packets[i], digits);
		ck_assert_msg(*fake_resume(packet) == 'E', "%s: %s", packet, fake.text);
	}
}
END_TEST

FAKE_SUITE("pkt_forms", a_known_packet_is_never_answered_as_an_unknown_one,
	   numbers_that_are_too_long_are_refused)
