/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/verbs/verbs.h"
#include "coverage_files.h"
#include "covered.h"
#include "src/ask/calls/ifunc.h"
#include "src/ask/grammar/machine.h"
#include "src/ask/grammar/machine_names.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/state.h"
#include "src/ask/verbs/cells.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/heap.h"
#include "src/query/search/call_list.h"
#include "src/query/code/insns.h"
#include "src/query/search/scan.h"
#include "src/symbols/symbols.h"

#define N_HOT 20u

/* Addresses, and runs, that take as long to examine as a chunk to decode. */
#define ITEMS_A_CHUNK  (TS_CHUNK_STEPS / 4)
#define SORTED_A_CHUNK (TS_CHUNK_STEPS / 8) /* taken out of a heap */
#define RUNS_A_CHUNK   TS_CHUNK_STEPS
#define STEPS_A_CHUNK  TS_CHUNK_STEPS

/* The stages before the rows. */
enum stage {
	SIZING, /* how many addresses there are at most: a table that grows is made anew in one piece */
	COUNTING,
	SUBTRACTING, /* what `minus A:B` executed */
	KEEPING, /* the addresses that are left */
	MEASURING, /* how long the instructions are, if the format does not have it */
	ENTERING, /* where functions begin to which symbols do not reach */
	GROUPING, /* the addresses by function */
	ORDERING, /* what has been found: into a heap */
	SORTING,  /* for files: out of the heap, back into the table */
	WRITING,  /* the files that the question names */
	LISTED,
};

/*
 * The addresses to which the recorded calls of a process lead, and where its threads begin: the beginnings of its
 * functions, whether or not they have symbols.  All zero: nothing has been collected.
 */
struct call_targets {
	struct ts_covered_table found; /* each once; ascending when all have been collected */
	uint32_t thread, ordinal;      /* the next call */
	bool is_begun;
};

struct coverage {
	struct ts_rows rows;
	uint32_t process;
	enum stage stage;
	size_t next; /* the ordinal of what is examined next */
	size_t n_at_most;
	struct ts_executed_at counted; /* how far what was executed has been counted */
	struct ts_executed_at subtracted; /* how far what `minus A:B` executed has been subtracted */
	uint64_t step, minus_step;        /* the same, of words about a machine */
	struct ts_machine_at machine_at;
	struct ts_what what;           /* while it is an indirect function, the range is not that of the function that runs */
	uint64_t *first, *len;         /* owned, two arrays; the ranges of code that are asked about */
	size_t n_ranges;               /* 0: all code */
	size_t n_kept;
	struct ts_covered_table addresses, functions;
	struct call_targets targets;
	bool has_open;                 /* an address is behind a symbol without an end */
	struct ts_coverage_file *file; /* owned; the one that is being written, or NULL */
	struct ts_heap order;          /* what has been neither shown nor written to a file */
	uint64_t n_left;               /* the maximum number of its rows */
	bool is_failed;
};

/* ---------------------------------------------------------------------------------------------- counting */

static bool add_target(struct call_targets *t, uint64_t addr, struct ts_error *err)
{
	return ts_covered_find(&t->found, addr) || ts_no_memory(err, "targets of calls");
}

/* The targets of a block of calls.  Returns false if memory is exhausted. */
static bool take_block(struct call_targets *t, const struct ts_query *q, uint32_t n_calls, struct ts_error *err)
{
	struct ts_call calls[TS_CALL_BLOCK];
	uint32_t n = ts_query_call_block(q, t->thread, t->ordinal, calls);

	for (uint32_t i = 0; i < n && calls[i].ordinal < n_calls; i++) {
		if (calls[i].kind != TS_CALL_SWITCH && !add_target(t, calls[i].target, err))
			return false;
	}
	t->ordinal += TS_CALL_BLOCK - t->ordinal % TS_CALL_BLOCK;
	return true;
}

