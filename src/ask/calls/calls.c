/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "src/ask/verbs/cells.h"
#include "entries.h"
#include "typed.h"
#include "ifunc.h"
#include "src/query/call_list.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/state.h"
#include "src/symbols/symbols.h"
#include "src/ask/verb.h"

/*
 * Calls that are looked at in the time of a chunk that is decoded, at most: their names may be matched by a
 * pattern.
 */
#define CALLS_A_CHUNK 2048u

/* Rows that are given in that time. */
#define ROWS_A_CHUNK 64u

/* Symbols whose names are matched in that time, or whose first execution is looked up. */
#define SYMBOLS_A_CHUNK 1024u
#define FUNCTIONS_A_CHUNK 32u

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
	[COL_RESULT] = { .name = "result", .type = TS_COLUMN_AMOUNT },
	[COL_TEXTS] = { .name = "texts", .type = TS_COLUMN_LIST },
};

/* What is left of a thread's list: [from, to). */
struct list {
	uint32_t from, to;
	struct ts_call *block; /* owned; the calls of a block, n_block of them */
	uint32_t n_block;
	const struct ts_call *next; /* in block; NULL: not looked for yet */
};

/* What a row is called. */
enum shown {
	SHOWN_RETURN = TS_CALL_RETURN,
	SHOWN_UNWOUND = TS_CALL_UNWOUND,
	SHOWN_OPEN = TS_CALL_OPEN,
	SHOWN_TAIL,
	SHOWN_HANDLER,
	SHOWN_UNSEEN, /* what called is not recorded */
	SHOWN_FIRST, /* nothing called: the thread begins there */
};

/* A call that is a row, and where in the batch's texts its cells are. */
struct found {
	struct ts_call call;
	enum shown shown;
	uint64_t begin; /* the position of the first instruction of what was called */
	size_t arguments, result;
	unsigned n_arguments;
	bool has_result;
};

/* The end of a call that returned. */
struct end {
	uint64_t pos;
	uint32_t found; /* index */
};

/*
 * A batch's chunks are decoded, and those far away in which calls of it end: the larger it is, the fewer are
 * decoded again for the next one.
 */
#define FIRST_BATCH 4u
#ifndef TS_CALLS_MAX_BATCH
#define TS_CALLS_MAX_BATCH 8192u
#endif
#define MAX_BATCH   TS_CALLS_MAX_BATCH

/* Calls of a tree are indented by up to so many others. */
#define MAX_INDENT 64u

/* Entries of linkage tables that lead to one function: each module that calls it has one. */
#define MAX_LINKS 256u

/*
 * Calls are found in batches: a first small one, then larger ones.  What their rows need of the trace is
 * asked for in the order of positions, so that a chunk is decoded once for all of them.
 */
struct calls {
	struct ts_rows rows;
	struct ts_ask *ask;
	const struct ts_question *qn;
	struct ts_what what; /* of the question, or the function that runs under its name */
	struct ts_abi abi;
	struct list *lists; /* owned; by thread; NULL: not begun */
	uint32_t n_lists;
	struct ts_entries entries; /* of functions, by other ways than calls */
	struct ts_entry entry;     /* has_entry: the next one */
	bool has_entry, has_no_entries;
	bool is_entry;             /* the call is one */
	uint64_t links[MAX_LINKS]; /* entries of linkage tables by which the function is called */
	unsigned n_links;
	size_t n_symbols;          /* that were looked at for entries */
	uint64_t last_function;    /* the address of the last one that was added */
	unsigned n_looked;
	bool has_call; /* the condition of the call is to be judged */
	struct ts_call call;
	enum shown shown;
	struct ts_judged judged;
	struct found *found; /* owned; MAX_BATCH */
	struct end *ends;    /* owned; MAX_BATCH; by position once the batch is found */
	struct ts_buf texts;
	uint32_t n_found, n_given, n_ends;
	uint32_t n_arguments, n_results; /* how many calls have them */
	uint64_t got_chunk;              /* where the last of them came from */
	uint32_t batch; /* how many are looked for */
	bool has_row;
	size_t n_matched; /* symbols that the pattern does not match, without a row */
};

