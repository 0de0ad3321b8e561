/* SPDX-License-Identifier: MIT */
#include "x64dbg_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

struct ts_buf file;
struct ts_source *src;
struct ts_recording *rec;
struct ts_timeline *tl;
struct ts_query *q;
struct ts_steps steps;
struct ts_error err;

void setup(void)
{
	ts_buf_init(&file);
	ts_steps_init(&steps);
	ts_error_reset(&err);
}

void teardown(void)
{
	ts_query_free(q);
	ts_timeline_free(tl);
	ts_recording_close(rec);
	ts_source_close(src);
	ts_buf_fini(&file);
	ts_steps_fini(&steps);
	q = NULL;
	tl = NULL;
	rec = NULL;
	src = NULL;
}

void add(const struct xw_block *b)
{
	xw_put_block(&file, true, b);
}

void add_full(struct xw_block b, uint32_t tid)
{
	b = xw_full(true, &b, tid);
	add(&b);
}

void begin(struct xw_block b, uint64_t rax, uint64_t rsp)
{
	xw_head(&file, true, NULL);
	xw_reg(&b, RAX, rax);
	xw_reg(&b, RSP, rsp);
	add_full(b, 100);
}

void nop(uint64_t pc)
{
	struct xw_block b = INSN(pc, "\x90");

	add(&b);
}

bool try_load(void)
{
	enum ts_next grow = TS_MORE;

	unit_seed(file.data, file.len);
	src = ts_source_from_memory(file.data, file.len, "test", &err);
	rec = ts_loader_open(&x64dbg_loader, src, NULL, &err);
	tl = rec ? ts_timeline_new(rec, NULL, &err) : NULL;
	while (tl && grow == TS_MORE)
		grow = ts_timeline_grow(tl, 1 << 20, &err);
	if (!tl || grow == TS_FAIL)
		return false;
	q = ts_query_new(tl, &err);
	return q != NULL;
}

void load(void)
{
	struct ts_reader *reader;

	ck_assert_msg(try_load(), "%s", err.text);
	reader = rec->ops->reader(rec, &err);
	ck_assert_ptr_nonnull(reader);
	while (reader->ops->next(reader, &steps, &err) == TS_ITEM)
		;
	ts_reader_close(reader);
	ts_error_reset(&err);
}

void load_text(const char *text)
{
	x64dbg_text(&file, text);
	load();
}

const char *mem(uint64_t pos, uint64_t addr, unsigned len)
{
	static char text[256];
	uint8_t data[100], known[100];

	ck_assert_msg(ts_query_mem(q, pos, 0, addr, len, data, known, &err), "%s", err.text);
	text[0] = '\0';
	for (unsigned i = 0; i < len; i++) {
		if (known[i])
			sprintf(text + strlen(text), "%02x", data[i]);
		else
			strcat(text, "..");
	}
	return text;
}

uint64_t reg_of(uint64_t pos, uint32_t thread, const char *name)
{
	const struct ts_reg *r = &rec->regs.regs[ts_regset_find(&rec->regs, name)];
	uint8_t data[4096], known[4096];

	ck_assert_msg(ts_query_regs(q, pos, thread, data, known, &err), "%s", err.text);
	return memchr(known + r->off, 0, r->len)
		       ? UNKNOWN
		       : ts_arch_get(rec->regs.arch, data + r->off, r->len > 8 ? 8 : r->len);
}

uint64_t reg(uint64_t pos, const char *name)
{
	return reg_of(pos, ts_query_thread(q, pos), name);
}

bool has_gap(uint64_t step)
{
	const struct ts_event_at *h = ts_world_find_event(&tl->world, TS_EV_GAP, step, false);

	return h && h->step == step;
}
