/* SPDX-License-Identifier: MIT */
#include "call_list.h"

#include "src/query/snapshot.h"
#include "src/timeline/backfill.h"

enum ts_next ts_query_need_calls(struct ts_query *q, uint64_t n_steps, struct ts_error *err)
{
	if (ts_timeline_has(q->tl, &ts_calls_section))
		return TS_END;
	if (q->tl->builder) {
		ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			"an older version began the index, without calls; they are known when the recording has been read to its "
			"end");
		return TS_FAIL;
	}
	return ts_timeline_fill(q->tl, &ts_calls_section, n_steps, err);
}

uint32_t ts_query_n_calls(struct ts_query *q, uint32_t thread)
{
	return ts_query_n_calls_before(q, thread, q->snap.end);
}

/* Events after the snapshot are not known yet.  A forged index may put a call there. */
static void clip(const struct ts_query *q, struct ts_call *call)
{
	if (call->pos >= q->snap.end)
		call->kind = TS_CALL_SWITCH; /* no call */
	if (call->kind == TS_CALL_SWITCH || call->end == TS_NO_END || call->end <= q->snap.end)
		return;
	call->end = TS_NO_END;
	call->kind = TS_CALL_OPEN;
}

uint32_t ts_query_call_block(const struct ts_query *q, uint32_t thread, uint32_t ordinal,
			     struct ts_call *calls)
{
	uint32_t n = ts_calls_block(q->tl->calls, thread, ordinal, calls);

	for (uint32_t i = 0; i < n; i++)
		clip(q, &calls[i]);
	return n;
}

uint32_t ts_query_n_calls_before(struct ts_query *q, uint32_t thread, uint64_t pos)
{
	uint32_t last = ts_calls_before(q->tl->calls, &q->calls, thread, pos < q->snap.end ? pos : q->snap.end);

	return last == TS_NO_CALL ? 0 : last + 1;
}

uint64_t ts_query_next_return(const struct ts_query *q, uint64_t pos)
{
	uint64_t limit = q->snap.end + 1, best = TS_NO_POS;

	for (uint32_t i = 0; i < ts_calls_n_threads(q->tl->calls); i++) {
		uint64_t end = ts_calls_next_return(q->tl->calls, i, pos, limit);

		if (end < limit)
			best = limit = end;
	}
	return best;
}

uint64_t ts_query_prev_return(const struct ts_query *q, uint64_t pos)
{
	uint64_t best = TS_NO_POS;

	for (uint32_t i = 0; i < ts_calls_n_threads(q->tl->calls); i++) {
		uint64_t end = ts_calls_prev_return(q->tl->calls, i, pos);

		if (end != TS_NO_END && (best == TS_NO_POS || end > best))
			best = end;
	}
	return best;
}

/* Is the delay slot of the call the instruction at @pos?  It is an instruction of the caller. */
static bool is_in_slot(struct ts_query *q, const struct ts_call *call, uint64_t pos)
{
	struct ts_error ignored = { 0 };
	uint64_t pc;
	bool has_pc;

	return ts_query_regset(q)->arch->has_delay_slots && pos == call->pos + 1 &&
	       ts_query_pc(q, pos, call->thread, &pc, &has_pc, &ignored) && has_pc && pc != call->target;
}

bool ts_query_innermost_call(struct ts_query *q, uint32_t thread, uint64_t pos, struct ts_call *call)
{
	if (!ts_calls_innermost(q->tl->calls, &q->calls, thread, pos, call))
		return false;
	clip(q, call);
	return !is_in_slot(q, call, pos) || ts_query_outer_call(q, call);
}

bool ts_query_outer_call(struct ts_query *q, struct ts_call *call)
{
	if (!ts_calls_outer(q->tl->calls, &q->calls, call))
		return false;
	clip(q, call);
	return true;
}