static bool no_memory(struct ts_error *err)
{
	return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the calls of all threads");
}

/* Is WHAT one function, or one address that may be that of a function? */
static bool is_of_one(const struct calls *x)
{
	const struct ts_what *what = &x->what;

	return what->kind == TS_WHAT_MEM && (what->is_function || what->addr == what->last);
}

/* Note the entries of linkage tables that are named like a function at @addr. */
static void find_links_of(struct calls *x, uint64_t addr)
{
	for (unsigned i = 0; x->n_links < MAX_LINKS &&
			     ts_symbols_get_link(x->ask->symbols, addr, i, &x->links[x->n_links]); i++)
		x->n_links++;
}

/* Where symbols have the name of the one function, if another function runs under its name; 0: none does. */
static uint64_t alias_of(const struct calls *x)
{
	return x->qn->what.is_indirect && x->what.addr != x->qn->what.addr ? x->qn->what.addr : 0;
}

/* Note the entries of linkage tables that may lead to the one function that is asked for. */
static void find_links(struct calls *x)
{
	if (!is_of_one(x) || !x->ask->symbols)
		return;
	find_links_of(x, x->what.addr);
	if (alias_of(x))
		find_links_of(x, alias_of(x));
}

static bool begin(struct calls *x, struct ts_error *err)
{
	struct ts_query *q = x->ask->q;

	x->n_lists = ts_query_n_threads(q);
	x->lists = calloc(x->n_lists + 1, sizeof(*x->lists));
	x->found = calloc(MAX_BATCH, sizeof(*x->found));
	x->ends = calloc(MAX_BATCH, sizeof(*x->ends));
	if (!x->lists || !x->found || !x->ends)
		return no_memory(err);
	for (uint32_t i = 0; i < x->n_lists; i++) {
		struct list *l = &x->lists[i];

		if (x->qn->thread != TS_NO_THREAD && x->qn->thread != i)
			continue;
		l->from = ts_query_n_calls_before(q, i, x->qn->from);
		l->to = ts_query_n_calls_before(q, i, x->qn->to);
		l->block = l->from < l->to ? malloc(TS_CALL_BLOCK * sizeof(*l->block)) : NULL;
		if (l->from < l->to && !l->block)
			return no_memory(err);
	}
	find_links(x);
	return ts_entries_init(&x->entries, x->ask, ts_ask_process(x->ask, x->qn), x->qn->thread, x->qn->from, x->qn->to,
			       x->rows.is_reverse, is_of_one(x), alias_of(x)) ||
	       no_memory(err);
}

/* A call or switch of the list. */
static const struct ts_call *get(const struct calls *x, uint32_t thread, uint32_t ordinal)
{
	struct list *l = &x->lists[thread];

	if (!l->n_block || ordinal - l->block[0].ordinal >= l->n_block)
		l->n_block = ts_query_call_block(x->ask->q, thread, ordinal, l->block);
	return &l->block[ordinal - l->block[0].ordinal];
}

/* The next call of a list in the direction of the cursor; skips switches.  NULL after the last. */
static const struct ts_call *look(const struct calls *x, uint32_t thread)
{
	struct list *l = &x->lists[thread];

	while (!l->next && l->from < l->to) {
		l->next = get(x, thread, x->rows.is_reverse ? --l->to : l->from++);
		if (l->next->kind == TS_CALL_SWITCH)
			l->next = NULL;
	}
	return l->next;
}

static enum shown shown_as(const struct ts_entry *e)
{
	switch (e->kind) {
	case TS_ENTRY_TAIL: return SHOWN_TAIL;
	case TS_ENTRY_HANDLER: return SHOWN_HANDLER;
	case TS_ENTRY_UNSEEN: return SHOWN_UNSEEN;
	case TS_ENTRY_STUB: return (enum shown)e->call.kind;
	case TS_ENTRY_FIRST: break;
	}
	return SHOWN_FIRST;
}

