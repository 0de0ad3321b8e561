/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out while a packet is handled: its answer is an error or the one that it has otherwise,
 * and the session goes on.  A packet that was refused and is sent again, and all after it, are answered as if
 * nothing had happened.
 */
#include "fake_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "machine.h"
#include "no_memory.h"
#include "protocol/session/session.h"
#include "script.h"
#include "src/base/log.h"

#define MAX_PACKETS 48

/* ------------------------------------------------------------------------------------------- recordings */

#define ROOT 0x10000u

/* Four pages of code and data by tables of four levels; the kernel's code is at their own address. */
static struct script *make_machine(void)
{
	struct script *m = machine_new(40);
	struct ts_steps *to = &m->rec.initial;

	machine_long_mode(m, ROOT);
	machine_reg(to, m, "cs", USER_CS);
	for (unsigned level = 0; level < 3; level++)
		machine_put(to, ROOT + 0x1000 * level, (ROOT + 0x1000 * (level + 1)) | PTE_P, 8);
	for (unsigned page = 0; page < 4; page++)
		machine_put(to, ROOT + 0x3000 + 8 * page, (0x20000 + 0x1000 * page) | PTE_P, 8);
	machine_put(to, 0x20000, 0x90909090, 4);
	for (unsigned i = 0; i < 12; i++) {
		machine_put(&m->steps, 0x21000 + i, i, 1);
		if (i % 3 == 1)
			machine_reg(&m->steps, m, "cs", i % 2 ? KERNEL_CS : USER_CS);
		if (i == 6)
			machine_put(&m->steps, ROOT + 0x3008, 0x22000 | PTE_P, 8);
		machine_step(m, 0x10 + i % 4);
	}
	m->end = (struct ts_end){ .pc = 0x10, .has_pc = true };
	return m;
}

/* A loop without the status register, which says whether its code is Thumb. */
static struct script *make_arm(void)
{
	static const uint32_t process_of[] = { 0 };
	struct script *s = script_new("arm", 1, process_of);

	ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x8000, "\x00\x00\xa0\xe1\x00\x00\xa0\xe1", 8);
	for (unsigned i = 0; i < 12; i++) {
		if (i == 5)
			ts_steps_value(&s->steps, TS_FX_WRITE, 0x9000, "\1\2\3\4", 4);
		ts_steps_close(&s->steps, 0x8000 + 4 * (i % 4), 4, 0);
	}
	return s;
}

/* Every fourth instruction branches after its delay slot, which writes. */
static struct script *make_mips(void)
{
	static const uint32_t process_of[] = { 0 };
	struct script *s = script_new("mips", 1, process_of);
	uint8_t value[4] = { 0 };

	for (unsigned i = 0; i < 24; i++) {
		value[3] = (uint8_t)i;
		if (i % 4 == 3)
			ts_steps_value(&s->steps, TS_FX_WRITE, 0x9000, value, 4);
		ts_steps_close(&s->steps, 0x8000 + 4 * (i % 4), 4, 0);
	}
	s->end = (struct ts_end){ .pc = 0x8000, .has_pc = true };
	return s;
}

/* A loop in which memory and rcx change, long enough for frames of several chunks. */
static void make_loop(struct ts_recording *rec)
{
	struct ts_steps *b = &((struct script *)rec)->steps;
	int rcx = ts_regset_find(&rec->regs, "rcx");

	ts_steps_reset(b);
	for (unsigned i = 0; i < 40; i++) {
		uint8_t value[8] = { (uint8_t)i };

		ts_steps_value(b, TS_FX_WRITE, 0x602000 + i % 3, value, 4);
		ts_steps_value(b, TS_FX_REG_WRITE, rec->regs.regs[rcx].off, value, 8);
		ts_steps_close(b, 0x401000 + i % 4, 1, i % 2);
	}
}

/* ------------------------------------------------------------------------------------- what clients send */

/* Text in '' is sent as hex digits. */
struct story {
	const char *name;
	struct fake_options opt;
	/* a list, and the definition of a run, is begun again: from this packet on */
	unsigned begin;
	const char *packets[MAX_PACKETS];
};

