/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "cells.h"
#include "src/query/call_list.h"
#include "state.h"
#include "symbols.h"
#include "verb.h"

/* Calls that are looked at in the time of a chunk that is decoded. */
#define CALLS_A_CHUNK 64u

enum column {
	COL_POSITION,
	COL_BEGIN,
	COL_END,
	COL_KIND,
	COL_THREAD,
	COL_DEPTH,
	COL_PC,
	COL_CALLER,
	COL_ADDRESS,
	COL_CALLEE,
	COL_ARGUMENTS,
	COL_RESULT,
	N_COLUMNS,
};

static const struct ts_column columns[N_COLUMNS] = {
	[COL_POSITION] = { .name = "position", .type = TS_COLUMN_NUMBER },
	[COL_BEGIN] = { .name = "begin", .type = TS_COLUMN_NUMBER },
	[COL_END] = { .name = "end", .type = TS_COLUMN_NUMBER },
	[COL_KIND] = { .name = "kind", .type = TS_COLUMN_TEXT },
	[COL_THREAD] = { .name = "thread", .type = TS_COLUMN_NUMBER },
	[COL_DEPTH] = { .name = "depth", .type = TS_COLUMN_NUMBER },
	[COL_PC] = { .name = "pc", .type = TS_COLUMN_ADDR },
	[COL_CALLER] = { .name = "caller", .type = TS_COLUMN_TEXT },
	[COL_ADDRESS] = { .name = "address", .type = TS_COLUMN_ADDR },
	[COL_CALLEE] = { .name = "callee", .type = TS_COLUMN_TEXT },
	[COL_ARGUMENTS] = { .name = "arguments", .type = TS_COLUMN_LIST },
	[COL_RESULT] = { .name = "result", .type = TS_COLUMN_VALUE },
};

/* What is left of a thread's list: the calls [from, to), of which the next one is in call. */
struct list {
	uint32_t from, to;
	bool has_call;
	struct ts_call call;
};

struct calls {
	struct ts_rows rows;
	struct ts_ask *ask;
	const struct ts_question *qn;
	struct ts_abi abi;
	struct list *lists; /* owned; by thread; NULL: not begun */
	uint32_t n_lists;
	unsigned n_looked;
};

static bool begin(struct calls *x, struct ts_error *err)
{
	const struct ts_query *q = x->ask->q;

	x->n_lists = ts_query_n_threads(q);
	x->lists = calloc(x->n_lists + 1, sizeof(*x->lists));
	if (!x->lists)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the calls of all threads");
	for (uint32_t i = 0; i < x->n_lists; i++) {
		if (x->qn->thread != TS_NO_THREAD && x->qn->thread != i)
			continue;
		x->lists[i].from = ts_query_n_calls_before(q, i, x->qn->from);
		x->lists[i].to = ts_query_n_calls_before(q, i, x->qn->to);
	}
	return true;
}

/* The next call of a list in the direction of the cursor; skips switches. */
static bool look(const struct calls *x, uint32_t thread)
{
	struct list *l = &x->lists[thread];

	while (!l->has_call && l->from < l->to) {
		uint32_t ordinal = x->rows.is_reverse ? --l->to : l->from++;

		ts_query_call(x->ask->q, thread, ordinal, &l->call);
		l->has_call = l->call.kind != TS_CALL_SWITCH;
	}
	return l->has_call;
}

/* The next call of all lists. */
static bool find(struct calls *x, struct ts_call *call)
{
	struct list *best = NULL;

	for (uint32_t i = 0; i < x->n_lists; i++) {
		struct list *l = &x->lists[i];

		if (look(x, i) && (!best || (l->call.pos < best->call.pos) == !x->rows.is_reverse))
			best = l;
	}
	if (!best)
		return false;
	best->has_call = false;
	*call = best->call;
	x->rows.at = call->pos;
	return true;
}

static const char *name_of(const struct calls *x, uint64_t addr)
{
	const struct ts_symbol *s = x->ask->symbols ? ts_symbols_function_at(x->ask->symbols, addr) : NULL;

	return s ? s->name : NULL;
}

