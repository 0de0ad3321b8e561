/* SPDX-License-Identifier: MIT */
/*
 * A client's packets, a line each, to one of six recordings, which the first character of the input chooses.
 * Jobs run to their end or, after a while, are interrupted.  A line that begins with a tab is a second client's.  One that ends
 * with a carriage return leaves its job at work until that client's next packet.  A line of the byte 2 and a number N: from now
 * on each packet is first sent N times, in which its first, second, ... allocation fails.  What a further client is told at its
 * beginning is the same after all that.
 *
 *      0  x86_64, threads and processes, maps, a system call (fake_session.h)
 *      1  random steps, with all that a recording can have (script.h)
 *      2  a whole machine, with tables of pages (machine.h)
 *      3  aarch64, 4 mips with two threads: text
 *      5  trace frames of gdb's tracepoints, which have no steps
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/loader.h"
#include "protocol/packets/packets.h"
#include "protocol/session/session.h"
#include "src/base/log.h"
#include "src/timeline/timeline.h"
#include "tests/unit/machine.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/script.h"

#define N_RECORDINGS 6u
#define N_SLICES     20u
#define MAX_PACKETS  200u
#define MAX_FAULTS   64u

static const char aarch64_text[] = "tracestub text 1 aarch64\nreg sp 7ff0\nmem 400000 fd7bbfa9\nstep 400000 "
				   "fd7bbfa9\n mem 7fe0 0102030405060708\n reg sp 7fe0\n"
				   "step 400004 e00301aa\n reg x0 5\nstep 400008 fd7bc1a8\n read 7fe0 "
				   "0102030405060708\n reg sp 7ff0\nend 0\n";
static const char mips_text[] = "tracestub text 1 mips\nreg r29 7ffffff0\nstep 400000 24020001\n reg r2 "
				"1\nthread 2\nstep 400000\n reg r2 2\n"
				" reg pc 400004\nthread 1\nstep 400004 ac020000\n mem 10 00000001\n";
/* A frame: registers rax, rsp and rip, four bytes of memory, a variable. */
#define FRAME(rax, mem)                                                                 \
	"\1\0\x36\0\0\0R" rax                                                           \
	"\0\0\0\0\0\0\0\0\x70\0\0\0\0\0\0\0\x10\0\0\0\0\0\0M\0\x50\0\0\0\0\0\0\4\0" mem \
	"V\1\0\0\0\7\0\0\0\0\0\0\0"
static const char frames_file[] =
	"\x7fTRACE0\nR 18\n"
	"tdesc <target><architecture>i386:x86-64</architecture><feature name=\"org.gnu.gdb.i386.core\">"
	"<reg name=\"rax\" bitsize=\"64\"/><reg name=\"rsp\" bitsize=\"64\"/><reg name=\"rip\" "
	"bitsize=\"64\"/>"
	"</feature></target>\n"
	"status 0;tpasscount:2;tframes:2\ntsv 1:0:1:74\ntp T1:1000:E:0:0:X2,2227\ntp A1:1000:R40\n"
	"tp S1:1000:M-1,5000,4\n\n" FRAME("\1", "abcd") FRAME("\2", "efgh") "\0\0\0\0";

static void require(bool holds)
{
	if (!holds)
		abort();
}

static struct script *make_fake(void)
{
	static const uint32_t process_of[] = { 0, 0, 1 };
	struct script *s = script_new("x86_64", 3, process_of);

	require(s != NULL);
	ts_steps_map(&s->rec.initial, 0x401000, 0x2000, "exe", 3, "/bin/fake", 9)->prot =
		TS_PROT_READ | TS_PROT_EXEC;
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x401000, "\x90\x90\x90\x90\xc3", 5);
	for (unsigned i = 0; i < 10; i++) {
		if (i == 1)
			ts_steps_value(&s->steps, TS_FX_WRITE, 0x602000, "\x11\x22\x33\x44", 4);
		if (i == 6)
			ts_steps_event(&s->steps, TS_EV_SYSCALL)->number = 1;
		ts_steps_close(&s->steps, 0x401000 + i % 4, 1, i % 3);
	}
	s->rec.has_syscalls = true;
	s->rec.osabi = "GNU/Linux";
	s->end = (struct ts_end){ .pc = 0x401004, .has_pc = true };
	return s;
}

static struct script *make_machine(void)
{
	struct script *s = machine_new(40);

	require(s != NULL);
	machine_long_mode(s, 0x1000);
	for (unsigned level = 0; level < 4; level++)
		machine_put(&s->rec.initial, 0x1000 * (level + 1), 0x1000 * (level + 2) | PTE_P, 8);
	machine_put(&s->rec.initial, 0x5000, 0x90909090, 4);
	for (unsigned i = 0; i < 6; i++) {
		if (i == 2)
			machine_put(&s->steps, 0x5800, i, 4);
		machine_step(s, i);
	}
	return s;
}

static struct ts_recording *load(const char *format, const char *text, size_t len)
{
	const struct ts_loader_options opt = { 0 };
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_from_memory(text, len, "fuzz", &err);
	struct ts_recording *rec = ts_loader_open(ts_loader_find(format), src, &opt, &err);

	require(rec != NULL);
	return rec;
}

static struct ts_recording *make_recording(unsigned which)
{
	switch (which) {
	case 0: return &make_fake()->rec;
	case 1: return &script_random_new(7, 300)->rec;
	case 2: return &make_machine()->rec;
	case 3: return load("text", aarch64_text, sizeof(aarch64_text) - 1);
	case 4: return load("text", mips_text, sizeof(mips_text) - 1);
	default: return load("tfile", frames_file, sizeof(frames_file) - 1);
	}
}

