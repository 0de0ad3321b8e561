/* SPDX-License-Identifier: MIT */
/*
 * The registers of a thread at a position: those that are recorded, and of a thread that waits, what its last step wrote.
 */
#include <stdlib.h>
#include <string.h>

#include "chunks.h"
#include "query.h"
#include "recorded_regs.h"
#include "src/arch/operands/operands.h"
#include "src/query/code/decode.h"
#include "snapshot.h"

/*
 * A thread that waits, in recordings that have registers only before instructions (ts_facts.is_before).
 *
 * What a thread's last step before other threads' steps wrote to registers is recorded with the thread's next step.
 * Between the two no instruction of the thread runs, so that the registers of the next step are those after the last one.
 */
struct waiting {
	uint64_t last; /* the thread's last step; TS_NO_POS: it does not wait, and the rest is not set */
	/*
	 * the thread's next step, of which the registers are those after `last`; TS_NO_POS if none is found, or
	 * instructions that were not recorded may have run before it
	 */
	uint64_t next;
	const struct ts_operands *ops; /* of `last`, valid until the next call; NULL: its instruction is not known */
};

/* Can the instruction at @pc be followed by the one at @next? */
static bool leads_to(const struct ts_operands *ops, uint64_t pc, uint64_t next)
{
	uint64_t behind = pc + ops->len;

	if (ops->flow == TS_OP_NEXT)
		return next == behind || (ops->is_repeated && next == pc);
	return ops->flow != TS_OP_BRANCH || !ops->has_target || next == ops->target || next == behind;
}

static bool has_gap(const struct ts_query *q, uint64_t first, uint64_t end)
{
	return ts_query_n_events_below(q, TS_EV_GAP, first) != ts_query_n_events_below(q, TS_EV_GAP, end);
}

/*
 * Does @thread wait at @pos?
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
static bool find_waiting(struct ts_query *q, uint64_t pos, uint32_t thread, struct waiting *w, struct ts_error *err)
{
	const struct ts_world *world = &q->tl->world;
	const struct ts_decoded *d;
	const struct ts_steps *b;
	const struct ts_step *s;

	*w = (struct waiting){ .last = TS_NO_POS, .next = TS_NO_POS };
	if (!q->facts.is_before || !pos || thread == ts_query_thread(q, pos))
		return true;
	w->last = ts_world_prev_step(world, thread, pos - 1, q->snap.n_indexed);
	if (w->last == TS_NO_POS)
		return true;
	d = ts_query_code_aside(q, w->last, err);
	if (!d)
		return false;
	if (!d->is_insn)
		return true;
	w->ops = &d->ops;
	w->next = ts_world_next_step(world, thread, pos, q->snap.n_indexed);
	if (w->next == TS_NO_POS)
		return true;
	s = ts_query_step(q, w->next, &b, err);
	if (s && (has_gap(q, w->last, w->next) || !leads_to(w->ops, d->pc, s->pc)))
		w->next = TS_NO_POS;
	return s != NULL;
}

/* Where a thread is that does not run again; TS_NO_PC if that is not known. */
static uint64_t last_pc(const struct ts_query *q, uint32_t thread)
{
	if (!q->snap.has_end_pc)
		return TS_NO_PC;
	if (thread == ts_query_thread(q, q->snap.end))
		return q->snap.end_pc;
	return ts_query_thread_facts(q, thread)->end_pc;
}

bool ts_query_pc(struct ts_query *q, uint64_t pos, uint32_t thread, uint64_t *pc, bool *has_pc,
		 struct ts_error *err)
{
	const struct ts_steps *b;
	const struct ts_step *s;
	struct waiting w;
	uint64_t step;

	if (!find_waiting(q, pos, thread, &w, err))
		return false;
	step = w.last != TS_NO_POS && w.next == TS_NO_POS ?
		       w.last : ts_world_next_step(&q->tl->world, thread, pos, q->snap.n_indexed);
	if (step != TS_NO_POS) {
		s = ts_query_step(q, step, &b, err);
		if (!s)
			return false;
		*pc = s->pc;
	} else {
		*pc = last_pc(q, thread);
	}
	*has_pc = *pc != TS_NO_PC;
	return true;
}