#define HELLO "qSupported:multiprocess+;swbreak+;hwbreak+;error-message+;xmlRegisters=i386"

static const struct story stories[] = {
	{ "stop and go",
	  .packets = { HELLO, "!", "?", "QPassSignals:e;14", "QProgramSignals:e;14", "QCatchSyscalls:1;1;2",
		       "Z0,401001,1;X3,220127", "Z0,401002,1;X3,220027;cmds:1,X3,220027", "Z2,602000,4", "Z1,402001,1",
		       "vCont;c", "vCont;c", "vCont;s:p64.3e8;c", "vCont;r401000,402000:p64.3e8;c", "bs", "bc", "s", "c",
		       "z0,401001,1", "z0,401002,1", "z2,602000,4", "vCont;c", "bc", "vRun;", "QCatchSyscalls:0",
		       "vCont;c", "D;64" } },
	{ "the end",
	  .packets = { HELLO, "qRcmd,'goto end'", "vCont;s:p64.3e8", "vCont;s:p64.3e8", "qfThreadInfo", "vCont;s:p64.3e8;c",
		       "vCont;s:p64.3e8;c", "?", "vCont;s:p64.3ea", "vCont;c", "bs", "vCont;s:p64.3e8", "bc", "bc", "bs",
		       "qRcmd,'info'", "Hgp64.3e9", "g", "T p64.3e9", "Tp64.3e9" } },
	{ "registers and memory",
	  .packets = { HELLO, "g", "p0", "p10", "m401000,10", "x7fffffffeff0,10", "vCont;c", "m602000,4", "g",
		       "qSearch:memory:401000;1000;\x90\x90", "qSearch:memory:7fffffffeff0;100;zz", "qCRC:401000,10",
		       "qMemoryRegionInfo:401000", "qMemoryRegionInfo:0" } },
	{ "documents",
	  .packets = { HELLO, "qXfer:features:read:target.xml:0,1000", "qXfer:threads:read::0,1000",
		       "qXfer:threads:read::0,40", "qXfer:threads:read::40,40", "qXfer:auxv:read::0,100",
		       "qXfer:libraries-svr4:read::0,1000", "qfThreadInfo", "qsThreadInfo", "qThreadExtraInfo,p64.3e8",
		       "qHostInfo", "qProcessInfo", "jThreadsInfo" } },
	{ "files",
	  .packets = { HELLO, "vFile:setfs:0", "vFile:open:'/proc/100/maps',0,0", "vFile:pread:3,1000,0", "vFile:fstat:3",
		       "vFile:open:'/proc/100/cmdline',0,0", "vFile:pread:4,100,0", "vFile:open:'/proc/100/smaps',0,0",
		       "vFile:pread:5,4000,0", "vFile:pread:5,4000,80", "vFile:open:'/proc/100/status',0,0",
		       "vFile:readlink:'/proc/100/exe'", "vFile:stat:'/proc/100/maps'", "vFile:close:3", "vFile:close:4",
		       "vFile:close:5" } },
	{ "lldb",
	  .packets = { "qSupported:xmlRegisters=i386,arm,mips", "QThreadSuffixSupported", "QListThreadsInStopReply",
		       "QEnableErrorStrings", "qHostInfo", "qProcessInfo", "qMemoryRegionInfo:401000", "jThreadsInfo", "vCont;c",
		       "qRcmd,'when'" } },
	{ "commands",
	  .packets = { HELLO, "qRcmd,'help'", "qRcmd,'info'", "qRcmd,'when'",
		       "qRcmd,'goto 5'", "qRcmd,'goto end'", "qRcmd,'goto previous-syscall'", "qRcmd,'goto begin'",
		       "qRcmd,'goto next-syscall'", "qRcmd,'goto 0'", "qRcmd,'announce goto 3'", "vCont;c",
		       "qRcmd,'announce moved'", "s", "qRcmd,'direction reverse'", "c", "qRcmd,'direction forward'",
		       "qRcmd,'wait'" } },
	{ "questions",
	  .packets = { HELLO, "qRcmd,'history 0x602000'", "qRcmd,'last-write 0x602000,4 at 5'", "qRcmd,'executions 0x401000'",
		       "qRcmd,'executions 0x401000:0x401010 last 4'", "qRcmd,'calls'", "qRcmd,'events syscall'",
		       "qRcmd,'hot 3'", "qRcmd,'maps'", "qRcmd,'threads at 3'",
		       "qRcmd,'goto next write 0x602000'", "qRcmd,'back'", "qRcmd,'forward'", "qRcmd,'goto #1'" } },
	{ "checkpoints",
	  .packets = { HELLO, "qRcmd,'goto 3'", "qRcmd,'checkpoint here'", "qRcmd,'goto 5'", "qRcmd,'goto checkpoint-1'",
		       "qRcmd,'marks'", "qRcmd,'announce goto checkpoint-1'" } },
	{ "tracepoints",
	  .opt = { .change = make_loop },
	  .begin = 1,
	  .packets = { HELLO, "qRcmd,'collect all'", "QTinit", "QTDV:2:5:0:'calls'",
		       "QTDP:1:0000000000401000:E:0:0:X8,2600002203130e27-",
		       "QTDP:-1:0000000000401000:R07M-1,602000,4X00000008,2c00022e00022927-",
		       "QTDP:-1:0000000000401000:SM0,0,8", "QTDP:2:0000000000401002:E:0:5",
		       "QTDP:-2:0000000000401002:X0000000b,2c00022201022d00022927", "QTDPsrc:1:401000:cond:0:4:'rdi>'",
		       "QTDPsrc:1:401000:cmd:0:d:'collect $regs'", "QTro:0000000000401000,0000000000401010",
		       "QTNotes:user:'me';notes:'x';tstop:'y';", "QTDisable:2:401002", "QTEnable:2:401002",
		       "QTBuffer:size:10000", "QTBuffer:circular:1", "QTStart", "qTStatus", "qTP:1:401000", "qTV:2",
		       "QTFrame:0", "g", "m602000,4", "qXfer:traceframe-info:read::0,1000", "QTFrame:pc:401002",
		       "QTFrame:tdp:2", "QTFrame:range:401000:401002", "QTFrame:outside:401000:401002", "qTBuffer:0,400",
		       "qTfP", "qTsP", "qTsP", "qTsP", "qTsP", "qTsP", "qTsP", "qTsP", "qTsP", "qTsP", "qTfV", "qTsV", "qTsV", "QTStop" } },
	{ "frames where one goes",
	  .opt = { .change = make_loop },
	  .begin = 1,
	  .packets = { HELLO, "qRcmd,'goto 0'", "qRcmd,'collect live'", "QTinit", "QTDP:1:0000000000401000:E:0:0-",
		       "QTDP:-1:0000000000401000:R07M-1,602000,4", "QTStart", "vCont;c", "bc", "qTStatus", "QTFrame:0", "g",
		       "QTFrame:ffffffff", "QTStop", "qRcmd,'collect none'" } },
	{ "implied frames",
	  .begin = 3,
	  .packets = { HELLO, "qTStatus", "qTfP", "QTFrame:ffffffff", "qTfP", "qTsP", "qTsP", "qTsP", "qTsP", "qTsP", "qTfV",
		       "qTsV", "QTFrame:3", "g", "m602000,4", "qTBuffer:0,200" } },
	{ "saved frames",
	  .begin = 1,
	  .packets = { HELLO, "qRcmd,'goto 0'", "QTSave:'run.tf'", "qRcmd,'export other.tf'" } },
	{ "arm",
	  .opt = { .make = make_arm },
	  .packets = { "qSupported:multiprocess+;swbreak+;error-message+;xmlRegisters=arm", "g", "p19", "m8000,8", "qRcmd,'info'",
		       "Z0,8008,4", "vCont;c", "vCont;s:p1.1", "Z2,9000,4", "vCont;c", "bc", "qRcmd,'goto end'", "g" } },
	{ "mips",
	  .opt = { .make = make_mips },
	  .packets = { "qSupported:multiprocess+;swbreak+;error-message+;xmlRegisters=mips", "g", "Z2,9000,4", "vCont;c",
		       "vCont;c", "bc", "vCont;s:p1.1", "bs", "z2,9000,4", "Z0,800c,4", "vCont;c", "bc", "qRcmd,'goto 7'", "vCont;s:p1.1" } },
	{ "a machine",
	  .opt = { .make = make_machine },
	  .packets = { HELLO, "g", "m1000,8", "qRcmd,'translate 0x1000'", "qRcmd,'filter process'", "vCont;c", "bc",
		       "qRcmd,'filter user'", "vCont;s:p1.1", "vCont;c", "qRcmd,'filter off'", "qRcmd,'physical on'",
		       "m21000,8", "qRcmd,'physical off'", "Z2,1000,4", "vCont;c", "Z0,11,1", "bc", "Qqemu.PhyMemMode:1",
		       "qSearch:memory:20000;1000;\x90\x90", "qRcmd,'hot 3'", "jThreadsInfo" } },
};
#define N_STORIES (int)(sizeof(stories) / sizeof(stories[0]))

