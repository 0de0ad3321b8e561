/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "calls_parts.h"
#include "entries.h"
#include "src/ask/verbs/code_places.h"
#include "src/ask/verbs/verbs.h"
#include "src/query/search/call_list.h"
#include "src/query/code/handlers.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/state.h"
#include "src/symbols/symbols.h"

#define FRAMES_A_CHUNK 64u

struct stack {
	struct ts_rows rows;
	struct ts_code_places *code; /* owned */
	uint32_t thread;
	uint64_t depth; /* of the next row */
	bool has_call;  /* the next row is this call ... */
	struct ts_call call;
	bool has_handler; /* ... or this handler of a signal, if it began later */
	struct ts_handler handler;
	bool is_interrupted; /* the next row is what the handler interrupted */
};

enum column {
	COL_DEPTH,
	COL_POSITION,
	COL_PC,
	COL_MODULE,
	COL_FUNCTION = COL_MODULE + 2,
};

static const struct ts_column columns[] = {
	[COL_DEPTH] = { .name = "depth", .type = TS_COLUMN_NUMBER },
	[COL_POSITION] = { .name = "position", .type = TS_COLUMN_NUMBER },
	TS_CODE_COLUMNS(COL_PC),
};

static void put_row(struct stack *x, uint64_t pos, uint64_t pc, bool has_pc, struct ts_row *row, struct ts_budget *budget)
{
	ts_row_number(row, COL_DEPTH, x->depth++);
	ts_row_number(row, COL_POSITION, pos);
	if (has_pc) {
		ts_row_addr(row, COL_PC, pc);
		ts_code_places_module(x->code, row, COL_MODULE, pos, ts_query_process(x->rows.ask->q, x->thread), pc, budget);
		ts_code_places_line(x->code, row, COL_FUNCTION, pc);
	}
	x->rows.at = pos;
}

/* Is the thread in a handler of a signal at @pos?  Returns TS_ITEM when that is known. */
static enum ts_next look_for_handler(struct stack *x, uint64_t pos, struct ts_error *err)
{
	x->has_handler = ts_query_handler_at(x->rows.ask->q, x->thread, pos, &x->handler, err);
	return err->code == TS_OK ? TS_ITEM : TS_FAIL;
}

/* Depth 0: the position itself. */
static enum ts_next put_here(struct stack *x, struct ts_row *row, struct ts_budget *budget, struct ts_error *err)
{
	uint64_t pc;
	bool has_pc;

	if (!ts_query_pc(x->rows.ask->q, x->rows.qn->at, x->thread, &pc, &has_pc, err))
		return TS_FAIL;
	put_row(x, x->rows.qn->at, pc, has_pc, row, budget);
	x->has_call = ts_query_innermost_call(x->rows.ask->q, x->thread, x->rows.qn->at, &x->call);
	return look_for_handler(x, x->rows.qn->at, err);
}

/* A row for the frame that the system put between the handler and the function that it interrupted. */
static enum ts_next put_signal(struct stack *x, struct ts_row *row, struct ts_budget *budget)
{
	put_row(x, x->handler.pos, 0, false, row, budget);
	ts_row_text(row, COL_FUNCTION, "signal");
	x->is_interrupted = true;
	return TS_ITEM;
}

/*
 * The interrupted function: where the thread went on when the handler was over; if it never was, its last instruction
 * before the signal.
 */
static enum ts_next put_interrupted(struct stack *x, struct ts_row *row, struct ts_budget *budget, struct ts_error *err)
{
	struct ts_query *q = x->rows.ask->q;
	uint64_t at = x->handler.interrupted, pos = x->handler.back == TS_NO_POS ? at : x->handler.back, pc;
	bool has_pc, is_call;

	if (!ts_query_pc(q, pos, x->thread, &pc, &has_pc, err))
		return TS_FAIL;
	put_row(x, at, pc, has_pc, row, budget);
	x->is_interrupted = false;
	is_call = ts_query_innermost_call(q, x->thread, at + 1, &x->call) && x->call.pos == at;
	x->has_call = is_call || ts_query_innermost_call(q, x->thread, at, &x->call);
	return look_for_handler(x, at, err);
}

void ts_note_moved_stacks(struct ts_rows *rows)
{
	static const char name[] = "runtime.newstack";
	struct ts_ask *ask = rows->ask;
	const struct ts_symbol *s = ask->symbols ? ts_symbols_find(ask->symbols, name, sizeof(name) - 1) : NULL;

	if (!s || ts_query_find_execution(ask->q, ts_ask_process(ask, rows->qn), s->addr, s->addr, 0, TS_FORWARDS) == TS_NO_POS)
		return;
	rows->is_cut = true;
	if (!*rows->note)
		snprintf(rows->note, sizeof(rows->note),
			 "Go moves stacks that grow, and goroutines between threads: calls that are open then may lack their end or seem "
			 "unwound, and stack may lack them");
}

/* The thread was in a call when the recording began: what called that is not recorded. */
static bool note_begin(struct stack *x, struct ts_error *err)
{
	struct ts_query *q = x->rows.ask->q;
	uint64_t first = ts_query_next_step(q, x->thread, 0), sp, ret;

	if (first == TS_NO_POS || !ts_query_is_alive(q, x->thread, 0))
		return true;
	if (!ts_entries_first_return(q, x->thread, first, &sp, &ret, err))
		return false;
	if (ret && ts_query_find_execution(q, ts_query_process(q, x->thread), ret, ret, 0, TS_FORWARDS) != TS_NO_POS)
		snprintf(x->rows.note, sizeof(x->rows.note),
			 "the recording begins in a call, which returns to 0x%" PRIx64
			 ": the calls that were open then are not listed", ret);
	return true;
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct stack *x = (struct stack *)rows;

	if (!x->depth) {
		enum ts_next got = ts_ask_need_calls(x->rows.ask, budget, err);

		if (got != TS_ITEM)
			return got;
		ts_note_moved_stacks(rows);
		return put_here(x, row, budget, err);
	}
	if (x->depth % FRAMES_A_CHUNK == 0 && !ts_budget_take(budget))
		return TS_MORE;
	if (x->is_interrupted)
		return put_interrupted(x, row, budget, err);
	if (x->has_handler && (!x->has_call || x->call.pos <= x->handler.pos))
		return put_signal(x, row, budget);
	if (!x->has_call)
		return note_begin(x, err) ? TS_END : TS_FAIL;
	put_row(x, x->call.pos, x->call.pc, true, row, budget);
	x->has_call = ts_query_outer_call(x->rows.ask->q, &x->call);
	return TS_ITEM;
}

static void close_stack(struct ts_rows *rows)
{
	ts_code_places_free(((struct stack *)rows)->code);
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct stack *x = (struct stack *)rows;

	x->thread = ts_ask_thread(rows->ask, rows->qn);
	x->code = ts_code_places_new(rows->ask, err);
	return x->code;
}

static const struct ts_rows_ops ops = { sizeof(struct stack), begin, next, close_stack };

const struct ts_verb ts_verb_stack = {
	.name = "stack",
	.synopsis = "",
	.help = "List the calls that are open here, innermost first.",
	.example = "stack",
	TS_COLUMNS(columns),
	.operand = TS_OPERAND_NONE,
	.takes = TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_THREAD,
	.rows = &ops,
};