/* Does the entry that was found come before the call, if there is one? */
static bool is_entry_next(const struct calls *x, const struct list *best)
{
	if (!x->has_entry || !best)
		return x->has_entry;
	if (x->entry.call.pos != best->next->pos)
		return (x->entry.call.pos < best->next->pos) == !x->rows.is_reverse;
	return x->rows.is_reverse;
}

/* The next call of all lists, or entry. */
static bool find(struct calls *x, struct ts_call *call)
{
	struct list *best = NULL;

	for (uint32_t i = 0; i < x->n_lists; i++) {
		struct list *l = &x->lists[i];

		if (look(x, i) && (!best || (l->next->pos < best->next->pos) == !x->rows.is_reverse))
			best = l;
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
	x->shown = (enum shown)call->kind;
	x->is_entry = false;
	best->next = NULL;
	return true;
}

/* Does the pattern match the name of a function, or that of one to which an entry of a linkage table leads? */
static bool matches(const char *pattern, const char *name)
{
	size_t len = strlen(name), n = strlen(TS_LINKED);
	char function[TS_MAX_WORD];

	if (!fnmatch(pattern, name, 0))
		return true;
	if (len < n || len - n >= sizeof(function) || strcmp(name + len - n, TS_LINKED) != 0)
		return false;
	memcpy(function, name, len - n);
	function[len - n] = 0;
	return !fnmatch(pattern, function, 0);
}

/* The same of a symbol's name, as it is in the file or demangled. */
static bool is_named(const struct ts_symbol *s, const char *pattern)
{
	return matches(pattern, s->name) || matches(pattern, s->mangled);
}

/* Does the call lead to the one function through an entry of a linkage table?  Its target is then the function. */
static bool is_linked(const struct calls *x, struct ts_call *call)
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
static bool is_wanted(const struct calls *x, struct ts_call *call)
{
	const struct ts_question *qn = x->qn;
	const struct ts_symbol *s;

	if (call->depth > qn->depth)
		return false;
	if (is_linked(x, call))
		return true;
	if (x->what.kind == TS_WHAT_MEM)
		return x->what.is_function ? call->target == x->what.addr
					    : call->target >= x->what.addr && call->target <= x->what.last;
	if (!*qn->operand)
		return true;
	s = x->ask->symbols ? ts_symbols_function_at(x->ask->symbols, call->target) : NULL;
	return s && is_named(s, qn->operand);
}

/* ----------------------------------------------------------------------------------------------- entries */

/* Are the entries of the function asked for?  Those of linkage tables only lead to functions. */
static bool is_entered(const struct calls *x, const struct ts_symbol *s)
{
	const struct ts_what *what = &x->what;
	size_t len = strlen(s->mangled), n = strlen(TS_LINKED);

	if (!s->is_function || s->addr == x->last_function || (len > n && !strcmp(s->mangled + len - n, TS_LINKED)))
		return false;
	if (what->kind == TS_WHAT_MEM)
		return s->addr >= what->addr && s->addr <= what->last;
	return !*x->qn->operand || is_named(s, x->qn->operand);
}

/* Find the functions whose entries are asked for.  Returns TS_GOT_ROW when all are there. */
static enum ts_got gather_functions(struct calls *x, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_symbol *s;

	if (is_of_one(x)) {
		if (!x->n_symbols++ && !ts_entries_add(&x->entries, x->what.addr))
			goto out_of_memory;
		return TS_GOT_ROW;
	}
	while (x->ask->symbols && (s = ts_symbols_get(x->ask->symbols, x->n_symbols))) {
		if (x->n_symbols % FUNCTIONS_A_CHUNK == 0 && !ts_budget_take(budget))
			return TS_GOT_PENDING;
		x->n_symbols++;
		if (!is_entered(x, s))
			continue;
		x->last_function = s->addr;
		if (!ts_entries_add(&x->entries, s->addr))
			goto out_of_memory;
	}
	return TS_GOT_ROW;

out_of_memory:
	no_memory(err);
	return TS_GOT_FAIL;
}

/* Have the next entry ready.  Returns TS_GOT_ROW when it is there, or there are no more. */
static enum ts_got look_for_entry(struct calls *x, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_got got = TS_GOT_ROW;

	if (x->has_entry || x->has_no_entries)
		return got;
	got = gather_functions(x, budget, err);
	if (got == TS_GOT_ROW)
		got = ts_entries_next(&x->entries, &x->entry, budget, err);
	x->has_entry = got == TS_GOT_ROW;
	x->has_no_entries = got == TS_GOT_END;
	return got == TS_GOT_END ? TS_GOT_ROW : got;
}

/* ----------------------------------------------------------------------------------------------- batches */

static int compare_ends(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	return (x->pos > y->pos) - (x->pos < y->pos);
}

static void add_found(struct calls *x, const struct ts_call *call, uint64_t begin)
{
	uint32_t i = x->n_found++;

	x->found[i] = (struct found){ .call = *call, .shown = x->shown, .begin = begin };
	if (call->kind == TS_CALL_RETURN)
		x->ends[x->n_ends++] = (struct end){ .pos = call->end, .found = i };
}

/* Reading at @pos costs a chunk that is decoded, if the last reading was in another one. */
static bool take_chunk(struct calls *x, uint64_t pos, struct ts_budget *budget)
{
	uint64_t chunk = pos / TS_CHUNK_STEPS;

	if (chunk != x->got_chunk && !ts_budget_take(budget))
		return false;
	x->got_chunk = chunk;
	return true;
}

/*
 * Where the function that was called begins: after the delay slot, where there is one.
 *
 * Returns false if the trace cannot be read.
 */
static bool find_begin(struct calls *x, uint64_t *begin, struct ts_error *err)
{
	struct ts_query *q = x->ask->q;
	const struct ts_call *call = &x->call;
	uint64_t pc, slot;
	bool has_pc;

	*begin = call->pos + (x->shown != SHOWN_FIRST);
	if (x->shown == SHOWN_FIRST || !ts_query_regset(q)->arch->has_delay_slots || *begin >= ts_query_end(q))
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
 * Returns TS_GOT_ROW when that is decided, TS_GOT_END after the last call.
 */
static enum ts_got look_at_next(struct calls *x, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_cond *cond = &x->qn->cond;
	enum ts_got got = TS_GOT_ROW;
	uint64_t begin;
	bool holds = true;

	if (!x->has_call) {
		if (x->n_looked % CALLS_A_CHUNK == 0 && !ts_budget_take(budget))
			return TS_GOT_PENDING;
		got = look_for_entry(x, budget, err);
		if (got != TS_GOT_ROW)
			return got;
		x->n_looked++;
		if (!find(x, &x->call))
			return TS_GOT_END;
		x->rows.at = x->call.pos;
		if (x->is_entry ? x->call.depth > x->qn->depth : !is_wanted(x, &x->call))
			return TS_GOT_ROW;
	}
	if (!find_begin(x, &begin, err))
		return TS_GOT_FAIL;
	if (cond->n && !take_chunk(x, begin, budget))
		got = TS_GOT_PENDING;
	x->judged.result_at = x->call.kind == TS_CALL_RETURN ? x->call.end : TS_NO_POS;
	if (cond->n && got == TS_GOT_ROW)
		got = ts_state_holds(x->ask, cond, begin, x->call.thread, &x->judged,
				     &holds, budget, err);
	x->has_call = got == TS_GOT_PENDING;
	if (got == TS_GOT_ROW && holds)
		add_found(x, &x->call, begin);
	return got;
}

/*
 * Find the calls of a batch, or some of them if the budget is used up.  Returns TS_GOT_ROW if there are any,
 * TS_GOT_END if there are no more.
 */
static enum ts_got find_batch(struct calls *x, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_got got = TS_GOT_ROW;

	x->n_found = x->n_given = x->n_ends = x->n_arguments = x->n_results = 0;
	x->got_chunk = TS_NO_POS;
	ts_buf_reset(&x->texts);
	while (got == TS_GOT_ROW && x->n_found < x->batch)
		got = look_at_next(x, budget, err);
	if (x->n_found == x->batch && x->batch < MAX_BATCH)
		x->batch *= 2;
	qsort(x->ends, x->n_ends, sizeof(*x->ends), compare_ends);
	return x->n_found && got != TS_GOT_FAIL ? TS_GOT_ROW : got;
}

/* The next call without arguments, by position; NULL if all have them. */
static struct found *next_begin(const struct calls *x)
{
	if (x->n_arguments == x->n_found)
		return NULL;
	return &x->found[x->rows.is_reverse ? x->n_found - 1 - x->n_arguments : x->n_arguments];
}

/* The pc of the step that led to an entry. */
static bool get_pc(struct calls *x, struct found *f, struct ts_error *err)
{
	const struct ts_steps *batch;
	const struct ts_step *s;

	if (f->call.pc != TS_NO_PC || f->shown >= SHOWN_UNSEEN)
		return true;
	s = ts_query_step(x->ask->q, f->call.pos, &batch, err);
	if (s)
		f->call.pc = s->pc;
	return s;
}

/* What is known of the function's parameters; NULL: nothing.  Windows has another convention than typed.h knows. */
static const struct ts_prototype *prototype_of(const struct calls *x, const struct found *f)
{
	bool is_x86_64 = !strcmp(ts_query_regset(x->ask->q)->arch->name, "x86_64");

	if (!x->ask->symbols || (is_x86_64 && !x->abi.is_sysv64))
		return NULL;
	return ts_symbols_prototype(x->ask->symbols, f->call.target);
}

static bool get_arguments(struct calls *x, struct found *f, struct ts_error *err)
{
	const struct ts_prototype *function = prototype_of(x, f);

	f->arguments = x->texts.len;
	f->n_arguments = ts_abi_n_arguments(&x->abi);
	x->n_arguments++;
	if (!get_pc(x, f, err))
		return false;
	if (function)
		return ts_typed_arguments(&x->abi, x->ask, function, ts_typed_is_clone(x->ask, f->call.target), f->begin, f->call.thread,
					  x->rows.is_for_people, &x->texts, &f->n_arguments, err);
	return ts_abi_arguments(&x->abi, x->ask, f->begin, f->call.thread, x->rows.is_for_people, &x->texts, err);
}

static bool get_result(struct calls *x, struct found *f, struct ts_error *err)
{
	const struct ts_prototype *function = prototype_of(x, f);

	f->has_result = true;
	f->result = x->texts.len;
	x->n_results++;
	if (function)
		return ts_typed_result(&x->abi, x->ask, function, ts_typed_is_clone(x->ask, f->call.target), f->call.end, f->call.thread,
				       x->rows.is_for_people, &x->texts, err);
	return ts_abi_result(&x->abi, x->ask, f->call.end, f->call.thread, x->rows.is_for_people, &x->texts,
			     err);
}

static bool has_wanted(const struct calls *x, uint32_t mask)
{
	return !x->rows.is_counting && !x->rows.is_bare && (mask & ~x->rows.unwanted);
}

#define VALUES  (1u << COL_ARGUMENTS | 1u << COL_RESULT | 1u << COL_TEXTS)
#define CALLERS (1u << COL_PC | 1u << COL_CALLER)

/* Get arguments and results of the batch.  Returns TS_GOT_ROW when they are there, or not wanted. */
static enum ts_got get_values(struct calls *x, struct ts_budget *budget, struct ts_error *err)
{
	if (!has_wanted(x, VALUES))
		return TS_GOT_ROW;
	for (;;) {
		struct found *begin = next_begin(x);
		const struct end *end = x->n_results < x->n_ends ? &x->ends[x->n_results] : NULL;
		bool is_end = end && (!begin || end->pos < begin->begin);

		if (!begin && !end)
			break;
		if (!take_chunk(x, is_end ? end->pos : begin->begin, budget))
			return TS_GOT_PENDING;
		if (!(is_end ? get_result(x, &x->found[end->found], err) : get_arguments(x, begin, err)))
			return TS_GOT_FAIL;
	}
	if (ts_buf_ok(&x->texts))
		return TS_GOT_ROW;
	no_memory(err);
	return TS_GOT_FAIL;
}

/* The text that follows a value; empty if none does. */
static const char *text_of(const char *value)
{
	const char *text = strchr(value, TS_ROW_ASIDE);

	return text ? text + 1 : "";
}

/* The texts to which the arguments and the result point, one for each; null if there are none. */
static void put_texts(const struct calls *x, const struct found *f, struct ts_row *row)
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

static void put_values(const struct calls *x, const struct found *f, struct ts_row *row)
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
static void put_indented(const struct calls *x, const struct ts_call *call, struct ts_row *row)
{
	const char *name = ts_ask_function(x->ask, call->target);
	char text[2 * MAX_INDENT + 200];
	int n = 0;

	for (uint32_t i = 1; i < call->depth && i <= MAX_INDENT; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "| ");
	if (name)
		snprintf(text + n, sizeof(text) - (size_t)n, "%s", name);
	else
		snprintf(text + n, sizeof(text) - (size_t)n, "0x%" PRIx64, call->target);
	ts_row_text(row, COL_CALLEE, text);
}

static void put_row(struct calls *x, const struct found *f, struct ts_row *row)
{
	static const char *const kinds[] = { "return", "unwound", "open", [SHOWN_TAIL] = "tail",
					     [SHOWN_HANDLER] = "handler", [SHOWN_UNSEEN] = "gap",
					     [SHOWN_FIRST] = "open" };
	const struct ts_call *call = &f->call;

	x->rows.at = call->pos;
	ts_row_number(row, COL_POSITION, call->pos);
	ts_row_number(row, COL_BEGIN, f->begin);
	if (call->end != TS_NO_END)
		ts_row_number(row, COL_END, call->end);
	if (x->rows.is_counting)
		return;
	ts_row_text(row, COL_KIND, kinds[f->shown]);
	if (x->rows.is_bare)
		return;
	ts_cell_thread(row, COL_THREAD, x->ask, call->thread);
	ts_row_number(row, COL_DEPTH, call->depth);
	if (f->shown < SHOWN_UNSEEN) {
		ts_row_addr(row, COL_PC, call->pc);
		if (has_wanted(x, 1u << COL_CALLER))
			ts_cell_function(row, COL_CALLER, x->ask, call->pc);
	}
	ts_row_addr(row, COL_ADDRESS, call->target);
	if (x->qn->is_tree && x->rows.is_for_people)
		put_indented(x, call, row);
	else if (has_wanted(x, 1u << COL_CALLEE))
		ts_cell_function(row, COL_CALLEE, x->ask, call->target);
	if (has_wanted(x, VALUES))
		put_values(x, f, row);
}

/*
 * Without a row: note it if the pattern matches no function.  Returns TS_GOT_END when that is known,
 * TS_GOT_PENDING before.
 */
static enum ts_got explain_none(struct calls *x, struct ts_budget *budget)
{
	const char *pattern = x->qn->operand;
	const struct ts_symbol *s;

	if (x->has_row || !*pattern || x->what.kind == TS_WHAT_MEM)
		return TS_GOT_END;
	while (x->ask->symbols && (s = ts_symbols_get(x->ask->symbols, x->n_matched))) {
		if (s->is_function && is_named(s, pattern))
			return TS_GOT_END;
		if (++x->n_matched % SYMBOLS_A_CHUNK == 0 && !ts_budget_take(budget))
			return TS_GOT_PENDING;
	}
	snprintf(x->rows.note, sizeof(x->rows.note),
		 x->n_matched ? "the name of no known function matches '%.80s'"
			      : "no functions are known, so none matches '%.80s'",
		 pattern);
	return TS_GOT_END;
}

/* What a tracer stepped over, or left out, may have been calls. */
static void note_gaps(struct calls *x)
{
	uint64_t n = ts_query_n_events_below(x->ask->q, TS_EV_GAP, x->qn->to) -
		     ts_query_n_events_below(x->ask->q, TS_EV_GAP, x->qn->from);

	if (n && !*x->rows.note)
		snprintf(x->rows.note, sizeof(x->rows.note),
			 "the recording has %" PRIu64 " gap%s here: calls that were stepped over or not recorded are no rows", n,
			 n == 1 ? "" : "s");
}

static enum ts_got next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			struct ts_error *err)
{
	struct calls *x = (struct calls *)rows;
	enum ts_got got = TS_GOT_ROW;

	if (!x->lists) {
		got = x->what.is_indirect ? ts_ifunc_resolve(x->ask, &x->what, x->rows.note, budget, err)
					  : ts_ask_need_calls(x->ask, budget, err);
		if (got == TS_GOT_PENDING || got == TS_GOT_FAIL)
			return got;
		if (!begin(x, err))
			return TS_GOT_FAIL;
	}
	if (x->n_given == x->n_found)
		got = find_batch(x, budget, err);
	if (got == TS_GOT_ROW)
		got = get_values(x, budget, err);
	if (got == TS_GOT_END) {
		got = explain_none(x, budget);
		if (got == TS_GOT_END)
			note_gaps(x);
	}
	if (got != TS_GOT_ROW)
		return got;
	x->has_row = true;
	if (x->n_given % ROWS_A_CHUNK == ROWS_A_CHUNK - 1 && !ts_budget_take(budget))
		return TS_GOT_PENDING;
	if (has_wanted(x, CALLERS) && !get_pc(x, &x->found[x->n_given], err))
		return TS_GOT_FAIL;
	put_row(x, &x->found[x->n_given++], row);
	return TS_GOT_ROW;
}

static void close_calls(struct ts_rows *rows)
{
	struct calls *x = (struct calls *)rows;

	for (uint32_t i = 0; x->lists && i < x->n_lists; i++)
		free(x->lists[i].block);
	free(x->lists);
	free(x->found);
	free(x->ends);
	ts_entries_fini(&x->entries);
	ts_buf_fini(&x->texts);
	ts_abi_fini(&x->abi);
	free(x);
}

static const struct ts_rows_ops ops = { .next = next, .close = close_calls };

static struct ts_rows *open_calls(struct ts_ask *ask, const struct ts_question *qn, bool is_reverse,
				  struct ts_error *err)
{
	struct calls *x = calloc(1, sizeof(*x));

	if (!x || !ts_abi_init(&x->abi, ask)) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
		free(x);
		return NULL;
	}
	x->rows = (struct ts_rows){ .ops = &ops, .is_reverse = is_reverse, .go = TS_NO_POS };
	x->ask = ask;
	x->qn = qn;
	x->what = qn->what;
	x->batch = FIRST_BATCH;
	x->judged.result = ts_abi_result_place(&x->abi, ts_query_regset(ask->q));
	ts_buf_init(&x->texts);
	return &x->rows;
}

const struct ts_verb ts_verb_calls = {
	.name = "calls",
	.synopsis = "[WHAT|PATTERN] [depth N] [tree]",
	.help = "List calls, with arguments and results; WHAT or PATTERN is the callee.",
	.example = "calls first 10",
	.columns = columns,
	.n_columns = N_COLUMNS,
	.operand = TS_OPERAND_CALLEE_OR_NONE,
	.takes = TS_TAKES_MACHINE | TS_TAKES_RANGE | TS_TAKES_STATE | TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT |
		 TS_TAKES_DEPTH | TS_TAKES_RESULT | TS_TAKES_TREE,
	.is_reversible = true,
	.open = open_calls,
};
