/* SPDX-License-Identifier: MIT */
#include "fake_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/packets/packets.h"
#include "protocol/session/session.h"
#include "script.h"

/* ------------------------------------------------------------------------------------------ the recording */

static void set_reg(struct ts_steps *b, const struct ts_regset *set, const char *name, uint64_t value,
		    uint32_t len)
{
	int i = ts_regset_find(set, name);
	uint8_t bytes[8];

	ck_assert_int_ge(i, 0);
	ts_arch_put(set->arch, bytes, sizeof(bytes), value);
	ts_steps_value(b, TS_FX_REG_WRITE, set->regs[i].off, bytes, len);
}

static void map(struct ts_steps *b, uint64_t addr, uint64_t len, uint32_t prot, const char *desc,
		const char *file, uint64_t file_off)
{
	struct ts_map *m = ts_steps_map(b, addr, len, desc, strlen(desc), file, file ? strlen(file) : 0);

	m->prot = prot;
	m->file_off = file_off;
	m->fill = TS_FILL_UNKNOWN;
}

static void make_initial(struct ts_recording *rec)
{
	struct ts_steps *b = &rec->initial;
	uint8_t bytes[16];

	map(b, 0x401000, 0x2000, TS_PROT_READ | TS_PROT_EXEC, "exe", "/usr/bin/fake", 0x1000);
	map(b, 0x602000, 0x1000, TS_PROT_READ | TS_PROT_WRITE, "data", NULL, 0);
	map(b, 0x7ffffffde000, 0x21000, TS_PROT_READ | TS_PROT_WRITE, "stack", NULL, 0);
	memset(bytes, 0x90, sizeof(bytes));
	ts_steps_value(b, TS_FX_WRITE, 0x401000, bytes, sizeof(bytes));
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	ts_steps_value(b, TS_FX_WRITE, 0x7fffffffeff0, bytes, sizeof(bytes));
	set_reg(b, &rec->regs, "rax", UINT64_C(0x1122334455667788), 8);
	set_reg(b, &rec->regs, "rbx", 0x99999999, 4);
}

static void make_steps(struct ts_steps *b)
{
	static const struct {
		uint32_t thread;
		uint64_t pc;
	} steps[FAKE_N_STEPS] = {
		{ 0, 0x401000 }, { 0, 0x401001 }, { 0, 0x401002 }, { 1, 0x402000 }, { 1, 0x402001 },
		{ 1, 0x402002 }, { 0, 0x401003 }, { 0, 0x401004 }, { 2, 0x501000 }, { 0, 0x401005 },
	};

	for (unsigned i = 0; i < FAKE_N_STEPS; i++) {
		if (i == 1)
			ts_steps_value(b, TS_FX_WRITE, 0x602000, "\x11\x22\x33\x44", 4);
		if (i == 5)
			ts_steps_event(b, TS_EV_THREAD_END);
		if (i == 6)
			ts_steps_event(b, TS_EV_SYSCALL)->number = 1;
		if (i == 7)
			map(b, 0x700000, 0x1000, TS_PROT_READ | TS_PROT_WRITE, "brk", NULL, 0);
		ts_steps_close(b, steps[i].pc, 1, steps[i].thread);
	}
}

static void make_facts(struct ts_recording *rec)
{
	static const char cmdline[] = "fake\0-v";

	strcpy(rec->threads[1].name, "w<&>");
	strcpy(rec->os, "linux");
	rec->osabi = "GNU/Linux";
	rec->has_syscalls = true;
	rec->exec_path = strdup("/usr/bin/fake");
	ts_buf_put(&rec->cmdline, cmdline, sizeof(cmdline));
	rec->auxv_len = 16;
	rec->auxv = calloc(1, rec->auxv_len);
	rec->auxv[0] = 6;
	rec->auxv[9] = 0x10;
}

static struct script *make_script(void)
{
	static const uint32_t process_of[] = { 0, 0, 1 };
	struct script *s = script_new("x86_64", 3, process_of);

	ck_assert_ptr_nonnull(s);
	make_initial(&s->rec);
	make_steps(&s->steps);
	make_facts(&s->rec);
	s->end = (struct ts_end){ .pc = 0x401006, .has_pc = true };
	ck_assert(!s->steps.is_failed && !s->rec.initial.is_failed);
	return s;
}

/* -------------------------------------------------------------------------------------------- the session */

struct fake fake;

