/* SPDX-License-Identifier: MIT */
#include "calls_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "typed.h"
#include "src/ask/grammar/machine_names.h"
#include "src/ask/grammar/question.h"
#include "src/ask/verbs/cells.h"
#include "src/symbols/symbols.h"

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
	COL_TEXTS,
	N_COLUMNS,
};

const struct ts_column ts_call_columns[N_COLUMNS] = {
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
	[COL_RESULT] = { .name = "result", .type = TS_COLUMN_AMOUNT },
	[COL_TEXTS] = { .name = "texts", .type = TS_COLUMN_LIST },
};

/* The maximum depth by which calls of a tree are indented. */
#define MAX_INDENT 64u

#define VALUES  (1u << COL_ARGUMENTS | 1u << COL_RESULT | 1u << COL_TEXTS)
#define CALLERS (1u << COL_PC | 1u << COL_CALLER)

bool ts_call_rows_no_memory(struct ts_error *err)
{
	return ts_no_memory(err, "the calls of all threads");
}

bool ts_call_rows_take_chunk(struct ts_call_rows *x, uint64_t pos, struct ts_budget *budget)
{
	uint64_t chunk = pos / TS_CHUNK_STEPS;

	if (chunk != x->got_chunk && !ts_budget_take(budget))
		return false;
	x->got_chunk = chunk;
	return true;
}

/* The next call without arguments, by position; NULL if all have them. */
static struct ts_call_found *next_begin(const struct ts_call_rows *x)
{
	if (x->n_arguments == x->n_found)
		return NULL;
	return &x->found[x->rows.is_reverse ? x->n_found - 1 - x->n_arguments : x->n_arguments];
}

/* The pc of the step that led to an entry. */
static bool get_pc(struct ts_call_rows *x, struct ts_call_found *f, struct ts_error *err)
{
	const struct ts_steps *batch;
	const struct ts_step *s;

	if (f->call.pc != TS_NO_PC || f->shown >= TS_SHOWN_UNSEEN)
		return true;
	s = ts_query_step(x->rows.ask->q, f->call.pos, &batch, err);
	if (s)
		f->call.pc = s->pc;
	return s;
}

/* What is known of the function's parameters; NULL: nothing.  Windows has another convention than typed.h knows. */
static const struct ts_prototype *prototype_of(const struct ts_call_rows *x, const struct ts_call_found *f)
{
	bool is_x86_64 = !strcmp(ts_query_regset(x->rows.ask->q)->arch->name, "x86_64");

	if (!x->rows.ask->symbols || (is_x86_64 && !x->abi.is_sysv64) || !ts_machine_names_hold(x->rows.ask, f->begin, f->call.thread))
		return NULL;
	return f->call.target == TS_NO_PC ? NULL : ts_symbols_prototype(x->rows.ask->symbols, f->call.target);
}

static bool get_arguments(struct ts_call_rows *x, struct ts_call_found *f, struct ts_error *err)
{
	const struct ts_prototype *function = prototype_of(x, f);

	x->abi.is_before = f->shown == TS_SHOWN_STEPPED;
	f->arguments = x->texts.len;
	f->n_arguments = ts_abi_n_arguments(&x->abi);
	x->n_arguments++;
	if (!get_pc(x, f, err))
		return false;
	if (function)
		return ts_typed_arguments(&x->abi, x->rows.ask, function, ts_typed_is_clone(x->rows.ask, f->call.target), f->begin, f->call.thread,
					  x->rows.is_for_people, &x->texts, &f->n_arguments, err);
	return ts_abi_arguments(&x->abi, x->rows.ask, f->begin, f->call.thread, x->rows.is_for_people, &x->texts, err);
}

static bool get_result(struct ts_call_rows *x, struct ts_call_found *f, struct ts_error *err)
{
	const struct ts_prototype *function = prototype_of(x, f);

	f->has_result = true;
	f->result = x->texts.len;
	x->n_results++;
	if (function)
		return ts_typed_result(&x->abi, x->rows.ask, function, ts_typed_is_clone(x->rows.ask, f->call.target), f->call.end, f->call.thread,
				       x->rows.is_for_people, &x->texts, err);
	return ts_abi_result(&x->abi, x->rows.ask, f->call.end, f->call.thread, x->rows.is_for_people, &x->texts,
			     err);
}

static bool has_wanted(const struct ts_call_rows *x, uint32_t mask)
{
	return !x->rows.is_counting && !x->rows.is_bare && (mask & ~x->rows.unwanted);
}

enum ts_next ts_call_rows_get_values(struct ts_call_rows *x, struct ts_budget *budget, struct ts_error *err)
{
	if (!has_wanted(x, VALUES))
		return TS_ITEM;
	for (;;) {
		struct ts_call_found *begin = next_begin(x);
		const struct ts_call_end *end = x->n_results < x->n_ends ? &x->ends[x->n_results] : NULL;
		bool is_end = end && (!begin || end->pos < begin->begin);

		if (!begin && !end)
			break;
		if (!ts_call_rows_take_chunk(x, is_end ? end->pos : begin->begin, budget))
			return TS_MORE;
		if (!(is_end ? get_result(x, &x->found[end->found], err) : get_arguments(x, begin, err)))
			return TS_FAIL;
	}
	if (ts_buf_ok(&x->texts))
		return TS_ITEM;
	ts_call_rows_no_memory(err);
	return TS_FAIL;
}

