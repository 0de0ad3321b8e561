/* SPDX-License-Identifier: MIT */
#include "src/ask/verbs/verbs.h"

#include <inttypes.h>
#include <stdio.h>

#include "src/ask/verbs/cells.h"
#include "src/ask/verbs/step_walk.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/state.h"

struct executions {
	struct ts_rows rows;
	struct ts_step_walk walk;
	bool has_row;
};

static const struct ts_column columns[] = {
	{ .name = "position", .type = TS_COLUMN_NUMBER }, { .name = "thread", .type = TS_COLUMN_NUMBER },
	{ .name = "pc", .type = TS_COLUMN_ADDR },	  { .name = "function", .type = TS_COLUMN_TEXT },
	{ .name = "caller", .type = TS_COLUMN_ADDR },
};

static bool put_row(const struct executions *x, uint64_t pos, struct ts_row *row, struct ts_error *err)
{
	uint32_t thread = ts_query_thread(x->rows.ask->q, pos);
	uint64_t pc;
	bool has_pc;

	if (x->rows.is_counting)
		return true;
	if (!ts_query_pc(x->rows.ask->q, pos, thread, &pc, &has_pc, err))
		return false;
	ts_row_number(row, 0, pos);
	ts_cell_thread(row, 1, x->rows.ask, thread);
	ts_row_addr(row, 2, pc);
	ts_cell_function(row, 3, x->rows.ask, pc);
	ts_cell_caller(row, 4, x->rows.ask, pos);
	return true;
}

/* No recorded step executed it, but what was not recorded may have. */
static void note_gaps(struct executions *x)
{
	const struct ts_question *qn = x->rows.qn;
	uint64_t n = ts_query_n_events_below(x->rows.ask->q, TS_EV_GAP, qn->to) -
		     ts_query_n_events_below(x->rows.ask->q, TS_EV_GAP, qn->from);

	if (n && !*x->rows.note)
		snprintf(x->rows.note, sizeof(x->rows.note), "the recording has %" PRIu64 " gap%s here: what ran there is not recorded", n,
			 n == 1 ? "" : "s");
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct executions *x = (struct executions *)rows;
	enum ts_next got = rows->is_counting ? TS_ITEM : ts_ask_need_calls(rows->ask, budget, err);
	uint64_t pos;

	if (got == TS_ITEM)
		got = ts_step_walk_next(&x->walk, &pos, budget, err);
	if (got == TS_END && !x->has_row)
		note_gaps(x);
	x->has_row |= got == TS_ITEM;
	return got != TS_ITEM || put_row(x, pos, row, err) ? got : TS_FAIL;
}

/* The instruction at which the recording ends was not executed: one that killed the program, say, which a call had led to. */
static bool note_end(struct executions *x, struct ts_error *err)
{
	uint64_t end = x->rows.ask->n_steps, pc;
	uint32_t thread = ts_query_thread(x->rows.ask->q, end);
	bool has_pc;

	if (x->walk.to < end || (x->rows.qn->thread != TS_NO_THREAD && x->rows.qn->thread != thread) ||
	    ts_query_process(x->rows.ask->q, thread) != x->walk.process)
		return true;
	if (!ts_query_pc(x->rows.ask->q, end, thread, &pc, &has_pc, err))
		return err->code == TS_OK;
	if (has_pc && pc >= x->walk.ranges->first && pc <= x->walk.ranges->last && !*x->rows.note)
		snprintf(x->rows.note, sizeof(x->rows.note),
			 "the recording ends at 0x%" PRIx64 ", position %" PRIu64 ": that instruction was not executed and is no row", pc, end);
	return true;
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct executions *x = (struct executions *)rows;

	if (!ts_step_walk_init(&x->walk, rows, err))
		return false;
	x->walk.is_of_entry = rows->qn->what.is_function;
	if (x->walk.is_of_entry)
		x->walk.ranges->last = x->walk.ranges->first;
	return note_end(x, err);
}

static void close_executions(struct ts_rows *rows)
{
	ts_step_walk_fini(&((struct executions *)rows)->walk);
}

static const struct ts_rows_ops ops = { sizeof(struct executions), begin, next, close_executions };

const struct ts_verb ts_verb_executions = {
	.name = "executions",
	.synopsis = "WHAT",
	.help = "List every execution of an instruction or of those in a range.",
	.example = "executions 0x401000 first 10",
	TS_COLUMNS(columns),
	.operand = TS_OPERAND_MEMORY,
	.takes = TS_TAKES_MACHINE | TS_TAKES_RANGE | TS_TAKES_STATE | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT,
	.is_reversible = true,
	.is_counted = true,
	.rows = &ops,
};
