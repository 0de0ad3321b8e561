/* SPDX-License-Identifier: MIT */
#include "waiting.h"

#include "insns.h"
#include "snapshot.h"

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

bool ts_waiting_find(struct ts_query *q, uint64_t pos, uint32_t thread, struct ts_waiting *w, struct ts_error *err)
{
	const struct ts_world *world = &q->tl->world;
	const struct ts_decoded *d;
	const struct ts_steps *b;
	const struct ts_step *s;

	*w = (struct ts_waiting){ .last = TS_NO_POS, .next = TS_NO_POS };
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
