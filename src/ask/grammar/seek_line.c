/* SPDX-License-Identifier: MIT */
#include "seek_line.h"

#include "src/query/call_list.h"
#include "src/search/budget.h"
#include "src/symbols/symbols.h"
#include "state.h"

/* Positions that take as long as what one of the budget is. */
#define STEPS_A_BUDGET 128u

/* The activation of a function: the call that began it; the outermost one has none. */
struct activation {
	struct ts_call call;
	bool has_call;
};

static struct activation activation_at(struct ts_query *q, uint32_t thread, uint64_t pos)
{
	struct activation a;

	a.has_call = ts_query_innermost_call(q, thread, pos, &a.call);
	return a;
}

static bool is_same(const struct activation *a, const struct activation *b)
{
	return a->has_call == b->has_call && (!a->has_call || a->call.ordinal == b->call.ordinal);
}

/*
 * The thread's position before @pos in the same activation: before a call that returned, where it was made.  TS_NO_POS if the
 * activation, or the recording of the thread, begins here; *caller gets the call's position then, or TS_NO_POS.
 */
static uint64_t before(struct ts_query *q, uint32_t thread, uint64_t pos, const struct activation *own, uint64_t *caller)
{
	uint64_t step = pos ? ts_query_prev_step(q, thread, pos - 1) : TS_NO_POS;
	struct activation a;

	*caller = TS_NO_POS;
	if (step == TS_NO_POS)
		return TS_NO_POS;
	if (own->has_call && step <= own->call.pos) {
		*caller = own->call.pos;
		return TS_NO_POS;
	}
	for (a = activation_at(q, thread, step); a.has_call && !is_same(&a, own);) {
		step = a.call.pos;
		a.has_call = ts_query_outer_call(q, &a.call);
	}
	return step;
}

static const struct ts_code_line *line_at(struct ts_ask *ask, uint32_t thread, uint64_t pos, struct ts_error *err)
{
	uint64_t pc;
	bool has_pc;

	if (!ts_query_pc(ask->q, pos, thread, &pc, &has_pc, err) || !has_pc)
		return NULL;
	return ts_code_lines_at(ts_symbols_lines(ask->symbols), pc);
}

static bool is_same_line(const struct ts_code_line *a, const struct ts_code_line *b)
{
	return a && b && a->file == b->file && a->line == b->line;
}

enum ts_got ts_seek_line(struct ts_line_search *s, struct ts_ask *ask, uint64_t here, struct ts_budget *budget, uint64_t *pos,
			 struct ts_error *err)
{
	enum ts_got got = ts_ask_need_calls(ask, budget, err);
	uint32_t thread = ts_query_thread(ask->q, here);
	struct ts_query *q = ask->q;
	struct activation own;

	if (got != TS_GOT_ROW || !ask->symbols)
		return got;
	if (!s->has_begun)
		s->at = here;
	if (!s->has_begun)
		s->line = line_at(ask, thread, here, err);
	s->has_begun = true;
	own = activation_at(q, thread, s->at);
	for (unsigned n = 1; err->code == TS_OK; n++) {
		uint64_t caller, prev = before(q, thread, s->at, &own, &caller);
		const struct ts_code_line *line;
		bool is_out;

		if (n % STEPS_A_BUDGET == 0 && !ts_budget_take(budget))
			return TS_GOT_PENDING;
		if (prev == TS_NO_POS && caller == TS_NO_POS)
			break;
		is_out = prev == TS_NO_POS;
		prev = is_out ? caller : prev;
		line = line_at(ask, thread, prev, err);
		if (line && !is_same_line(line, s->line) && !is_out && s->at != here)
			break;
		if (is_out) /* gdb does not stop at the first instruction of a function: it goes on to the line of the call */
			own = activation_at(q, thread, caller);
		if (line)
			s->line = line;
		s->at = prev;
	}
	if (err->code != TS_OK)
		return TS_GOT_FAIL;
	if (s->at != here)
		*pos = s->at;
	return TS_GOT_ROW;
}