/* The bytes of a packet of a story. */
static size_t packet_of(const char *text, uint8_t *packet, size_t max)
{
	bool is_hex = false;
	size_t len = 0;

	for (; *text; text++) {
		ck_assert_uint_lt(len + 2, max);
		if (*text == '\'')
			is_hex = !is_hex;
		else if (is_hex)
			len += (size_t)sprintf((char *)packet + len, "%02x", (uint8_t)*text);
		else
			packet[len++] = (uint8_t)*text;
	}
	return len;
}

/* ----------------------------------------------------------------------------------------- what they get */

struct answer {
	char reply[RSP_PACKET_SIZE + 1];
	size_t len;
	char console[0x4000];
	bool has_console; /* false: memory was exhausted for it, and the server disconnects the client */
	uint64_t pos;
};

static struct answer *wholes; /* of each packet of the story */
static uint64_t n_allocations[MAX_PACKETS];

/* When a run began and ended is another time each time. */
static void drop_times(struct answer *a)
{
	char *from = strstr(a->reply, ";starttime:"), *to = from ? strstr(from, ";username:") : NULL;

	if (!to)
		return;
	memmove(from, to, strlen(to) + 1);
	a->len = strlen(a->reply);
}

/* Handle a packet and its job.  Returns whether there was a reply. */
static bool handle(struct rsp_session *s, const uint8_t *packet, size_t len, struct rsp_reply *r)
{
	bool has_reply = rsp_dispatch_packet(s, packet, len, r);

	while (!has_reply && rsp_session_is_running(s)) {
		s->job.next_note = INT64_MAX; /* on a slow machine, too */
		rsp_reply_reset(r);
		has_reply = rsp_session_run(s, r);
	}
	return has_reply;
}