/* Recordings and what is made of them do not change while they are served. */
static struct rsp_target *get_target(unsigned which)
{
	static struct rsp_target *targets[N_RECORDINGS];
	struct ts_error err = { 0 };
	struct ts_timeline *tl;
	struct ts_query *q;

	if (targets[which])
		return targets[which];
	tl = ts_timeline_new(make_recording(which), NULL, &err);
	require(tl && ts_timeline_grow(tl, UINT64_MAX, &err) == TS_END);
	q = ts_query_new(tl, &err);
	targets[which] = calloc(1, sizeof(**targets));
	require(q && targets[which] && rsp_target_init(targets[which], q, NULL, &err) && rsp_packets_init(&targets[which]->table, &err));
	return targets[which];
}

static void finish_job(struct rsp_session *s, struct rsp_reply *r)
{
	for (unsigned i = 0; rsp_session_is_running(s); i++) {
		rsp_reply_reset(r);
		if (i == N_SLICES)
			rsp_session_interrupt(s);
		if (rsp_session_run(s, r))
			break;
	}
}

/* In a block of its own, so that a sanitizer sees who reads beyond the packet. */
static void send(struct rsp_session *s, struct rsp_reply *r, const uint8_t *packet, size_t len, bool is_left)
{
	uint8_t *payload = malloc(len ? len : 1);

	require(payload != NULL);
	memcpy(payload, packet, len);
	rsp_reply_reset(r);
	if (!rsp_dispatch_packet(s, payload, len, r) && !is_left)
		finish_job(s, r);
	rsp_reply_finish(r);
	require(r->len <= RSP_PACKET_SIZE && s->pos <= ts_query_end(s->target->q));
	free(payload);
}

/* The packet is sent while its allocation @n fails. */
static void send_without_memory(struct rsp_session *s, struct rsp_reply *r, const uint8_t *packet, size_t len,
				uint64_t n)
{
	int64_t n_lost;

	no_memory_start(n, n + 1);
	rsp_reply_reset(r);
	if (!rsp_dispatch_packet(s, packet, len, r))
		finish_job(s, r);
	rsp_reply_finish(r);
	no_memory_end(&n_lost);
	require(r->len <= RSP_PACKET_SIZE && s->pos <= ts_query_end(s->target->q));
}

/* A client: its session, and the reply that its job may still fill. */
struct client {
	struct rsp_session s;
	struct rsp_reply r;
	bool is_there;
};

static void begin_client(struct client *c, unsigned which)
{
	struct ts_error err = { 0 };

	if (c->is_there)
		return;
	require(rsp_session_init(&c->s, get_target(which), &err) &&
		rsp_reply_init(&c->r, RSP_PACKET_SIZE, &err));
	c->is_there = true;
}

static void end_client(struct client *c)
{
	if (!c->is_there)
		return;
	rsp_reply_fini(&c->r);
	rsp_session_fini(&c->s);
}

/* The packets of a line. */
static void say(struct client clients[2], unsigned which, const uint8_t *line, size_t len, unsigned n_faults)
{
	bool is_second = len && *line == '\t', is_left = len > 1 && line[len - 1] == '\r';
	struct client *c = &clients[is_second];

	begin_client(c, which);
	if (c->s.is_closing)
		return;
	if (rsp_session_is_running(&c->s))
		finish_job(&c->s, &c->r);
	for (unsigned i = 0; i < n_faults && !c->s.is_closing; i++)
		send_without_memory(&c->s, &c->r, line + is_second, len - is_second - is_left, i);
	if (c->s.is_closing)
		return;
	send(&c->s, &c->r, line + is_second, len - is_second - is_left, is_left);
}

/* What a client is told that has done nothing. */
static void greet(unsigned which, struct ts_buf *told)
{
	static const char *const packets[] = { "?", "g", "m401000,10", "qfThreadInfo", "m5000,4" };
	struct client c = { 0 };

	begin_client(&c, which);
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		send(&c.s, &c.r, (const uint8_t *)packets[i], strlen(packets[i]), false);
		ts_buf_put(told, c.r.data, c.r.len);
	}
	end_client(&c);
}

static void check_greeting(unsigned which)
{
	static struct ts_buf first[N_RECORDINGS];
	static bool has_first[N_RECORDINGS];
	struct ts_buf told;

	ts_buf_init(&told);
	greet(which, &told);
	if (!has_first[which]) {
		first[which] = told;
		has_first[which] = true;
		return;
	}
	require(told.len == first[which].len && !memcmp(told.data, first[which].data, told.len));
	ts_buf_fini(&told);
}

static unsigned number(const uint8_t *text, const uint8_t *end)
{
	unsigned n = 0;

	for (; text < end && *text >= '0' && *text <= '9'; text++)
		n = n * 10 + *text - '0';
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const uint8_t *end = bytes + len;
	struct client clients[2] = { 0 };
	unsigned which, n_faults = 0;

	ts_log_set_level(TS_LOG_ERROR);
	if (!len)
		return 0;
	which = *bytes++ % N_RECORDINGS;
	check_greeting(which);
	for (unsigned i = 0; bytes < end && !clients[0].s.is_closing && i < MAX_PACKETS; i++) {
		const uint8_t *next = memchr(bytes, '\n', (size_t)(end - bytes));

		next = next ? next : end;
		if (*bytes == 2)
			n_faults = number(bytes + 1, next) % MAX_FAULTS;
		else
			say(clients, which, bytes, (size_t)(next - bytes), n_faults);
		bytes = next + 1;
	}
	check_greeting(which);
	end_client(&clients[0]);
	end_client(&clients[1]);
	return 0;
}
