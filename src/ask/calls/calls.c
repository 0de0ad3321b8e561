/* SPDX-License-Identifier: MIT */
#include "src/ask/verbs/verbs.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls_parts.h"
#include "ifunc.h"
#include "src/base/collections/bisect.h"
#include "src/base/text/suffix.h"
#include "src/query/search/call_list.h"
#include "src/ask/grammar/question.h"
#include "src/symbols/symbols.h"

/*
 * Calls that are examined in the time of a chunk that is decoded, at most: their names may be matched by a
 * pattern.
 */
#define CALLS_A_CHUNK 2048u

/* Rows that are given in that time. */
#define ROWS_A_CHUNK 64u

/* Symbols whose names are matched in that time, or whose first execution is looked up. */
#define SYMBOLS_A_CHUNK 1024u
#define FUNCTIONS_A_CHUNK 32u

/*
 * A batch's chunks are decoded, and those far away in which calls of it end: the larger it is, the fewer are
 * decoded again for the next one.
 */
#define FIRST_BATCH 4u
#ifndef TS_CALLS_MAX_BATCH
#define TS_CALLS_MAX_BATCH 8192u
#endif
#define MAX_BATCH   TS_CALLS_MAX_BATCH

/* Is WHAT one function, or one address that may be that of a function? */
static bool is_of_one(const struct ts_call_rows *x)
{
	const struct ts_what *what = &x->what;

	return what->kind == TS_WHAT_MEM && (what->is_function || what->addr == what->last);
}

/* Note the entries of linkage tables that are named like a function at @addr. */
static void find_links_of(struct ts_call_rows *x, uint64_t addr)
{
	for (unsigned i = 0; x->n_links < TS_CALLS_MAX_LINKS &&
			     ts_symbols_get_link(x->rows.ask->symbols, addr, i, &x->links[x->n_links]); i++)
		x->n_links++;
}

/* Where symbols have the name of the one function, if another function runs under its name; 0: none does. */
static uint64_t alias_of(const struct ts_call_rows *x)
{
	return x->rows.qn->what.is_indirect && x->what.addr != x->rows.qn->what.addr ? x->rows.qn->what.addr : 0;
}

/* Note the entries of linkage tables that may lead to the one function that is asked for. */
static void find_links(struct ts_call_rows *x)
{
	if (!is_of_one(x) || !x->rows.ask->symbols)
		return;
	find_links_of(x, x->what.addr);
	if (alias_of(x))
		find_links_of(x, alias_of(x));
}

static bool begin_lists(struct ts_call_rows *x, struct ts_error *err)
{
	struct ts_query *q = x->rows.ask->q;

	x->n_lists = ts_query_n_threads(q);
	x->lists = calloc(x->n_lists + 1, sizeof(*x->lists));
	x->found = calloc(MAX_BATCH, sizeof(*x->found));
	x->ends = calloc(MAX_BATCH, sizeof(*x->ends));
	if (!x->lists || !x->found || !x->ends)
		return ts_call_rows_no_memory(err);
	for (uint32_t i = 0; i < x->n_lists; i++) {
		struct ts_call_left *l = &x->lists[i];

		if (x->rows.qn->thread != TS_NO_THREAD && x->rows.qn->thread != i)
			continue;
		l->from = ts_query_n_calls_before(q, i, x->rows.qn->from);
		l->to = ts_query_n_calls_before(q, i, x->rows.qn->to);
		l->block = l->from < l->to ? malloc(TS_CALL_BLOCK * sizeof(*l->block)) : NULL;
		if (l->from < l->to && !l->block)
			return ts_call_rows_no_memory(err);
	}
	find_links(x);
	ts_stepped_init(&x->stepped, q, x->rows.qn->thread, x->rows.qn->from, x->rows.qn->to, x->rows.is_reverse);
	return ts_entries_init(&x->entries, x->rows.ask, ts_ask_process(x->rows.ask, x->rows.qn), x->rows.qn->thread, x->rows.qn->from, x->rows.qn->to,
			       x->rows.is_reverse, is_of_one(x), alias_of(x)) ||
	       ts_call_rows_no_memory(err);
}

