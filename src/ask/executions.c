/* SPDX-License-Identifier: MIT */
#include "executions.h"

#include <stdlib.h>

#include "cells.h"
#include "question.h"
#include "state.h"
#include "step_walk.h"
#include "verb.h"

struct executions {
	struct ts_rows rows;
	struct ts_ask *ask;
	const struct ts_question *qn;
	struct ts_step_walk walk;
	struct ts_judged judged;
	uint64_t pos;          /* the hit that is being judged; TS_NO_POS: none is */
};

static const struct ts_column columns[] = {
	{ .name = "position", .type = TS_COLUMN_NUMBER }, { .name = "thread", .type = TS_COLUMN_NUMBER },
	{ .name = "pc", .type = TS_COLUMN_ADDR },	  { .name = "function", .type = TS_COLUMN_TEXT },
	{ .name = "caller", .type = TS_COLUMN_ADDR },
};

static bool put_row(const struct executions *x, uint64_t pos, struct ts_row *row, struct ts_error *err)
{
	uint32_t thread = ts_query_thread(x->ask->q, pos);
	uint64_t pc;
	bool has_pc;

	if (x->rows.is_counting)
		return true;
	if (!ts_query_pc(x->ask->q, pos, thread, &pc, &has_pc, err))
		return false;
	ts_row_number(row, 0, pos);
	ts_cell_thread(row, 1, x->ask, thread);
	ts_row_addr(row, 2, pc);
	ts_cell_function(row, 3, x->ask, pc);
	ts_cell_caller(row, 4, x->ask, pos);
	return true;
}

static enum ts_got next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			struct ts_error *err)
{
	struct executions *x = (struct executions *)rows;
	bool needs_calls = !rows->is_counting || x->qn->cond.has_addresses, holds = true;
	enum ts_got got = needs_calls ? ts_ask_need_calls(x->ask, budget, err) : TS_GOT_ROW;

	while (got == TS_GOT_ROW) {
		uint64_t pos;

		if (x->pos == TS_NO_POS)
			got = ts_step_walk_next(&x->walk, &x->pos, budget);
		if (got != TS_GOT_ROW)
			return got;
		pos = x->pos;
		rows->at = pos;
		if (x->qn->cond.n)
			got = ts_state_holds(x->ask, &x->qn->cond, pos, ts_query_thread(x->ask->q, pos),
					     &x->judged, &holds, budget, err);
		if (got != TS_GOT_ROW)
			return got;
		x->pos = TS_NO_POS;
		if (holds)
			return put_row(x, pos, row, err) ? TS_GOT_ROW : TS_GOT_FAIL;
	}
	return got;
}

static void close_executions(struct ts_rows *rows)
{
	free(rows);
}

static const struct ts_rows_ops ops = { .next = next, .close = close_executions };

static struct ts_rows *open_executions(struct ts_ask *ask, const struct ts_question *qn, bool is_reverse,
				       struct ts_error *err)
{
	struct executions *x = calloc(1, sizeof(*x));

	if (!x) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
		return NULL;
	}
	x->rows = (struct ts_rows){ .ops = &ops, .is_reverse = is_reverse, .go = TS_NO_POS };
	x->ask = ask;
	x->qn = qn;
	x->pos = TS_NO_POS;
	ts_step_walk_init(&x->walk, ask, qn, is_reverse);
	if (qn->what.is_function)
		x->walk.last = qn->what.addr;
	return &x->rows;
}

const struct ts_verb ts_verb_executions = {
	.name = "executions",
	.synopsis = "WHAT",
	.help = "List every execution of an instruction or of those in a range.",
	.example = "executions 0x401000 first 10",
	.columns = columns,
	.n_columns = sizeof(columns) / sizeof(columns[0]),
	.operand = TS_OPERAND_MEMORY,
	.takes = TS_TAKES_RANGE | TS_TAKES_STATE | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT,
	.is_reversible = true,
	.is_counted = true,
	.open = open_executions,
};
