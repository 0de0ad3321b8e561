/* SPDX-License-Identifier: MIT */
#include "tfile_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

struct ts_buf f;
bool is_big;
size_t frame_at;
struct ts_source *src;
struct ts_recording *rec;
struct ts_timeline *tl;
struct ts_query *q;
struct ts_frame frame;
struct ts_error err;
const char *arch_option, *exec_option;
const uint64_t *exec_base;

void setup(void)
{
	ts_buf_init(&f);
	ts_frame_init(&frame);
	ts_error_reset(&err);
	is_big = false;
	src = NULL;
	rec = NULL;
	tl = NULL;
	q = NULL;
	arch_option = exec_option = NULL;
	exec_base = NULL;
}

void close_all(void)
{
	ts_query_free(q);
	ts_timeline_free(tl);
	ts_recording_close(rec);
	ts_source_close(src);
	q = NULL;
	tl = NULL;
	rec = NULL;
	src = NULL;
}

void teardown(void)
{
	close_all();
	ts_frame_fini(&frame);
	ts_buf_fini(&f);
}

void head(const char *lines)
{
	ts_buf_reset(&f);
	ts_buf_puts(&f, MAGIC);
	ts_buf_puts(&f, lines);
	ts_buf_putc(&f, '\n');
}

void num(uint64_t v, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		ts_buf_putc(&f, (uint8_t)(v >> 8 * (is_big ? len - 1 - i : i)));
}

void begin(uint16_t tracepoint)
{
	num(tracepoint, 2);
	frame_at = f.len;
	num(0, 4);
}

void end(void)
{
	size_t len = f.len - frame_at - 4, was = f.len;

	f.len = frame_at;
	num(len, 4);
	f.len = was;
}

void regs_x64(uint64_t rax, uint64_t rsp, uint64_t rip)
{
	ts_buf_putc(&f, 'R');
	num(rax, 8);
	num(rsp, 8);
	num(rip, 8);
}

void mem(uint64_t addr, const char *bytes)
{
	ts_buf_putc(&f, 'M');
	num(addr, 8);
	num(strlen(bytes), 2);
	ts_buf_puts(&f, bytes);
}

void var(uint32_t number, int64_t value)
{
	ts_buf_putc(&f, 'V');
	num(number, 4);
	num((uint64_t)value, 8);
}

void finish(void)
{
	num(0, 4);
}

bool open_file(void)
{
	const struct ts_loader_options opt = { .arch = arch_option, .exec = exec_option, .exec_base = exec_base };
	const struct ts_loader *loader = ts_loader_find("tfile");

	ck_assert(ts_buf_ok(&f));
	ts_error_reset(&err);
	unit_seed(f.data, f.len);
	src = ts_source_from_memory(f.data, f.len, "test", &err);
	rec = ts_loader_open(loader, src, &opt, &err);
	return rec != NULL;
}

void serve(void)
{
	ck_assert_msg(open_file(), "%s", err.text);
	tl = ts_timeline_new(rec, NULL, &err);
	ck_assert_ptr_nonnull(tl);
	ck_assert_msg(ts_timeline_grow(tl, UINT64_MAX, &err) == TS_END, "%s", err.text);
	q = ts_query_new(tl, &err);
	ck_assert_ptr_nonnull(q);
}

void expect_refused(enum ts_code code, const char *word)
{
	ck_assert(!open_file());
	ck_assert_msg(err.code == code, "%s: %s", unit_code_name(err.code), err.text);
	ck_assert_msg(strstr(err.text, word) != NULL, "no \"%s\" in: %s", word, err.text);
	close_all();
}

void expect_warning(const char *word)
{
	for (unsigned i = 0; i < rec->n_warnings; i++) {
		if (strstr(rec->warnings[i].text, word))
			return;
	}
	ck_abort_msg("no warning with \"%s\", the first is: %s", word,
		     rec->n_warnings ? rec->warnings[0].text : "");
}

const char *reg(uint64_t pos, const char *name)
{
	static char text[32];
	uint8_t data[4096], known[4096];
	const struct ts_reg *r = &rec->regs.regs[ts_regset_find(&rec->regs, name)];

	ck_assert(ts_query_regs(q, pos, 0, data, known, &err));
	snprintf(text, sizeof(text), "%" PRIx64, ts_arch_get(rec->regs.arch, data + r->off, r->len));
	return memchr(known + r->off, 0, r->len) ? "?" : text;
}

const char *bytes(uint64_t pos, uint64_t addr)
{
	static char text[9];
	uint8_t known[8];

	ck_assert(ts_query_mem(q, pos, 0, addr, 8, (uint8_t *)text, known, &err));
	for (unsigned i = 0; i < 8; i++)
		text[i] = known[i] ? text[i] : '?';
	return text;
}

void get(uint64_t n)
{
	ck_assert_msg(ts_frames_get(rec->frames, n, &frame, &err), "%s", err.text);
}

void three_frames(void)
{
	head(HEAD_X64 "tp T2:2000:E:0:0\n");
	begin(1);
	regs_x64(0xa, 0x7000, 0x1000);
	mem(0x5000, "abcd");
	end();
	begin(2);
	mem(0x5002, "XYZ");
	end();
	begin(1);
	regs_x64(0xb, 0x7008, 0x1004);
	mem(0x5006, "gh");
	var(1, -5);
	var(1, 7);
	var(2, 9);
	end();
	finish();
}

void frame_without_description(void)
{
	head("R 138\ntp T1:1000:E:0:0\n");
	begin(1);
	ts_buf_putc(&f, 'R');
	for (unsigned i = 0; i < 0x138 / 8; i++)
		num(i == 16 ? 0x1234 : i, 8);
	end();
	finish();
}