/*
 * A thread's first instruction: what called the function is not recorded.
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
static bool take_first(struct call_targets *t, struct ts_query *q, struct ts_error *err)
{
	uint64_t pos = ts_query_next_step(q, t->thread, 0);
	const struct ts_steps *b;
	const struct ts_step *s;

	if (pos == TS_NO_POS)
		return true;
	s = ts_query_step(q, pos, &b, err);
	return s && (s->pc == TS_NO_PC || add_target(t, s->pc, err));
}

/* The blocks of one thread after the other.  Returns TS_ITEM if there may be more. */
static enum ts_next take_next(struct call_targets *t, struct ts_query *q, uint32_t process, struct ts_error *err)
{
	uint32_t n_calls;
	bool is_ours;

	if (t->thread == ts_query_n_threads(q)) {
		TS_SORT_BY(t->found.items, t->found.n, addr);
		return TS_END;
	}
	is_ours = ts_query_process(q, t->thread) == process;
	n_calls = is_ours ? ts_query_n_calls(q, t->thread) : 0;
	if ((is_ours && !t->ordinal && !take_first(t, q, err)) || (t->ordinal < n_calls && !take_block(t, q, n_calls, err)))
		return TS_FAIL;
	if (t->ordinal >= n_calls) {
		t->thread++;
		t->ordinal = 0;
	}
	return TS_ITEM;
}

/*
 * Collect the targets, of which there are at most @max, in the whole recording.
 *
 * Returns TS_END when all have been collected, TS_MORE if the budget is used up, TS_FAIL if the trace
 * cannot be read or memory is exhausted.
 */
static enum ts_next collect_targets(struct call_targets *t, struct ts_ask *ask, uint32_t process, size_t max,
				    struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got = ts_ask_need_calls(ask, budget, err);

	if (got == TS_ITEM && !t->is_begun && !ts_covered_make_slots(&t->found, max)) {
		ts_no_memory(err, "targets of calls");
		return TS_FAIL;
	}
	t->is_begun |= got == TS_ITEM;
	while (got == TS_ITEM) {
		if (!ts_budget_take(budget))
			return TS_MORE;
		got = take_next(t, ask->q, process, err);
	}
	return got;
}

/* The greatest target <= @addr, 0 if none is found.  All must have been collected. */
static uint64_t target_before(const struct call_targets *t, uint64_t addr)
{
	size_t at = 0;

	TS_BISECT(at, t->found.n, i, t->found.items[i].addr <= addr);
	return at ? t->found.items[at - 1].addr : 0;
}

static bool is_asked_about(const struct coverage *c, uint64_t addr)
{
	bool is_it = !c->n_ranges;

	for (size_t i = 0; i < c->n_ranges && !is_it; i++)
		is_it = addr - c->first[i] < c->len[i];
	return is_it;
}

/* One item an address; the shortest known length of its instructions counts. */
static void add(void *user, const struct ts_executed *x)
{
	struct coverage *c = user;
	struct ts_covered *item;

	if (x->process != c->process || c->is_failed || !is_asked_about(c, x->pc))
		return;
	item = ts_covered_find(&c->addresses, x->pc);
	c->is_failed = !item;
	if (c->is_failed)
		return;
	item->steps += x->n;
	if (!item->len || (x->len && x->len < item->len))
		item->len = x->len;
}

static int by_steps(const void *a, const void *b)
{
	const struct ts_covered *x = a;
	const struct ts_covered *y = b;

	return TS_ORDER(y->steps, x->steps) ?: ts_by_u64(a, b);
}

static bool is_hot(const struct coverage *c)
{
	return c->rows.qn->verb == &ts_verb_hot;
}

static bool has_files(const struct coverage *c)
{
	return *c->rows.qn->lcov || *c->rows.qn->drcov;
}

/* Does item @x come before @y, in the direction of the cursor?  A file has its addresses in ascending order. */
static bool is_before(const void *user, const void *x, const void *y)
{
	const struct coverage *c = user;
	int order = is_hot(c) ? by_steps(x, y) : ts_by_u64(x, y);

	return c->rows.is_reverse && !has_files(c) ? order > 0 : order < 0;
}

/* Are functions shown in place of their instructions?  What is in none stays as it is. */
static bool has_functions(const struct coverage *c)
{
	return is_hot(c) && !c->rows.qn->by_address && c->rows.ask->symbols && ts_machine_names_count(c->rows.ask, c->rows.qn);
}

/* The next stages, in pieces that take as long as a chunk.  Each returns false when it is done. */