/* A call or switch of the list. */
static const struct ts_call *get(const struct ts_call_rows *x, uint32_t thread, uint32_t ordinal)
{
	struct ts_call_left *l = &x->lists[thread];

	if (!l->n_block || ordinal - l->block[0].ordinal >= l->n_block)
		l->n_block = ts_query_call_block(x->rows.ask->q, thread, ordinal, l->block);
	return &l->block[ordinal - l->block[0].ordinal];
}

/* The next call of a list in the direction of the cursor; skips switches.  NULL after the last. */
static const struct ts_call *look(const struct ts_call_rows *x, uint32_t thread)
{
	struct ts_call_left *l = &x->lists[thread];

	while (!l->next && l->from < l->to) {
		l->next = get(x, thread, x->rows.is_reverse ? --l->to : l->from++);
		if (l->next->kind == TS_CALL_SWITCH)
			l->next = NULL;
	}
	return l->next;
}

static enum ts_call_shown shown_as(const struct ts_entry *e)
{
	switch (e->kind) {
	case TS_ENTRY_TAIL: return TS_SHOWN_TAIL;
	case TS_ENTRY_HANDLER: return TS_SHOWN_HANDLER;
	case TS_ENTRY_UNSEEN: return TS_SHOWN_UNSEEN;
	case TS_ENTRY_STUB: return (enum ts_call_shown)e->call.kind;
	case TS_ENTRY_FIRST: break;
	}
	return TS_SHOWN_FIRST;
}

/* Does the entry that was found come before the call, if there is one? */
static bool is_entry_next(const struct ts_call_rows *x, const struct ts_call_left *best)
{
	if (!x->has_entry || !best)
		return x->has_entry;
	if (x->entry.call.pos != best->next->pos)
		return (x->entry.call.pos < best->next->pos) == !x->rows.is_reverse;
	return x->rows.is_reverse;
}

/* Does the call that was stepped over come before the other one, and before the entry? */
static bool is_over_next(const struct ts_call_rows *x, const struct ts_call_left *best)
{
	uint64_t pos = x->over.pos;

	if (!x->has_over)
		return false;
	return (!best || (pos < best->next->pos) == !x->rows.is_reverse) && (!x->has_entry || (pos < x->entry.call.pos) == !x->rows.is_reverse);
}

/* The next call of all lists, or entry. */
static bool find(struct ts_call_rows *x, struct ts_call *call)
{
	struct ts_call_left *best = NULL;

	for (uint32_t i = 0; i < x->n_lists; i++) {
		struct ts_call_left *l = &x->lists[i];

		if (look(x, i) && (!best || (l->next->pos < best->next->pos) == !x->rows.is_reverse))
			best = l;
	}
	if (is_over_next(x, best)) {
		*call = x->over;
		x->shown = TS_SHOWN_STEPPED;
		x->is_entry = x->has_over = false;
		return true;
	}
	if (is_entry_next(x, best)) {
		*call = x->entry.call;
		x->shown = shown_as(&x->entry);
		x->is_entry = true;
		x->has_entry = false;
		return true;
	}
	if (!best)
		return false;
	*call = *best->next;
	x->shown = (enum ts_call_shown)call->kind;
	x->is_entry = false;
	best->next = NULL;
	return true;
}

/* Does the pattern match the name of a function, or that of one to which an entry of a linkage table leads? */
static bool matches(const char *pattern, const char *name)
{
	char function[TS_MAX_WORD];

	return !fnmatch(pattern, name, 0) ||
	       (ts_entries_linked_name(name, function, sizeof(function)) && !fnmatch(pattern, function, 0));
}

/* As above, of a symbol's name, as it is in the file or demangled. */
static bool is_named(const struct ts_symbol *s, const char *pattern)
{
	return matches(pattern, s->name) || matches(pattern, s->mangled);
}

/* Does the call lead to the one function through an entry of a linkage table?  Its target is then the function. */
static bool is_linked(const struct ts_call_rows *x, struct ts_call *call)
{
	for (unsigned i = 0; i < x->n_links; i++) {
		if (call->target != x->links[i] || !ts_entries_is_link(&x->entries, call, x->what.addr))
			continue;
		call->target = x->what.addr;
		return true;
	}
	return false;
}

