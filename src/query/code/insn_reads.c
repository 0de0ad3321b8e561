/* SPDX-License-Identifier: MIT */
#include "insn_reads.h"

#include <string.h>

#include "src/query/paging.h"
#include "src/query/query.h"
#include "src/query/snapshot.h"

bool ts_query_infers_reads(const struct ts_query *q)
{
	const struct ts_facts *f = ts_query_facts(q);

	return (!f->has_reads || f->misses_reads) && !q->tl->has_no_reads && !f->has_long_steps && ts_query_has_operands(q);
}

const char *ts_query_lacking_reads(const struct ts_query *q)
{
	const struct ts_facts *f = ts_query_facts(q);

	if (!f->has_reads)
		return "reads of memory are";
	return f->misses_reads ? "reads by vector, floating-point and atomic instructions are" : "";
}

struct range {
	uint64_t first, last;
};

/* An instruction at its step. */
struct work {
	struct ts_query *q;
	uint64_t pos;
	uint32_t thread;
	struct ts_operands ops;
	struct ts_op_state state;
	uint64_t n_turns; /* how often a repeated instruction ran */
	bool is_down;     /* ... towards lower addresses */
	uint32_t process;
	struct range recorded[TS_MAX_INSN_READS]; /* reads that the recording has already */
	unsigned n_recorded;
	bool is_call; /* memory may have changed unseen: the system ran */
	struct ts_insn_reads *r;
	struct ts_error *err;
	bool is_failed;
};

/* By how much the count went down; without the count only that it ran, if that. */
static bool count_turns(struct work *w, struct ts_error *err)
{
	const struct ts_arch *arch = w->state.arch;
	unsigned len = w->ops.cond_len < 8 ? w->ops.cond_len : 8;
	uint16_t flags = w->state.flags_off;
	struct ts_op_state after;
	uint64_t before;
	bool has_count = !memchr(w->state.known + w->ops.cond_off, 0, len);

	w->n_turns = 1;
	if (!w->ops.is_repeated)
		return true;
	before = ts_arch_get(arch, w->state.g + w->ops.cond_off, len);
	if (flags != TS_NO_OFF16 && w->state.known[flags + 1])
		w->is_down = w->state.g[flags + 1] >> 2 & 1;
	else
		w->r->is_open = true;
	if (!ts_query_op_state(w->q, w->pos + 1, w->thread, &after, err))
		return false;
	has_count &= !memchr(after.known + w->ops.cond_off, 0, len);
	if (has_count)
		w->n_turns = before - ts_arch_get(arch, after.g + w->ops.cond_off, len);
	if (!has_count || w->n_turns > before) {
		w->r->is_open = true;
		w->n_turns = 1;
	}
	return ts_query_op_state(w->q, w->pos, w->thread, &w->state, err);
}

static void add_range(struct work *w, uint64_t first, uint64_t last)
{
	if (w->r->n == TS_MAX_INSN_READS) {
		w->r->is_open = true;
		return;
	}
	w->r->items[w->r->n].first = first;
	w->r->items[w->r->n++].last = last;
}

/* Add the parts of the range that are not recorded, leaving out the first @at recorded reads. */
static void add_unrecorded(struct work *w, unsigned at, uint64_t first, uint64_t last)
{
	for (; at < w->n_recorded; at++) {
		const struct range *r = &w->recorded[at];

		if (r->first > last || r->last < first)
			continue;
		if (first < r->first)
			add_unrecorded(w, at + 1, first, r->first - 1);
		if (last <= r->last)
			return;
		first = r->last + 1;
	}
	add_range(w, first, last);
}

/* Of a machine: page by page, as its tables are at the step. */
static void add_virtual(struct work *w, uint64_t first, uint64_t last)
{
	struct ts_translation t;

	for (uint64_t at = first, end;; at = end + 1) {
		if (!ts_translate_at(w->q, w->pos, w->process, at, &t, w->err)) {
			w->is_failed = true;
			return;
		}
		end = t.mapping == TS_MAPPED ? at | (t.page_len - 1) : last;
		end = end < last ? end : last;
		if (t.mapping == TS_MAPPED)
			add_range(w, t.phys, t.phys + (end - at));
		else
			w->r->is_open = true;
		if (end == last || w->r->n == TS_MAX_INSN_READS)
			return;
	}
}

static void add(struct work *w, unsigned mem, unsigned off, unsigned len)
{
	uint64_t addr, size = w->ops.mem[mem].size, n = len;

	if (!len || !w->n_turns)
		return;
	if (w->is_failed)
		return;
	if (!ts_operands_addr(&w->ops, mem, &w->state, &addr)) {
		w->r->is_open = true;
		return;
	}
	addr += off;
	if (w->ops.is_repeated && size) {
		addr -= w->is_down ? (w->n_turns - 1) * size : 0;
		n = w->n_turns * size;
	}
	if (n - 1 > UINT64_MAX - addr)
		n = UINT64_MAX - addr + 1;
	if (ts_paging_is_known(w->q))
		add_virtual(w, addr, addr + (n - 1));
	else
		add_unrecorded(w, 0, addr, addr + (n - 1));
}