static bool size_some(struct coverage *c)
{
	struct ts_run_facts run;
	bool has_more = true;

	for (unsigned i = 0; i < RUNS_A_CHUNK && has_more; i++) {
		has_more = ts_query_run(c->rows.ask->q, (uint32_t)c->next, &run);
		c->n_at_most += has_more && run.process == c->process ? run.n : 0;
		c->next += has_more;
	}
	if (!has_more)
		c->is_failed = !ts_covered_make_slots(&c->addresses, c->n_at_most);
	return has_more;
}

/*
 * Pass the steps [@from, @to) of the process and ring that are wanted to @use, one by one from *at on: the index does not
 * count them by process.
 */
static enum ts_next each_of_machine(struct coverage *c, uint64_t from, uint64_t to, uint64_t *at,
				    void (*use)(void *user, const struct ts_executed *x), struct ts_error *err)
{
	struct ts_query *q = c->rows.ask->q;

	*at = *at < from ? from : *at;
	for (unsigned i = 0; i < STEPS_A_CHUNK && *at < to; i++, ++*at) {
		const struct ts_steps *b;
		const struct ts_step *s;
		bool is_it;

		if (!ts_machine_holds(&c->rows.qn->machine, q, &c->machine_at, *at, &is_it, err))
			return TS_FAIL;
		s = ts_query_step(q, *at, &b, err);
		if (!s)
			return TS_FAIL;
		if (is_it && s->pc != TS_NO_PC)
			use(c, &(struct ts_executed){ ts_query_process(q, s->thread), s->pc, (uint8_t)s->insn_len, 1 });
	}
	return *at < to ? TS_MORE : TS_END;
}

/* As each_of_machine(), and without words about a machine by the index. */
static enum ts_next each_executed(struct coverage *c, uint64_t from, uint64_t to, struct ts_executed_at *at, uint64_t *step,
				  void (*use)(void *user, const struct ts_executed *x), struct ts_error *err)
{
	if (c->rows.qn->machine.has_process || c->rows.qn->machine.has_ring)
		return each_of_machine(c, from, to < c->rows.ask->n_steps ? to : c->rows.ask->n_steps, step, use, err);
	return ts_query_each_executed(c->rows.ask->q, from, to, at, use, c) ? TS_MORE : TS_END;
}

static enum ts_next count_some(struct coverage *c, struct ts_error *err)
{
	return each_executed(c, c->rows.qn->from, c->rows.qn->to, &c->counted, &c->step, add, err);
}

/* Leave out an address that was executed there. */
static void subtract(void *user, const struct ts_executed *x)
{
	struct coverage *c = user;
	struct ts_covered *item = x->process == c->process ? ts_covered_look_up(&c->addresses, x->pc) : NULL;

	if (item)
		item->steps = 0;
}

static enum ts_next subtract_some(struct coverage *c, struct ts_error *err)
{
	if (!c->rows.qn->has_minus)
		return TS_END;
	return each_executed(c, c->rows.qn->minus_from, c->rows.qn->minus_to, &c->subtracted, &c->minus_step, subtract, err);
}

/* The table is searched no more. */
static bool keep_some(struct coverage *c)
{
	struct ts_covered_table *t = &c->addresses;

	for (unsigned i = 0; i < ITEMS_A_CHUNK && c->next < t->n && c->rows.qn->has_minus; i++, c->next++) {
		if (t->items[c->next].steps)
			t->items[c->n_kept++] = t->items[c->next];
	}
	if (c->rows.qn->has_minus && c->next == t->n)
		t->n = c->next = c->n_kept;
	return c->rows.qn->has_minus && c->next < t->n;
}

/*
 * The length of the next instruction, by its code.  The addresses are in the order in which they ran first, more or less,
 * so that most of the code is at hand.  Returns TS_END after the last one.
 */
static enum ts_next measure_one(struct coverage *c, struct ts_error *err)
{
	struct ts_query *q = c->rows.ask->q;
	struct ts_covered *item;
	uint64_t pos;
	uint16_t len;