/* Send packet @i; the allocations [from, until) fail meanwhile.  Returns how many there were. */
static uint64_t send(const struct story *st, unsigned i, uint64_t from, uint64_t until, struct answer *out)
{
	struct rsp_session *s = &fake.session;
	struct rsp_reply *r = &fake.reply;
	uint8_t packet[1024];
	size_t len = packet_of(st->packets[i], packet, sizeof(packet));
	uint64_t n_calls;
	bool has_reply;
	int64_t n_lost;

	rsp_reply_reset(r);
	no_memory_start(from, until);
	has_reply = handle(s, packet, len, r);
	rsp_reply_finish(r);
	n_calls = no_memory_end(&n_lost);
	ck_assert_msg(has_reply, "%s: no reply", st->packets[i]);
	ck_assert_uint_le(r->len, RSP_PACKET_SIZE);
	memcpy(out->reply, r->data, r->len);
	out->reply[r->len] = '\0';
	out->len = r->len;
	drop_times(out);
	out->pos = s->pos;
	out->has_console = ts_buf_ok(&s->console);
	snprintf(out->console, sizeof(out->console), "%s", out->has_console ? ts_buf_text(&s->console) : "");
	ts_buf_reset(&s->console);
	return n_calls;
}

static bool is_same(const struct answer *a, const struct answer *b)
{
	return a->len == b->len && !memcmp(a->reply, b->reply, a->len) && a->has_console == b->has_console &&
	       !strcmp(a->console, b->console) && a->pos == b->pos;
}