/* Is it the callee that was asked for, and not too deep? */
static bool is_wanted(const struct calls *x, const struct ts_call *call)
{
	const struct ts_question *qn = x->qn;
	const char *name;

	if (call->depth > qn->depth)
		return false;
	if (qn->what.kind == TS_WHAT_MEM)
		return qn->what.is_function ? call->target == qn->what.addr
					    : call->target >= qn->what.addr && call->target <= qn->what.last;
	if (!*qn->operand)
		return true;
	name = name_of(x, call->target);
	return name && !fnmatch(qn->operand, name, 0);
}

static bool put_row(const struct calls *x, const struct ts_call *call, struct ts_row *row,
		    struct ts_error *err)
{
	static const char *const kinds[] = { "return", "unwound", "open" };
	bool is_shown = !x->rows.is_counting;

	ts_row_number(row, COL_POSITION, call->pos);
	ts_row_number(row, COL_BEGIN, call->pos + 1);
	if (call->end != TS_NO_END)
		ts_row_number(row, COL_END, call->end);
	if (is_shown)
		ts_row_text(row, COL_KIND, kinds[call->kind]);
	if (x->rows.is_counting || x->rows.is_bare)
		return true;
	ts_cell_thread(row, COL_THREAD, x->ask, call->thread);
	ts_row_number(row, COL_DEPTH, call->depth);
	ts_row_addr(row, COL_PC, call->pc);
	ts_row_text(row, COL_CALLER, name_of(x, call->pc));
	ts_row_addr(row, COL_ADDRESS, call->target);
	ts_row_text(row, COL_CALLEE, name_of(x, call->target));
	if (!ts_abi_arguments(&x->abi, x->ask, call->pos + 1, call->thread, x->rows.is_for_people, row,
			      COL_ARGUMENTS, err))
		return false;
	return call->kind != TS_CALL_RETURN || ts_abi_result(&x->abi, x->ask, call->end, call->thread,
							     x->rows.is_for_people, row, COL_RESULT, err);
}

static enum ts_got next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			struct ts_error *err)
{
	struct calls *x = (struct calls *)rows;
	struct ts_call call;
	bool holds;

	if (!x->lists) {
		enum ts_got got = ts_ask_need_calls(x->ask, budget, err);

		if (got != TS_GOT_ROW)
			return got;
		if (!begin(x, err))
			return TS_GOT_FAIL;
	}
	for (;;) {
		if (x->n_looked++ % CALLS_A_CHUNK == 0 && !ts_budget_take(budget)) {
			x->n_looked = 0;
			return TS_GOT_PENDING;
		}
		if (!find(x, &call))
			return TS_GOT_END;
		if (!is_wanted(x, &call))
			continue;
		if (!ts_state_holds(x->ask, &x->qn->cond, call.pos + 1, &holds, err))
			return TS_GOT_FAIL;
		if (holds)
			return put_row(x, &call, row, err) ? TS_GOT_ROW : TS_GOT_FAIL;
	}
}

static void close_calls(struct ts_rows *rows)
{
	struct calls *x = (struct calls *)rows;

	free(x->lists);
	free(x);
}

static const struct ts_rows_ops ops = { .next = next, .close = close_calls };

static struct ts_rows *open_calls(struct ts_ask *ask, const struct ts_question *qn, bool is_reverse,
				  struct ts_error *err)
{
	struct calls *x = calloc(1, sizeof(*x));

	if (!x) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
		return NULL;
	}
	x->rows = (struct ts_rows){ .ops = &ops, .is_reverse = is_reverse, .go = TS_NO_POS };
	x->ask = ask;
	x->qn = qn;
	ts_abi_init(&x->abi, ask->q);
	return &x->rows;
}

const struct ts_verb ts_verb_calls = {
	.name = "calls",
	.synopsis = "[WHAT|PATTERN] [depth N]",
	.help = "List calls, with arguments and results; WHAT or PATTERN is the callee.",
	.example = "calls first 10",
	.columns = columns,
	.n_columns = N_COLUMNS,
	.operand = TS_OPERAND_CALLEE_OR_NONE,
	.takes = TS_TAKES_RANGE | TS_TAKES_STATE | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT |
		 TS_TAKES_DEPTH,
	.is_reversible = true,
	.open = open_calls,
};