	if (!ts_query_facts(q)->guesses_lengths || is_hot(c) || c->next == c->addresses.n)
		return TS_END;
	item = &c->addresses.items[c->next++];
	pos = ts_query_find_execution(q, c->process, item->addr, item->addr, c->rows.qn->from, TS_FORWARDS);
	len = item->len;
	if (pos != TS_NO_POS && !ts_query_insn_len(q, pos, len, &len, err))
		return TS_FAIL;
	item->len = (uint8_t)len;
	return TS_MORE;
}

/* The function of the address, as far as it is known: else the address itself. */
static uint64_t owner_of(struct coverage *c, uint64_t addr)
{
	const struct ts_symbol *s = ts_symbols_function_at(c->rows.ask->symbols, addr);
	uint64_t target = s && s->is_open ? target_before(&c->targets, addr) : 0;

	if (!s || !s->is_open)
		return s ? s->addr : addr;
	if (target >= s->addr)
		return target;
	return c->targets.found.n && ts_covered_look_up(&c->addresses, s->addr) ? s->addr : addr;
}

/* A symbol without an end reaches up to the next address to which a call leads. */
static enum ts_next enter_some(struct coverage *c, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_covered_table *from = &c->addresses;

	if (!has_functions(c) || ts_machine_is_known(c->rows.ask->q))
		return TS_END;
	for (unsigned i = 0; i < ITEMS_A_CHUNK && c->next < from->n && !c->has_open; i++, c->next++) {
		const struct ts_symbol *s = ts_symbols_function_at(c->rows.ask->symbols, from->items[c->next].addr);

		c->has_open = s && s->is_open;
	}
	if (c->has_open)
		return collect_targets(&c->targets, c->rows.ask, c->process, c->n_at_most, budget, err);
	return c->next < from->n ? TS_MORE : TS_END;
}

static void note_open(struct coverage *c)
{
	if (c->has_open && !*c->rows.note)
		snprintf(c->rows.note, sizeof(c->rows.note),
			 "symbols without an end reach up to where the next recorded call leads: a function that only jumps or "
			 "unrecorded code reached counts for the one before it");
}

static bool group_some(struct coverage *c)
{
	const struct ts_covered_table *from = &c->addresses;

	if (!has_functions(c))
		return false;
	if (!c->next)
		c->is_failed = !ts_covered_make_slots(&c->functions, from->n);
	for (unsigned i = 0; i < ITEMS_A_CHUNK && c->next < from->n && !c->is_failed; i++, c->next++) {
		const struct ts_covered *x = &from->items[c->next];
		struct ts_covered *item = ts_covered_find(&c->functions, owner_of(c, x->addr));

		c->is_failed = !item;
		if (item)
			item->steps += x->steps;
	}
	return c->next < from->n;
}

static bool order_some(struct coverage *c)
{
	const struct ts_covered_table *from = has_functions(c) ? &c->functions : &c->addresses;

	for (unsigned i = 0; i < ITEMS_A_CHUNK && c->next < from->n && !c->is_failed; i++)
		c->is_failed = !ts_heap_put(&c->order, &from->items[c->next++]);
	return c->next < from->n;
}

/* The files are written from the table, whose items take the order of the heap.  The table is searched no more. */
static bool sort_some(struct coverage *c)
{
	struct ts_covered *items = c->addresses.items;

	for (unsigned i = 0; i < SORTED_A_CHUNK && has_files(c) && ts_heap_first(&c->order); i++)
		ts_heap_take(&c->order, &items[c->next++]);
	return has_files(c) && ts_heap_first(&c->order);
}

/* ------------------------------------------------------------------------------------------------- files */

/* The answer is the file: its addresses are not shown as rows. */
static void note_written(struct coverage *c, const char *path)
{
	size_t at = strlen(c->rows.note);

	snprintf(c->rows.note + at, sizeof(c->rows.note) - at, "%s%s has %zu addresses", at ? "; " : "", path, c->addresses.n);
}

/*
 * A piece of the files that the question names, of the addresses in order: lcov's, then drcov's.  Returns
 * TS_END when they are written.
 */