/*
 * An error that says why, as far as its form can: packets about files have one of their own; or text that
 * says what is missing.
 */
static bool is_refused(const struct answer *a)
{
	if (a->reply[0] == 'E')
		return a->reply[1] != '.' || strstr(a->reply, "no memory");
	return !strncmp(a->reply, "F-1,", 4) || strstr(a->console, "no memory");
}

/* A piece of the buffer is as long as 3 ms allow: one of two answers to @packet begins the other one. */
static bool is_piece_of(const char *packet, const struct answer *a, const struct answer *b)
{
	size_t len = a->len < b->len ? a->len : b->len;

	return !strncmp(packet, "qTBuffer", 8) && len && *a->reply != 'E' && !memcmp(a->reply, b->reply, len) &&
	       a->pos == b->pos;
}

/* Packet @i had to do with a failing allocation: what was packet @at answered? */
static void expect(const struct story *st, unsigned i, uint64_t n, unsigned at, const struct answer *a)
{
	const struct answer *whole = &wholes[at];

	if (!is_same(a, whole) && !is_piece_of(st->packets[at], a, whole))
		ck_abort_msg("%s, allocation %lu of %s fails: %s: %s (%s) at %lu, not %s (%s) at %lu",
			     st->name, (unsigned long)n, st->packets[i], st->packets[at], a->reply,
			     a->console, (unsigned long)a->pos, whole->reply, whole->console,
			     (unsigned long)whole->pos);
}

static void expect_whole(const struct story *st, unsigned i, uint64_t n, unsigned at)
{
	static struct answer a;

	send(st, at, UINT64_MAX, UINT64_MAX, &a);
	expect(st, i, n, at, &a);
}

static void begin(const struct story *st)
{
	remove("trace.tsmarks");
	fake_again(&st->opt);
	fake.target.trace = "trace";
	fake.target.export_dir = ".";
}

/* The allocations [n, until) of packet @i fail; it is sent again, and all after it. */
static void fail_one(const struct story *st, unsigned i, uint64_t n, uint64_t until)
{
	static struct answer a;

	begin(st);
	for (unsigned k = 0; k < i; k++)
		expect_whole(st, i, n, k);
	send(st, i, n, until, &a);
	if (!a.has_console)
		return; /* disconnected */
	if (!is_refused(&a))
		expect(st, i, n, i, &a);
	for (unsigned k = st->begin && i >= st->begin ? st->begin : i + is_same(&a, &wholes[i]); st->packets[k]; k++)
		expect_whole(st, i, n, k);
}

START_TEST(a_refused_packet_can_be_sent_again)
{
	const struct story *st = &stories[_i];
	unsigned n_packets = 0;

	ts_log_set_level(TS_LOG_ERROR);
	wholes = calloc(MAX_PACKETS, sizeof(*wholes));
	begin(st);
	for (; st->packets[n_packets]; n_packets++)
		n_allocations[n_packets] = send(st, n_packets, UINT64_MAX, UINT64_MAX, &wholes[n_packets]);
	for (unsigned i = 0; i < n_packets; i++) {
		for (uint64_t n = 0; n < n_allocations[i]; n++) {
			fail_one(st, i, n, n + 1);
			fail_one(st, i, n, UINT64_MAX);
		}
	}
	free(wholes);
}
END_TEST

static void setup(void)
{
	static const struct fake_options usual;
	fake_begin(&usual);
}

Suite *unit_suite(void)
{
	Suite *suite = suite_create("packets_no_memory");
	TCase *t = tcase_create("packets_no_memory");

	tcase_add_checked_fixture(t, setup, fake_end);
	tcase_add_loop_test(t, a_refused_packet_can_be_sent_again, 0, N_STORIES);
	tcase_set_timeout(t, 300);
	suite_add_tcase(suite, t);
	return suite;
}