/* Is it the callee that was asked for, and not too deep? */
static bool is_wanted(const struct ts_call_rows *x, struct ts_call *call)
{
	const struct ts_question *qn = x->rows.qn;
	const struct ts_symbol *s;

	if (call->depth > qn->depth)
		return false;
	if (call->target == TS_NO_PC)
		return x->what.kind != TS_WHAT_MEM && !*qn->operand;
	if (is_linked(x, call))
		return true;
	if (x->what.kind == TS_WHAT_MEM)
		return x->what.is_function ? call->target == x->what.addr
					    : call->target >= x->what.addr && call->target <= x->what.last;
	if (!*qn->operand)
		return true;
	s = x->rows.ask->symbols ? ts_symbols_function_at(x->rows.ask->symbols, call->target) : NULL;
	return s && is_named(s, qn->operand);
}

/* ----------------------------------------------------------------------------------------------- entries */

/* A part of a function that its compiler took for rarely executed: "f.cold", "f.cold.1". */
static bool is_cold(const char *name)
{
	const char *mark = strstr(name, ".cold");

	return mark && (!mark[5] || mark[5] == '.');
}

/* Are the entries of the function asked for?  Those of linkage tables only lead to functions. */
static bool is_entered(const struct ts_call_rows *x, const struct ts_symbol *s)
{
	const struct ts_what *what = &x->what;

	if (!s->is_function || (is_cold(s->mangled) && !strstr(x->rows.qn->operand, ".cold")) || s->addr == x->last_function ||
	    ts_has_suffix(s->mangled, TS_LINKED))
		return false;
	if (what->kind == TS_WHAT_MEM)
		return s->addr >= what->addr && s->addr <= what->last;
	return !*x->rows.qn->operand || is_named(s, x->rows.qn->operand);
}

/* Find the functions whose entries are asked for.  Returns TS_ITEM when all are there. */
static enum ts_next gather_functions(struct ts_call_rows *x, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_symbol *s;

	if (is_of_one(x)) {
		if (!x->n_symbols++ && !ts_entries_add(&x->entries, x->what.addr))
			goto out_of_memory;
		return TS_ITEM;
	}
	while (x->rows.ask->symbols && (s = ts_symbols_get(x->rows.ask->symbols, x->n_symbols))) {
		if (x->n_symbols % FUNCTIONS_A_CHUNK == 0 && !ts_budget_take(budget))
			return TS_MORE;
		x->n_symbols++;
		if (!is_entered(x, s))
			continue;
		x->last_function = s->addr;
		if (!ts_entries_add(&x->entries, s->addr))
			goto out_of_memory;
	}
	return TS_ITEM;

out_of_memory:
	ts_call_rows_no_memory(err);
	return TS_FAIL;
}

/* Have the next entry ready.  Returns TS_ITEM when it is there, and after the last one. */
static enum ts_next look_for_entry(struct ts_call_rows *x, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got = TS_ITEM;

	if (x->has_entry || x->has_no_entries)
		return got;
	got = gather_functions(x, budget, err);
	if (got == TS_ITEM)
		got = ts_entries_next(&x->entries, &x->entry, budget, err);
	x->has_entry = got == TS_ITEM;
	x->has_no_entries = got == TS_END;
	return got == TS_END ? TS_ITEM : got;
}

/* As above, of calls that were stepped over. */
static enum ts_next look_for_over(struct ts_call_rows *x, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got;

	if (x->has_over || x->has_no_over)
		return TS_ITEM;
	got = ts_stepped_next(&x->stepped, &x->over, budget, err);
	x->has_over = got == TS_ITEM;
	x->has_no_over = got == TS_END;
	return got == TS_END ? TS_ITEM : got;
}

/* ----------------------------------------------------------------------------------------------- batches */