static enum ts_next write_some(struct coverage *c, struct ts_error *err)
{
	const struct ts_covered_list all = { c->rows.ask, c->process, c->addresses.items, c->addresses.n };
	enum ts_coverage_form form = c->next ? TS_COVERAGE_DRCOV : TS_COVERAGE_LCOV;
	const char *path = c->next ? c->rows.qn->drcov : c->rows.qn->lcov;
	enum ts_next got = TS_END;

	if (*path) {
		c->file = c->file ? c->file : ts_coverage_file_new(&all, form, path, err);
		got = c->file ? ts_coverage_file_some(c->file, err) : TS_FAIL;
		if (got != TS_END)
			return got;
		ts_coverage_file_free(c->file);
		c->file = NULL;
		note_written(c, path);
	}
	if (!c->next++)
		return TS_MORE;
	c->rows.is_done = has_files(c);
	return TS_END;
}

/* -------------------------------------------------------------------------------------------------- rows */

/* Count, and put in order.  Returns TS_END when that is done. */
static enum ts_next list(struct coverage *c, struct ts_budget *budget, struct ts_error *err)
{
	static bool (*const some[])(struct coverage *) = {
		[SIZING] = size_some,    [KEEPING] = keep_some, [GROUPING] = group_some,
		[ORDERING] = order_some, [SORTING] = sort_some,
	};
	enum ts_next got;

	while (c->stage < LISTED) {
		if (!ts_budget_take(budget))
			return TS_MORE;
		if (c->stage == WRITING)
			got = write_some(c, err);
		else if (c->stage == COUNTING)
			got = count_some(c, err);
		else if (c->stage == SUBTRACTING)
			got = subtract_some(c, err);
		else if (c->stage == MEASURING)
			got = measure_one(c, err);
		else if (c->stage == ENTERING)
			got = enter_some(c, budget, err);
		else
			got = some[c->stage](c) ? TS_MORE : TS_END;
		if (got == TS_FAIL)
			return got;
		if (got == TS_END) {
			c->stage++;
			c->next = 0;
		}
		if (c->is_failed) {
			ts_no_memory(err, "what was executed");
			return TS_FAIL;
		}
	}
	return TS_END;
}

static void put_row(const struct coverage *c, const struct ts_covered *x, struct ts_row *row)
{
	ts_row_addr(row, 0, x->addr);
	if (is_hot(c)) {
		ts_cell_function(row, 1, c->rows.ask, x->addr);
		ts_row_number(row, 2, x->steps);
		ts_row_share(row, 3, (double)x->steps / (double)c->rows.ask->n_steps);
		return;
	}
	if (x->len)
		ts_row_number(row, 1, x->len);
	ts_row_number(row, 2, x->steps);
	ts_cell_function(row, 3, c->rows.ask, x->addr);
	ts_cell_line(row, 4, c->rows.ask, x->addr);
}

/* The code of an indirect function is that of the function that runs. */
static enum ts_next resolve(struct coverage *c, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got = ts_ifunc_resolve(&c->rows, &c->what, budget, err);

	if (got != TS_ITEM)
		return got;
	c->first[0] = c->what.addr;
	c->len[0] = c->what.last - c->what.addr + 1;
	return TS_ITEM;
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct coverage *c = (struct coverage *)rows;
	enum ts_next got = c->what.is_indirect ? resolve(c, budget, err) : TS_ITEM;
	struct ts_covered x;

	if (got == TS_ITEM)
		got = list(c, budget, err);
	if (got != TS_END)
		return got;
	note_open(c);
	if (!c->n_left || !(rows->is_counting ? ts_heap_drop(&c->order) : ts_heap_take(&c->order, &x)))
		return TS_END;
	c->n_left--;
	if (!rows->is_counting)
		put_row(c, &x, row);
	return TS_ITEM;
}

static void close_coverage(struct ts_rows *rows)
{
	struct coverage *c = (struct coverage *)rows;

	ts_covered_fini(&c->addresses);
	ts_covered_fini(&c->functions);
	ts_covered_fini(&c->targets.found);
	ts_coverage_file_free(c->file);
	ts_heap_fini(&c->order);
	free(c->first);
	free(c->len);
}

