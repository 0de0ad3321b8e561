/* SPDX-License-Identifier: MIT */
#include "bap_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

struct ts_buf file;
struct ts_source *src;
struct ts_recording *rec;
struct ts_timeline *tl;
struct ts_query *q;
struct ts_error err;

void setup(void)
{
	ts_buf_init(&file);
	ts_error_reset(&err);
}

void close_trace(void)
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
	close_trace();
	ts_buf_fini(&file);
}

void load(void)
{
	enum ts_next grow = TS_MORE;

	unit_seed(file.data, file.len);
	src = ts_source_from_memory(file.data, file.len, "test", &err);
	rec = ts_loader_open(&bap_loader, src, NULL, &err);
	ck_assert_msg(rec != NULL, "%s", err.text);
	tl = ts_timeline_new(rec, NULL, &err);
	while (tl && grow == TS_MORE)
		grow = ts_timeline_grow(tl, 1 << 20, &err);
	ck_assert_msg(tl && grow == TS_END, "%s", err.text);
	q = ts_query_new(tl, &err);
	ck_assert_ptr_nonnull(q);
}

void load_text(const char *text)
{
	if (src)
		close_trace();
	ts_buf_reset(&file);
	bap_text(&file, text);
	load();
}

bool has_warning(const char *words)
{
	for (unsigned i = 0; i < rec->n_warnings; i++)
		if (strstr(rec->warnings[i].text, words))
			return true;
	return false;
}

const char *thread_reg(uint64_t pos, uint32_t thread, const char *name)
{
	static char text[24];
	uint8_t data[4096], known[4096];
	int i = ts_regset_find(&rec->regs, name);
	const struct ts_reg *r = &rec->regs.regs[i < 0 ? 0 : i];

	ck_assert(ts_query_regs(q, pos, thread, data, known, &err));
	if (i < 0 || memchr(known + r->off, 0, r->len))
		return i < 0 ? "-" : "?";
	snprintf(text, sizeof(text), "%" PRIx64,
		 ts_arch_get(rec->regs.arch, data + r->off, r->len < 8 ? r->len : 8));
	return text;
}

const char *reg(uint64_t pos, const char *name)
{
	return thread_reg(pos, 0, name);
}

const char *mem(uint64_t pos, uint64_t addr)
{
	static char text[9];
	uint8_t data[4], known[4];

	ck_assert(ts_query_mem(q, pos, 0, addr, 4, data, known, &err));
	for (unsigned i = 0; i < 4; i++)
		snprintf(text + 2 * i, 3, known[i] ? "%02x" : "..", data[i]);
	return text;
}