static void add_found(struct ts_call_rows *x, const struct ts_call *call, uint64_t begin)
{
	uint32_t i = x->n_found++;

	x->found[i] = (struct ts_call_found){ .call = *call, .shown = x->shown, .begin = begin };
	if (call->kind == TS_CALL_RETURN)
		x->ends[x->n_ends++] = (struct ts_call_end){ .pos = call->end, .found = i };
}

/*
 * Where the function that was called begins: after the delay slot, where there is one.
 *
 * Returns false if the trace cannot be read.
 */
static bool find_begin(struct ts_call_rows *x, uint64_t *begin, struct ts_error *err)
{
	struct ts_query *q = x->rows.ask->q;
	const struct ts_call *call = &x->call;
	uint64_t pc, slot;
	bool has_pc;

	*begin = call->pos + (x->shown != TS_SHOWN_FIRST && x->shown != TS_SHOWN_STEPPED);
	if (x->shown == TS_SHOWN_FIRST || x->shown == TS_SHOWN_STEPPED || !ts_query_regset(q)->arch->has_delay_slots || *begin >= ts_query_end(q))
		return true;
	if (!ts_query_pc(q, *begin, call->thread, &pc, &has_pc, err))
		return false;
	slot = has_pc && pc != call->target ? ts_query_next_step(q, call->thread, *begin) : TS_NO_POS;
	if (slot != TS_NO_POS)
		*begin = slot + 1;
	return true;
}

/*
 * Add the next call to the batch if it is wanted and the condition holds.
 *
 * Returns TS_ITEM when that is decided, TS_END after the last call.
 */
static enum ts_next look_at_next(struct ts_call_rows *x, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_cond *cond = &x->rows.qn->cond;
	enum ts_next got = TS_ITEM;
	uint64_t begin;
	bool holds = true;

	if (!x->has_call) {
		if (x->n_looked % CALLS_A_CHUNK == 0 && !ts_budget_take(budget))
			return TS_MORE;
		got = look_for_entry(x, budget, err);
		if (got == TS_ITEM)
			got = look_for_over(x, budget, err);
		if (got != TS_ITEM)
			return got;
		x->n_looked++;
		if (!find(x, &x->call))
			return TS_END;
		x->rows.at = x->call.pos;
		if (x->is_entry ? x->call.depth > x->rows.qn->depth : !is_wanted(x, &x->call))
			return TS_ITEM;
	}
	if (!find_begin(x, &begin, err))
		return TS_FAIL;
	if (cond->n && !ts_call_rows_take_chunk(x, begin, budget))
		got = TS_MORE;
	x->judged.result_at = x->call.kind == TS_CALL_RETURN ? x->call.end : TS_NO_POS;
	if (cond->n && got == TS_ITEM)
		got = ts_state_holds(x->rows.ask, cond, begin, x->call.thread, &x->judged,
				     &holds, budget, err);
	x->has_call = got == TS_MORE;
	if (got == TS_ITEM && holds)
		add_found(x, &x->call, begin);
	return got;
}

/*
 * Find the calls of a batch, or some of them if the budget is used up.  Returns TS_ITEM if there are any,
 * TS_END after the last one.
 */
static enum ts_next find_batch(struct ts_call_rows *x, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got = TS_ITEM;

	x->n_found = x->n_given = x->n_ends = x->n_arguments = x->n_results = 0;
	x->got_chunk = TS_NO_POS;
	ts_buf_reset(&x->texts);
	while (got == TS_ITEM && x->n_found < x->batch)
		got = look_at_next(x, budget, err);
	if (x->n_found == x->batch && x->batch < MAX_BATCH)
		x->batch *= 2;
	TS_SORT_BY(x->ends, x->n_ends, pos);
	return x->n_found && got != TS_FAIL ? TS_ITEM : got;
}

/*
 * Without a row: note it if the pattern matches no function.  Returns TS_END when that is known,
 * TS_MORE before.
 */
static enum ts_next explain_none(struct ts_call_rows *x, struct ts_budget *budget)
{
	const char *pattern = x->rows.qn->operand;
	const struct ts_symbol *s;