/* The ranges of code that the question is about.  Returns false if memory is exhausted. */
static bool find_ranges(struct coverage *c)
{
	const struct ts_question *qn = c->rows.qn;
	size_t len = is_hot(c) ? 0 : strlen(qn->operand);

	c->n_ranges = len ? ts_what_line_ranges(qn->operand, len, c->rows.ask->symbols, NULL, NULL, 0) : qn->what.kind == TS_WHAT_MEM;
	c->first = calloc(c->n_ranges + 1, sizeof(*c->first));
	c->len = calloc(c->n_ranges + 1, sizeof(*c->len));
	if (!c->first || !c->len)
		return false;
	if (len)
		ts_what_line_ranges(qn->operand, len, c->rows.ask->symbols, c->first, c->len, c->n_ranges);
	else if (c->n_ranges) {
		c->what = qn->what;
		c->first[0] = qn->what.addr;
		c->len[0] = qn->what.last - qn->what.addr + 1;
	}
	return true;
}

static bool check(const struct ts_ask *ask, const struct ts_question *qn, struct ts_error *err)
{
	size_t n_lines = 0;

	if (*qn->lcov && ask->symbols)
		ts_code_lines_all(ts_symbols_lines(ask->symbols), &n_lines);
	if (*qn->lcov && !n_lines)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "'--lcov' needs the lines of the source, and no file of the program has them");
	return (!*qn->lcov && !*qn->drcov) || ts_machine_names_count(ask, qn) ||
	       ts_fail(err, TS_EUSAGE, TS_NO_OFF, "names are those of one process: select it with 'process C'");
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct coverage *c = (struct coverage *)rows;
	const struct ts_question *qn = rows->qn;

	if (!check(rows->ask, qn, err))
		return false;
	rows->at = qn->at;
	c->process = ts_ask_process(rows->ask, qn);
	c->n_left = UINT64_MAX;
	if (is_hot(c))
		c->n_left = qn->count == TS_NO_LIMIT ? N_HOT : qn->count;
	ts_heap_init(&c->order, sizeof(struct ts_covered), is_before, c);
	return find_ranges(c) || ts_no_memory(err, "a question");
}

static const struct ts_rows_ops ops = { sizeof(struct coverage), begin, next, close_coverage };

static const struct ts_column hot_columns[] = {
	{ .name = "address", .type = TS_COLUMN_ADDR },
	{ .name = "function", .type = TS_COLUMN_TEXT },
	{ .name = "steps", .type = TS_COLUMN_NUMBER },
	{ .name = "share", .type = TS_COLUMN_SHARE },
};

static const struct ts_verb_word hot_words[] = { { "blocks", &ts_verb_hot_blocks }, { "loops", &ts_verb_hot_loops }, { 0 } };

const struct ts_verb ts_verb_hot = {
	.name = "hot",
	.synopsis = "[N] [blocks | loops] [by address]",
	.help = "List the functions, the instructions (by address), the basic blocks or the loops with most steps.",
	.words = hot_words,
	.example = "hot 10 by address",
	TS_COLUMNS(hot_columns),
	.takes = TS_TAKES_MACHINE | TS_TAKES_RANGE | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_COUNT | TS_TAKES_BY,
	.rows = &ops,
};

static const struct ts_column coverage_columns[] = {
	{ .name = "address", .type = TS_COLUMN_ADDR }, { .name = "length", .type = TS_COLUMN_NUMBER },
	{ .name = "steps", .type = TS_COLUMN_NUMBER }, { .name = "function", .type = TS_COLUMN_TEXT },
	{ .name = "file", .type = TS_COLUMN_TEXT },    { .name = "line", .type = TS_COLUMN_NUMBER },
};

const struct ts_verb ts_verb_coverage = {
	.name = "coverage",
	.synopsis = "[WHAT] [minus A:B] [--lcov FILE | --drcov FILE]",
	.help = "List each address (of WHAT: FUNC, FILE:LINE, ADDR:END) that was executed, and how often; or write a file for other programs.",
	.example = "coverage first 10",
	TS_COLUMNS(coverage_columns),
	.operand = TS_OPERAND_CODE_OR_NONE,
	.takes = TS_TAKES_MACHINE | TS_TAKES_RANGE | TS_TAKES_MINUS | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_FILES,
	.is_reversible = true,
	.rows = &ops,
};
