/* SPDX-License-Identifier: MIT */
#include "frame_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "src/query/paging.h"
#include "src/query/code/thumb.h"

/* The longest 'M' block. */
#define MAX_BLOCK 65535u

/* A frame's header: its length is filled in at the end. */
#define NUMBER_LEN 2
#define HEADER_LEN 6

/* What is written, and its reader. */
struct writer {
	struct ts_query *q;
	const struct ts_arch *arch;
	const struct ts_frame *f;
	struct ts_buf *out;
	struct ts_error *err;
};

static void put(struct writer *w, uint64_t value, size_t len)
{
	uint8_t bytes[8];

	ts_arch_put(w->arch, bytes, len, value);
	ts_buf_put(w->out, bytes, len);
}

bool ts_frame_fill_regs(struct ts_query *q, uint64_t pos, uint8_t *data, const uint8_t *known,
			struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(q);
	const struct ts_reg *flags = set->flags >= 0 ? &set->regs[set->flags] : NULL;
	bool is_thumb;

	for (uint32_t i = 0; i < set->g_len; i++)
		data[i] = known[i] ? data[i] : 0;
	if (!set->arch->has_thumb || !flags || known[flags->off])
		return true;
	if (!ts_thumb_at(q, pos, ts_query_thread(q, pos), &is_thumb, err))
		return false;
	ts_arch_put(set->arch, data + flags->off, flags->len, is_thumb ? TS_THUMB_BIT : 0);
	return true;
}

static bool put_regs(struct writer *w)
{
	uint32_t len = ts_query_regset(w->q)->g_len;
	uint8_t *known = malloc((size_t)len + 1);
	bool done = false;

	ts_buf_putc(w->out, 'R');
	if (known && ts_buf_room(w->out, len)) {
		uint8_t *data = ts_buf_add(w->out, len);

		done = ts_query_regs(w->q, w->f->pos, ts_query_thread(w->q, w->f->pos), data, known, w->err);
		done = done && ts_frame_fill_regs(w->q, w->f->pos, data, known, w->err);
	} else {
		ts_no_memory(w->err, "a trace frame");
	}
	free(known);
	return done;
}

/* Blocks for what is known of @len bytes. */
static void put_known(struct writer *w, uint64_t addr, const uint8_t *data, const uint8_t *known, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		for (n = 1; i + n < len && known[i + n] == known[i];)
			n++;
		if (!known[i])
			continue;
		ts_buf_putc(w->out, 'M');
		put(w, ts_arch_wide_addr(w->arch, addr + i), 8);
		put(w, n, 2);
		ts_buf_put(w->out, data + i, n);
	}
}

static bool put_range(struct writer *w, struct ts_range range)
{
	uint32_t process = ts_query_process(w->q, ts_query_thread(w->q, w->f->pos));
	uint8_t *bytes = malloc(2 * MAX_BLOCK);
	bool done = bytes || ts_no_memory(w->err, "a trace frame");

	for (uint64_t i = 0, n; done && i < range.len; i += n) {
		n = range.len - i < MAX_BLOCK ? range.len - i : MAX_BLOCK;
		done = ts_virtual_mem(w->q, w->f->pos, process, range.addr + i, (size_t)n, bytes, bytes + n,
				      w->err);
		if (done)
			put_known(w, range.addr + i, bytes, bytes + n, (size_t)n);
	}
	free(bytes);
	return done;
}

static bool is_access(const struct ts_effect *e)
{
	return (ts_effect_is_access(e, false) || ts_effect_is_access(e, true)) && e->len <= MAX_BLOCK;
}

/* The step's instruction, and what it accessed; a debugger cannot use physical addresses. */
static bool put_step(struct writer *w)
{
	bool is_physical = ts_query_facts(w->q)->is_physical;
	struct ts_frame ranges;
	const struct ts_steps *b;
	const struct ts_step *s;
	bool done = true;

	if (w->f->pos == ts_query_n_steps(w->q))
		return true;
	s = ts_query_step(w->q, w->f->pos, &b, w->err);
	if (!s)
		return false;
	ts_frame_init(&ranges); /* the next question reuses the batch */
	if (s->pc != TS_NO_PC)
		ts_frame_add_range(&ranges, s->pc, s->insn_len);
	for (uint32_t i = 0; !is_physical && i < s->n_effects; i++) {
		const struct ts_effect *e = &b->effects[s->first + i];

		if (is_access(e))
			ts_frame_add_range(&ranges, e->addr, e->len);
	}
	if (ranges.is_failed)
		done = ts_no_memory(w->err, "a trace frame");
	for (size_t i = 0; done && i < ranges.n_ranges; i++)
		done = put_range(w, ranges.ranges[i]);
	ts_frame_fini(&ranges);
	return done;
}

static bool put_blocks(struct writer *w)
{
	if (w->f->has_regs && !put_regs(w))
		return false;
	if (w->f->is_whole && !put_step(w))
		return false;
	for (size_t i = 0; i < w->f->n_ranges; i++) {
		if (!put_range(w, w->f->ranges[i]))
			return false;
	}
	for (size_t i = 0; i < w->f->n_vars; i++) {
		ts_buf_putc(w->out, 'V');
		put(w, w->f->vars[i].number, 4);
		put(w, (uint64_t)w->f->vars[i].value, 8);
	}
	return true;
}

bool ts_frame_bytes(struct ts_query *q, const struct ts_frame *f, struct ts_buf *out, struct ts_error *err)
{
	struct writer w = { q, ts_query_regset(q)->arch, f, out, err };
	size_t start = out->len;

	put(&w, f->tracepoint, NUMBER_LEN);
	put(&w, 0, HEADER_LEN - NUMBER_LEN);
	if (!put_blocks(&w))
		return false;
	if (!ts_buf_ok(out))
		return ts_no_memory(err, "a trace frame");
	ts_arch_put(w.arch, out->data + start + NUMBER_LEN, HEADER_LEN - NUMBER_LEN,
		    out->len - start - HEADER_LEN);
	return true;
}