void fake_begin(const struct fake_options *opt)
{
	struct fake *f = &fake;
	struct ts_error err = { 0 };

	memset(f, 0, sizeof(*f));
	f->script = opt->make ? opt->make() : make_script();
	if (opt->change)
		opt->change(&f->script->rec);
	ts_image_init(&f->image);
	f->image.sysroot = opt->sysroot;
	f->tl = ts_timeline_new(&f->script->rec, &f->image, &err);
	ck_assert_msg(f->tl != NULL, "%s", err.text);
	while (f->tl->n_steps < opt->n_read)
		ck_assert_int_eq(ts_timeline_grow(f->tl, 1, &err), TS_MORE);
	if (!opt->n_read)
		ck_assert_int_eq(ts_timeline_grow(f->tl, UINT64_MAX, &err), TS_END);
	f->q = ts_query_new(f->tl, &err);
	ck_assert_msg(f->q != NULL, "%s", err.text);
	ck_assert_msg(rsp_target_init(&f->target, f->q, opt->exec, &err), "%s", err.text);
	ck_assert(rsp_packets_init(&f->target.table, &err));
	ck_assert_msg(rsp_session_init(&f->session, &f->target, &err), "%s", err.text);
	ck_assert(rsp_reply_init(&f->reply, opt->packet_size ? opt->packet_size : RSP_PACKET_SIZE, &err));
}

void fake_end(void)
{
	rsp_reply_fini(&fake.reply);
	rsp_session_fini(&fake.session);
	rsp_target_fini(&fake.target);
	ts_query_free(fake.q);
	ts_timeline_free(fake.tl);
	ts_image_fini(&fake.image);
	script_free(fake.script);
}

void fake_again(const struct fake_options *opt)
{
	fake_end();
	fake_begin(opt);
}

bool fake_read_on(void)
{
	struct ts_error err = { 0 };

	do
		ck_assert_int_ne(ts_timeline_grow(fake.tl, 1, &err), TS_FAIL);
	while (!ts_query_refresh(fake.q) && !ts_query_is_complete(fake.q));
	ck_assert(rsp_target_grow(&fake.target));
	rsp_tracing_grow(&fake.session.tracing, fake.q);
	return !ts_query_is_complete(fake.q);
}

/* A thread reads symbols: how long that takes is no matter of a test.  Returns whether there is a reply. */
static bool wait_for_symbols(struct rsp_session *s, struct rsp_reply *r)
{
	bool is_over = false;

	while (!is_over && s->wait.packet.len && s->wait.is_for_symbols)
		is_over = rsp_session_run(s, r);
	return is_over;
}

const char *fake_send_bytes(const void *packet, size_t len)
{
	/* Exactly as long as the packet, so that a sanitizer sees who reads beyond it. */
	uint8_t *payload = malloc(len ? len : 1);
	struct rsp_reply *r = &fake.reply;

	memcpy(payload, packet, len);
	rsp_reply_reset(r);
	strcpy(fake.text, "(none)");
	if (rsp_dispatch_packet(&fake.session, payload, len, r) || wait_for_symbols(&fake.session, r)) {
		rsp_reply_finish(r);
		ck_assert_uint_le(r->len, RSP_PACKET_SIZE);
		memcpy(fake.text, r->data, r->len);
		fake.text[r->len] = '\0';
	}
	free(payload);
	return fake.text;
}

const char *fake_send(const char *packet)
{
	return fake_send_bytes(packet, strlen(packet));
}

const char *fake_resume(const char *packet)
{
	return fake_resume_bytes(packet, strlen(packet));
}

const char *fake_resume_bytes(const void *packet, size_t len)
{
	struct rsp_reply *r = &fake.reply;

	fake_send_bytes(packet, len);
	if (!rsp_session_is_running(&fake.session))
		return fake.text;
	do
		rsp_reply_reset(r);
	while (!rsp_session_run(&fake.session, r));
	rsp_reply_finish(r);
	memcpy(fake.text, r->data, r->len);
	fake.text[r->len] = '\0';
	return fake.text;
}

const char *fake_hex(const char *text)
{
	static char all[4][2 * 4096 + 1];
	static unsigned which;
	char *hex = all[which++ % 4];

	ck_assert_uint_le(strlen(text), 4096);
	*hex = '\0';
	for (size_t i = 0; text[i]; i++)
		snprintf(hex + 2 * i, 3, "%02x", (uint8_t)text[i]);
	return hex;
}

const char *fake_send_hex(const char *format, const char *text)
{
	const char *at = strstr(format, "%s");
	char packet[2 * 4096 + 256];

	ck_assert_ptr_nonnull(at);
	snprintf(packet, sizeof(packet), "%.*s%s%s", (int)(at - format), format, fake_hex(text), at + 2);
	return fake_send(packet);
}

const char *fake_console(void)
{
	snprintf(fake.text, sizeof(fake.text), "%s", ts_buf_text(&fake.session.console));
	ts_buf_reset(&fake.session.console);
	return fake.text;
}

static void setup(void)
{
	static const struct fake_options usual;

	fake_begin(&usual);
}

Suite *fake_suite(const char *name, const TTest *const *tests, size_t n_tests)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, setup, fake_end);
	for (size_t i = 0; i < n_tests; i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}