/* The text that follows a value; empty if none does. */
static const char *text_of(const char *value)
{
	const char *text = strchr(value, TS_ROW_ASIDE);

	return text ? text + 1 : "";
}

/* The texts to which the arguments and the result point, one for each; null if none is found. */
static void put_texts(const struct ts_call_rows *x, const struct ts_call_found *f, struct ts_row *row)
{
	const char *value = (const char *)x->texts.data + f->arguments;
	const char *result = f->has_result ? text_of((const char *)x->texts.data + f->result) : "";
	const char *texts[TS_MAX_ARGUMENTS + TS_MAX_PARAMETERS];
	unsigned n = f->n_arguments;
	bool has_text = *result;

	for (unsigned i = 0; i < n; i++, value += strlen(value) + 1) {
		texts[i] = text_of(value);
		has_text |= *texts[i];
	}
	if (!has_text)
		return;
	ts_row_list(row, COL_TEXTS);
	for (unsigned i = 0; i < n; i++)
		ts_row_list_add(row, COL_TEXTS, texts[i]);
	ts_row_list_add(row, COL_TEXTS, result);
}

static void put_values(const struct ts_call_rows *x, const struct ts_call_found *f, struct ts_row *row)
{
	const char *text = (const char *)x->texts.data + f->arguments;

	ts_row_list(row, COL_ARGUMENTS);
	for (unsigned i = 0; i < f->n_arguments; i++, text += strlen(text) + 1)
		ts_row_list_add(row, COL_ARGUMENTS, text);
	text = (const char *)x->texts.data + f->result;
	if (f->has_result && *text)
		ts_row_text(row, COL_RESULT, text);
	if (!x->rows.is_for_people)
		put_texts(x, f, row);
}

/* The callee, after a bar for each call around it. */
static void put_indented(const struct ts_call_rows *x, const struct ts_call *call, struct ts_row *row)
{
	const char *name = call->target == TS_NO_PC ? NULL : ts_ask_function(x->rows.ask, call->target);
	char text[2 * MAX_INDENT + 200];
	int n = 0;

	for (uint32_t i = 1; i < call->depth && i <= MAX_INDENT; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "| ");
	if (name)
		snprintf(text + n, sizeof(text) - (size_t)n, "%s", name);
	else if (call->target != TS_NO_PC)
		snprintf(text + n, sizeof(text) - (size_t)n, "0x%" PRIx64, call->target);
	else
		snprintf(text + n, sizeof(text) - (size_t)n, "?");
	ts_row_text(row, COL_CALLEE, text);
}

static void put_row(struct ts_call_rows *x, const struct ts_call_found *f, struct ts_row *row)
{
	static const char *const kinds[] = { "return", "unwound", "open", [TS_SHOWN_TAIL] = "tail",
					     [TS_SHOWN_HANDLER] = "handler", [TS_SHOWN_STEPPED] = "gap", [TS_SHOWN_UNSEEN] = "gap" };
	const struct ts_call *call = &f->call;

	x->rows.at = call->pos;
	ts_row_number(row, COL_POSITION, call->pos);
	if (f->shown != TS_SHOWN_STEPPED)
		ts_row_number(row, COL_BEGIN, f->begin);
	if (call->end != TS_NO_END)
		ts_row_number(row, COL_END, call->end);
	if (x->rows.is_counting)
		return;
	ts_row_text(row, COL_KIND, f->shown == TS_SHOWN_FIRST ? kinds[call->kind] : kinds[f->shown]);
	if (x->rows.is_bare)
		return;
	ts_cell_thread(row, COL_THREAD, x->rows.ask, call->thread);
	ts_row_number(row, COL_DEPTH, call->depth);
	if (f->shown < TS_SHOWN_UNSEEN) {
		ts_row_addr(row, COL_PC, call->pc);
		if (has_wanted(x, 1u << COL_CALLER))
			ts_cell_function(row, COL_CALLER, x->rows.ask, call->pc);
	}
	if (call->target != TS_NO_PC)
		ts_row_addr(row, COL_ADDRESS, call->target);
	if (x->rows.qn->is_tree && x->rows.is_for_people)
		put_indented(x, call, row);
	else if (call->target != TS_NO_PC && has_wanted(x, 1u << COL_CALLEE))
		ts_cell_function(row, COL_CALLEE, x->rows.ask, call->target);
	if (has_wanted(x, VALUES))
		put_values(x, f, row);
}

bool ts_call_rows_give(struct ts_call_rows *x, struct ts_row *row, struct ts_error *err)
{
	if (has_wanted(x, CALLERS) && !get_pc(x, &x->found[x->n_given], err))
		return false;
	put_row(x, &x->found[x->n_given++], row);
	return true;
}