/* @len bytes at @off of the registers after a waiting thread's last step: those of @next, or unknown if that is NULL. */
static void put_late(uint8_t *data, uint8_t *known, uint32_t off, uint32_t len, const uint8_t *next, uint32_t next_len)
{
	if (next) {
		memcpy(data + off, next + off, len);
		memcpy(known + off, next + next_len + off, len);
	} else {
		memset(data + off, 0, len);
		memset(known + off, 0, len);
	}
}

/* What the flags in @mask are after it. */
static void put_late_flags(const struct ts_regset *set, uint32_t mask, uint32_t len, uint8_t *data, uint8_t *known,
			   const uint8_t *next)
{
	uint32_t off = set->flags < 0 ? len : set->regs[set->flags].off;

	for (unsigned i = 0; i < 4 && off + i < len; i++) {
		uint8_t bits = (uint8_t)(mask >> 8 * (set->arch->is_big_endian ? 3 - i : i)), *byte = data + off + i;
		uint8_t other = (uint8_t)(*byte & ~bits);
		bool was_known = known[off + i];

		if (!bits)
			continue;
		put_late(data, known, off + i, 1, next, len);
		*byte = (uint8_t)((*byte & bits) | other);
		known[off + i] = known[off + i] && was_known;
	}
}

/*
 * The first @len bytes of the registers of @thread but the pc.  Of a thread that waits, what its last step wrote is
 * as its next step has it.
 */
static bool read_all_regs(struct ts_query *q, uint64_t pos, uint32_t thread, uint32_t len, uint8_t *data,
			  uint8_t *known, struct ts_error *err)
{
	const struct ts_regset *set = &q->tl->rec->regs;
	struct waiting w;
	uint8_t *next = NULL;

	if (!ts_recorded_regs(q, pos, thread, len, data, known, err) || !find_waiting(q, pos, thread, &w, err))
		return false;
	if (w.last == TS_NO_POS || !w.ops)
		return true;
	if (w.next != TS_NO_POS) {
		next = malloc(2 * (size_t)len + 1);
		if (!next || !ts_recorded_regs(q, w.next, thread, len, next, next + len, err)) {
			free(next);
			return next ? false : ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for registers");
		}
	}
	if (!w.ops->is_complete)
		put_late(data, known, 0, len, next, len);
	for (unsigned i = 0; i < w.ops->n; i++) {
		const struct ts_op_place *to = &w.ops->transfers[i].to;

		if (to->kind == TS_AT_REG && to->off < len)
			put_late(data, known, to->off, to->len < len - to->off ? to->len : len - to->off, next, len);
		else if (to->kind == TS_AT_FLAGS)
			put_late_flags(set, to->flags, len, data, known, next);
	}
	free(next);
	return true;
}

bool ts_query_regs(struct ts_query *q, uint64_t pos, uint32_t thread, uint8_t *data, uint8_t *known,
		   struct ts_error *err)
{
	uint64_t pc;
	bool has_pc;

	if (!read_all_regs(q, pos, thread, q->tl->rec->regs.g_len, data, known, err) ||
	    !ts_query_pc(q, pos, thread, &pc, &has_pc, err))
		return false;
	ts_recorded_put_pc(q, pc, has_pc, data, known);
	return ts_query_finish_question(q, err);
}

bool ts_query_first_regs(struct ts_query *q, uint64_t pos, uint32_t thread, uint32_t len, uint8_t *data,
			 uint8_t *known, struct ts_error *err)
{
	return read_all_regs(q, pos, thread, len, data, known, err) && ts_query_finish_question(q, err);
}

bool ts_query_reg(struct ts_query *q, uint64_t pos, uint32_t thread, int i, uint64_t *value, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(q);
	const struct ts_reg *reg = i < 0 ? NULL : &set->regs[i];
	uint8_t *g, *known;
	bool is_known;

	if (!reg || reg->len > 8)
		return false;
	g = malloc(2 * (size_t)set->g_len);
	if (!g)
		return ts_no_memory(err, "the registers");
	known = g + set->g_len;
	is_known = ts_query_first_regs(q, pos, thread, reg->off + reg->len, g, known, err) && !memchr(known + reg->off, 0, reg->len);
	if (is_known)
		*value = ts_arch_get(set->arch, g + reg->off, reg->len);
	free(g);
	return is_known;
}
