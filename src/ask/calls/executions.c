/* SPDX-License-Identifier: MIT */
#include "src/ask/verbs/verbs.h"

#include <inttypes.h>
#include <stdio.h>

#include <stdlib.h>

#include "ifunc.h"
#include "src/ask/verbs/cells.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/state.h"

/* Look-ups in the index that take as long as a chunk that is decoded. */
#define LOOKUPS_A_CHUNK 32u

struct executions {
	struct ts_rows rows;
	uint32_t process;
	struct ts_what what;   /* an indirect function that is to be resolved */
	uint64_t first, last;  /* addresses */
	uint64_t from, to;     /* positions that are left to look at: from <= k < to */
	unsigned n_lookups;
	struct ts_judged judged;
	uint64_t pos;          /* the hit that is being judged; TS_NO_POS: none is */
	bool is_dense;         /* the last two hits were near each other */
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

/*
 * After a hit so many steps are looked at before the index is asked again: of a wide range most steps are
 * hits.
 */
#define NEAR_STEPS 16u

/*
 * The nearest hit among the next few steps; TS_NO_POS: none of them is one, or the index is to be asked
 * anyway.
 */
static uint64_t find_near(const struct executions *x)
{
	const struct ts_query *q = x->rows.ask->q;
	uint64_t n = x->to - x->from < NEAR_STEPS ? x->to - x->from : NEAR_STEPS;
	const struct ts_steps *batch;
	struct ts_error ignored;

	ts_error_reset(&ignored);
	for (uint64_t i = 0; x->is_dense && i < n; i++) {
		uint64_t pos = x->rows.is_reverse ? x->to - 1 - i : x->from + i;
		const struct ts_step *s = ts_query_step(x->rows.ask->q, pos, &batch, &ignored);

		if (!s)
			return TS_NO_POS;
		if (s->pc != TS_NO_PC && s->pc >= x->first && s->pc <= x->last &&
		    ts_query_process(q, s->thread) == x->process)
			return pos;
	}
	return TS_NO_POS;
}

/* The next position in the direction of the cursor, TS_NO_POS after the last. */
static uint64_t find(struct executions *x)
{
	uint64_t pos, from = x->from, to = x->to;

	if (x->from >= x->to)
		return TS_NO_POS;
	pos = find_near(x);
	if (pos == TS_NO_POS) {
		pos = ts_query_find_execution(x->rows.ask->q, x->process, x->first, x->last,
					      x->rows.is_reverse ? to - 1 : from, x->rows.is_reverse);
		if (pos == TS_NO_POS || pos < from || pos >= to)
			return TS_NO_POS;
		x->is_dense = x->rows.is_reverse ? to - pos <= NEAR_STEPS : pos - from < NEAR_STEPS;
	}
	*(x->rows.is_reverse ? &x->to : &x->from) = x->rows.is_reverse ? pos : pos + 1;
	x->rows.at = pos;
	return pos;
}

/* The executions of an indirect function are those of the function that runs. */
static enum ts_next resolve(struct executions *x, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got = ts_ifunc_resolve(x->rows.ask, &x->what, x->rows.note, budget, err);

	if (got == TS_MORE || got == TS_FAIL)
		return got;
	x->what.is_indirect = false;
	x->first = x->last = x->what.addr;
	return TS_ITEM;
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct executions *x = (struct executions *)rows;
	bool needs_calls = !rows->is_counting || x->rows.qn->cond.has_addresses, holds = true;
	enum ts_next got = x->what.is_indirect ? resolve(x, budget, err) : TS_ITEM;

	if (got != TS_ITEM)
		return got;
	got = needs_calls ? ts_ask_need_calls(x->rows.ask, budget, err) : TS_ITEM;

	while (got == TS_ITEM) {
		uint64_t pos;

		if (x->n_lookups++ % LOOKUPS_A_CHUNK == 0 && !ts_budget_take(budget)) {
			x->n_lookups = 0;
			return TS_MORE;
		}
		if (x->pos == TS_NO_POS)
			x->pos = find(x);
		if (x->pos == TS_NO_POS)
			return TS_END;
		pos = x->pos;
		if (x->rows.qn->thread != TS_NO_THREAD && x->rows.qn->thread != ts_query_thread(x->rows.ask->q, pos)) {
			x->pos = TS_NO_POS;
			continue;
		}
		if (x->rows.qn->cond.n)
			got = ts_state_holds(x->rows.ask, &x->rows.qn->cond, pos, ts_query_thread(x->rows.ask->q, pos),
					     &x->judged, &holds, budget, err);
		if (got != TS_ITEM)
			return got;
		x->pos = TS_NO_POS;
		if (holds)
			return put_row(x, pos, row, err) ? TS_ITEM : TS_FAIL;
	}
	return got;
}

/* The instruction at which the recording ends was not executed: one that killed the program, say, which a call had led to. */
static bool note_end(struct executions *x, struct ts_error *err)
{
	uint64_t end = x->rows.ask->n_steps, pc;
	uint32_t thread = ts_query_thread(x->rows.ask->q, end);
	bool has_pc;

	if (x->to < end || (x->rows.qn->thread != TS_NO_THREAD && x->rows.qn->thread != thread) ||
	    ts_query_process(x->rows.ask->q, thread) != x->process)
		return true;
	if (!ts_query_pc(x->rows.ask->q, end, thread, &pc, &has_pc, err))
		return err->code == TS_OK;
	if (has_pc && pc >= x->first && pc <= x->last && !*x->rows.note)
		snprintf(x->rows.note, sizeof(x->rows.note),
			 "the recording ends at 0x%" PRIx64 ", position %" PRIu64 ": that instruction was not executed and is no row", pc, end);
	return true;
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct executions *x = (struct executions *)rows;
	const struct ts_question *qn = rows->qn;

	x->process = ts_ask_process(rows->ask, qn);
	x->what = qn->what;
	x->first = qn->what.addr;
	x->last = qn->what.is_function ? qn->what.addr : qn->what.last;
	x->pos = TS_NO_POS;
	x->from = qn->from;
	x->to = qn->to < rows->ask->n_steps ? qn->to : rows->ask->n_steps;
	return note_end(x, err);
}

static const struct ts_rows_ops ops = { sizeof(struct executions), begin, next, NULL };

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