/* Has the instruction an operand in memory that no transfer names?  It is read, if it is not a hint: ldmxcsr. */
static void add_unnamed(struct work *w, uint32_t named)
{
	for (unsigned i = 0; i < w->ops.n_mem; i++) {
		if (!(named >> i & 1) && w->ops.reads_unnamed)
			add(w, i, 0, w->ops.mem[i].size);
	}
}

static void add_all(struct work *w, enum ts_op_happens happens)
{
	uint32_t named = 0;

	for (unsigned i = 0; i < w->ops.n; i++) {
		const struct ts_transfer *t = &w->ops.transfers[i];

		if (t->to.kind == TS_AT_MEM)
			named |= UINT32_C(1) << t->to.mem;
		if (t->from.kind != TS_AT_MEM)
			continue;
		named |= UINT32_C(1) << t->from.mem;
		if (t->is_conditional && happens != TS_HAPPENS)
			w->r->is_open |= happens == TS_MAY_HAPPEN;
		else
			add(w, t->from.mem, t->from.off, t->from.len);
	}
	add_unnamed(w, named);
}

/*
 * The reads that the recording has of the step: *n_bytes gets how many bytes they are, UINT64_MAX
 * if they are too many to be listed.
 */
static bool take_recorded(struct work *w, uint64_t *n_bytes)
{
	const struct ts_steps *b;
	const struct ts_step *st;
	struct ts_step_effects all;
	const struct ts_effect *e;

	*n_bytes = 0;
	st = ts_query_step(w->q, w->pos, &b, w->err);
	if (!st)
		return false;
	all = ts_step_effects(b, st);
	while ((e = ts_step_effects_next(&all)) && all.thread == w->thread) {
		w->is_call |= e->kind == TS_FX_UNSEEN;
		if (e->kind != TS_FX_READ || e->is_hidden)
			continue;
		if (w->n_recorded == TS_MAX_INSN_READS) {
			*n_bytes = UINT64_MAX;
			return true;
		}
		w->recorded[w->n_recorded++] = (struct range){ e->addr, e->addr + (e->len - 1) };
		*n_bytes += e->len;
	}
	return true;
}

/*
 * Find the reads of a step whose code is unknown.  A recording that lacks reads has the reads of branches and
 * of instructions of which it has at least one read.  An instruction after which another one than the
 * following is executed is a branch.  The instructions of system calls do not read memory.
 */
static bool find_open(struct work *w, uint64_t n_recorded)
{
	uint64_t next = ts_query_next_step(w->q, w->thread, w->pos + 1), pc;
	const struct ts_steps *b;
	const struct ts_step *st = ts_query_step(w->q, w->pos, &b, w->err);

	w->r->is_open = !n_recorded && !w->is_call && next == TS_NO_POS;
	if (!st)
		return false;
	if (w->r->is_open || n_recorded || w->is_call)
		return true;
	pc = st->pc;
	st = ts_query_step(w->q, next, &b, w->err);
	w->r->is_open = st && st->pc - pc - 1 < TS_MAX_INSN;
	return st;
}

/* The reads of the step; without those that are recorded, if the recording has some of them (@is_rest). */
static bool find_reads(struct ts_query *q, uint64_t pos, bool is_rest, struct ts_insn_reads *r, struct ts_error *err)
{
	struct work w = { .q = q, .pos = pos, .thread = ts_query_thread(q, pos), .r = r, .err = err };
	const struct ts_decoded *d;
	enum ts_op_happens happens;
	uint64_t n_recorded = 0;

	r->n = 0;
	d = !is_rest || take_recorded(&w, &n_recorded) ? ts_query_insn(q, pos, err) : NULL;
	if (!d)
		return false;
	r->is_open = !d->is_insn && !d->is_stopped && !is_rest;
	if (!d->is_insn)
		return !is_rest || d->is_stopped || find_open(&w, n_recorded);
	if (n_recorded >= d->n_read)
		return true;
	w.ops = d->ops;
	w.process = ts_query_process(q, w.thread);
	if (!ts_query_op_state(q, pos, w.thread, &w.state, err) || !count_turns(&w, err))
		return false;
	happens = w.ops.condition == TS_IF_ALWAYS ? TS_HAPPENS : ts_operands_happen(&w.ops, &w.state);
	add_all(&w, happens);
	return !w.is_failed;
}

bool ts_query_insn_reads(struct ts_query *q, uint64_t pos, struct ts_insn_reads *r, struct ts_error *err)
{
	return find_reads(q, pos, false, r, err);
}

bool ts_query_unrecorded_reads(struct ts_query *q, uint64_t pos, struct ts_insn_reads *r, struct ts_error *err)
{
	return find_reads(q, pos, ts_query_facts(q)->has_reads, r, err);
}
