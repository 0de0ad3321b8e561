/* SPDX-License-Identifier: MIT */
#include "trace_frame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Limit on the regions of memory that are searched. */
#define MAX_REGIONS 256

/* Limit on the parts listed of one collected range. */
#define MAX_LISTED (UINT32_C(1) << 20)

/* What the selected frame does not have; one without registers may still have its pc. */
static void forget_missing(const struct rsp_session *s, uint8_t *data, uint8_t *known)
{
	const struct ts_regset *set = rsp_regset(s);
	const struct ts_frame *f = &s->tracing.frame;

	for (unsigned i = 0; i < set->n_regs; i++) {
		const struct ts_reg *reg = &set->regs[i];

		if ((int)i == set->pc ? f->has_pc : f->has_regs)
			continue;
		memset(data + reg->off, 0, reg->len);
		memset(known + reg->off, 0, reg->len);
	}
}

static uint32_t frame_thread(const struct rsp_session *s)
{
	return ts_query_thread(s->target->q, s->tracing.frame.pos);
}

bool rsp_trace_frame_regs(const struct rsp_session *s, uint8_t *data, uint8_t *known, struct ts_error *err)
{
	if (!rsp_session_regs(s, s->tracing.frame.pos, frame_thread(s), data, known, err))
		return false;
	forget_missing(s, data, known);
	return true;
}

/* Read-only memory is in every frame. */
static bool is_readonly(const struct rsp_tracing *t, uint64_t addr)
{
	for (size_t i = 0; i < t->n_readonly; i++) {
		if (addr >= t->readonly[i].addr && addr - t->readonly[i].addr < t->readonly[i].len)
			return true;
	}
	return false;
}

/*
 * In a saved run, so is memory that the program cannot write: gdb lists the read-only ranges of its own runs
 * only.
 */
static void add_fixed(const struct rsp_session *s, uint32_t process, uint64_t addr, size_t len,
		      const uint8_t *all, uint8_t *known)
{
	struct ts_region_info regions[MAX_REGIONS];
	size_t n = ts_query_regions(s->target->q, process, s->tracing.frame.pos, regions, MAX_REGIONS);

	for (size_t i = 0; i < n && i < MAX_REGIONS; i++) {
		const struct ts_region_info *r = &regions[i];

		if (!r->prot || r->prot & TS_PROT_WRITE)
			continue;
		for (size_t j = 0; j < len; j++)
			known[j] |= all[j] && addr + j >= r->first && addr + j <= r->last;
	}
}

bool rsp_trace_frame_mem(const struct rsp_session *s, uint64_t addr, size_t len, uint8_t *data,
			 uint8_t *known, struct ts_error *err)
{
	const struct ts_frame *f = &s->tracing.frame;
	uint32_t process = ts_query_process(s->target->q, frame_thread(s));
	uint8_t *all;

	if (!rsp_session_mem(s, f->pos, process, addr, len, data, known, err))
		return false;
	if (f->is_whole)
		return true;
	all = malloc(len + 1);
	if (!all)
		return ts_no_memory(err, "a trace frame's memory");
	memcpy(all, known, len);
	ts_frame_mask(f, addr, len, known);
	for (size_t i = 0; i < len; i++)
		known[i] |= all[i] && is_readonly(&s->tracing, addr + i);
	if (!rsp_tracing_has_run(&s->tracing))
		add_fixed(s, process, addr, len, all, known);
	free(all);
	return true;
}

/* The known parts of a collected range: one element each. */
static void put_known(const struct rsp_session *s, const struct ts_range *range, struct ts_buf *out)
{
	size_t len = range->len < MAX_LISTED ? (size_t)range->len : MAX_LISTED;
	uint8_t *bytes = malloc(2 * len + 1), *known = bytes ? bytes + len : NULL;
	struct ts_error err = { 0 };

	if (!bytes || !rsp_trace_frame_mem(s, range->addr, len, bytes, known, &err))
		len = 0;
	for (size_t i = 0, n; i < len; i += n) {
		for (n = 1; i + n < len && known[i + n] == known[i];)
			n++;
		if (known[i])
			ts_buf_printf(out, "<memory start=\"0x%" PRIx64 "\" length=\"0x%zx\"/>\n",
				      ts_arch_wide_addr(rsp_regset(s)->arch, range->addr + i), n);
	}
	free(bytes);
}

void rsp_trace_frame_xml(const struct rsp_session *s, struct ts_buf *out)
{
	const struct ts_frame *f = &s->tracing.frame;

	ts_buf_puts(out, "<?xml version=\"1.0\"?>\n<!DOCTYPE traceframe-info SYSTEM "
			 "\"traceframe-info.dtd\">\n<traceframe-info>\n");
	for (size_t i = 0; i < f->n_ranges; i++)
		put_known(s, &f->ranges[i], out);
	for (size_t i = 0; i < f->n_vars; i++)
		ts_buf_printf(out, "<tvar id=\"0x%" PRIx32 "\"/>\n", f->vars[i].number);
	ts_buf_puts(out, "</traceframe-info>\n");
}