	if (x->has_row || !*pattern || x->what.kind == TS_WHAT_MEM)
		return TS_END;
	while (x->rows.ask->symbols && (s = ts_symbols_get(x->rows.ask->symbols, x->n_matched))) {
		if (s->is_function && is_named(s, pattern))
			return TS_END;
		if (++x->n_matched % SYMBOLS_A_CHUNK == 0 && !ts_budget_take(budget))
			return TS_MORE;
	}
	snprintf(x->rows.note, sizeof(x->rows.note),
		 x->n_matched ? "the name of no known function matches '%.80s'"
			      : "no functions are known, so none matches '%.80s'",
		 pattern);
	return TS_END;
}

/* Note that calls may be missing: a tracer may have stepped over them, or left them out. */
static void note_gaps(struct ts_call_rows *x)
{
	uint64_t n = ts_query_n_events_below(x->rows.ask->q, TS_EV_GAP, x->rows.qn->to) -
		     ts_query_n_events_below(x->rows.ask->q, TS_EV_GAP, x->rows.qn->from);

	x->rows.is_cut |= n != 0;
	if (n && !*x->rows.note)
		snprintf(x->rows.note, sizeof(x->rows.note),
			 "the recording has %" PRIu64 " gap%s here: calls inside a gap have no row, except those that the recorder stepped over (kind gap)",
			 n, n == 1 ? "" : "s");
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct ts_call_rows *x = (struct ts_call_rows *)rows;
	enum ts_next got = TS_ITEM;

	if (!x->lists) {
		got = ts_ifunc_resolve(&x->rows, &x->what, budget, err);
		if (got == TS_ITEM)
			got = ts_ask_need_calls(x->rows.ask, budget, err);
		if (got != TS_ITEM)
			return got;
		if (!begin_lists(x, err))
			return TS_FAIL;
		ts_note_moved_stacks(&x->rows);
	}
	if (x->n_given == x->n_found)
		got = find_batch(x, budget, err);
	if (got == TS_ITEM)
		got = ts_call_rows_get_values(x, budget, err);
	if (got == TS_END) {
		got = explain_none(x, budget);
		if (got == TS_END)
			note_gaps(x);
	}
	if (got != TS_ITEM)
		return got;
	x->has_row = true;
	if (x->n_given % ROWS_A_CHUNK == ROWS_A_CHUNK - 1 && !ts_budget_take(budget))
		return TS_MORE;
	return ts_call_rows_give(x, row, err) ? TS_ITEM : TS_FAIL;
}

static void close_calls(struct ts_rows *rows)
{
	struct ts_call_rows *x = (struct ts_call_rows *)rows;

	for (uint32_t i = 0; x->lists && i < x->n_lists; i++)
		free(x->lists[i].block);
	free(x->lists);
	free(x->found);
	free(x->ends);
	ts_entries_fini(&x->entries);
	ts_buf_fini(&x->texts);
	ts_abi_fini(&x->abi);
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct ts_call_rows *x = (struct ts_call_rows *)rows;

	if (!ts_abi_init(&x->abi, rows->ask))
		return ts_no_memory(err, "a question");
	x->what = rows->qn->what;
	x->batch = FIRST_BATCH;
	x->judged.result = ts_abi_result_place(&x->abi, ts_query_regset(rows->ask->q));
	ts_buf_init(&x->texts);
	return true;
}

static const struct ts_rows_ops ops = { sizeof(struct ts_call_rows), begin, next, close_calls };

const struct ts_verb ts_verb_calls = {
	.name = "calls",
	.synopsis = "[WHAT|PATTERN] [depth N] [tree]",
	.help = "List calls, with arguments and results; WHAT or PATTERN is the callee.",
	.example = "calls first 10",
	.columns = ts_call_columns,
	.n_columns = TS_N_CALL_COLUMNS,
	.operand = TS_OPERAND_CALLEE_OR_NONE,
	.takes = TS_TAKES_MACHINE | TS_TAKES_RANGE | TS_TAKES_STATE | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT |
		 TS_TAKES_DEPTH | TS_TAKES_RESULT | TS_TAKES_TREE,
	.is_reversible = true,
	.rows = &ops,
};
