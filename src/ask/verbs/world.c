/* SPDX-License-Identifier: MIT */
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/heap.h"
#include "src/base/text/suffix.h"
#include "src/symbols/names.h"
#include "src/symbols/symbols.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/state.h"
#include "src/symbols/process_names.h"
#include "src/ask/coverage/covered.h"
#include "src/ask/grammar/machine.h"

enum kind {
	THREADS,
	PROCESSES,
	MODULES,
	MAPS,
};

/* The number of threads, and of other items, that are examined in the time in which a chunk is decoded. */
#define THREADS_A_CHUNK 8u
#define ITEMS_A_CHUNK	64u

/* The item of the steps of a machine whose process is not known. */
#define UNKNOWN SIZE_MAX

/* ----------------------------------------------------------------------------- the processes of a machine */

/* The page tables (cr3) that were in use, with first positions and numbers of steps.  Only chunks that write cr3 are decoded. */
struct address_spaces {
	struct ts_query *q;              /* borrowed */
	uint64_t n_steps;
	struct ts_covered_table steps;   /* by cr3, in the form of `process C`: the number of steps */
	struct ts_covered_table begins;  /* by cr3: the first position */
	uint64_t n_unknown;              /* the number of steps at which cr3 is unknown ... */
	uint64_t unknown_begin;          /* ... and the first of these positions */
	uint32_t thread;                 /* the current processor */
	bool is_inside;                  /* a span of it is open: */
	uint64_t from;                   /* its first position */
	uint64_t value;
	bool has_value;
	uint64_t chunk;                  /* the next chunk to decode */
};

/* The recording must be one of a machine (ts_machine_is_known()). */
static void address_spaces_init(struct address_spaces *a, const struct ts_ask *ask)
{
	*a = (struct address_spaces){ .q = ask->q, .n_steps = ask->n_steps };
}

static void address_spaces_fini(struct address_spaces *a)
{
	ts_covered_fini(&a->steps);
	ts_covered_fini(&a->begins);
}

/* The steps of the span that ends at @to are counted.  Returns false if memory is exhausted. */
static bool end_span(struct address_spaces *a, uint64_t to, struct ts_error *err)
{
	uint64_t first = ts_query_next_step(a->q, a->thread, a->from);
	uint64_t n = ts_query_n_steps_of(a->q, a->thread, to) - ts_query_n_steps_of(a->q, a->thread, a->from);
	struct ts_covered *steps, *begin;

	if (!n)
		return true;
	if (!a->has_value) {
		a->unknown_begin = !a->n_unknown || first < a->unknown_begin ? first : a->unknown_begin;
		a->n_unknown += n;
		return true;
	}
	steps = ts_covered_find(&a->steps, a->value);
	begin = ts_covered_find(&a->begins, a->value);
	if (!steps || !begin)
		return ts_no_memory(err, "the processes of the machine");
	if (!steps->steps || first < begin->steps)
		begin->steps = first;
	steps->steps += n;
	return true;
}

/* Begin a span at @pos if the page tables change there. */
static bool see_value(struct address_spaces *a, uint64_t pos, struct ts_error *err)
{
	uint64_t value = 0;
	bool has_value = ts_machine_process(a->q, pos, a->thread, &value, err);

	if (err->code != TS_OK)
		return false;
	if (a->is_inside && has_value == a->has_value && value == a->value)
		return true;
	if (a->is_inside && !end_span(a, pos, err))
		return false;
	a->is_inside = true;
	a->from = pos;
	a->value = value;
	a->has_value = has_value;
	return true;
}

static bool look_into_chunk(struct address_spaces *a, uint64_t chunk, struct ts_error *err)
{
	uint64_t pos = chunk * TS_CHUNK_STEPS, end = pos + TS_CHUNK_STEPS < a->n_steps ? pos + TS_CHUNK_STEPS : a->n_steps;

	for (pos = pos < a->from ? a->from : pos; pos < end; pos++) {
		const struct ts_steps *b;
		const struct ts_step *s = ts_query_step(a->q, pos, &b, err);

		if (!s || (ts_machine_may_change(a->q, b, s) && !see_value(a, pos + 1, err)))
			return false;
	}
	return true;
}

/*
 * Continue.  Returns TS_END when all processes are listed, TS_MORE if the budget is used up, TS_FAIL if the
 * trace cannot be read, or memory is exhausted.
 */
static enum ts_next address_spaces_some(struct address_spaces *a, struct ts_budget *budget, struct ts_error *err)
{
	while (a->thread < ts_query_n_threads(a->q)) {
		uint64_t first = ts_query_next_step(a->q, a->thread, 0), chunk;

		if (!ts_budget_take(budget))
			return TS_MORE;
		if (!a->is_inside && first < a->n_steps) {
			if (!see_value(a, first, err))
				return TS_FAIL;
			a->chunk = first / TS_CHUNK_STEPS;
		}
		chunk = a->is_inside ? ts_machine_next_change(a->q, a->thread, a->chunk) : TS_NO_CHUNK;
		if (chunk != TS_NO_CHUNK && chunk * TS_CHUNK_STEPS < a->n_steps) {
			if (!look_into_chunk(a, chunk, err))
				return TS_FAIL;
			a->chunk = chunk + 1;
			continue;
		}
		if (a->is_inside && !end_span(a, a->n_steps, err))
			return TS_FAIL;
		a->is_inside = false;
		a->thread++;
	}
	return TS_END;
}

/* An item of a list, which exists at positions [begin, end). */
struct item {
	uint64_t begin, end; /* end: TS_NO_POS if it exists at the last position */
	uint64_t order;      /* the sort key: an address, or an id */
	uint64_t steps;
	size_t i;            /* its ordinal in the recording */
	uint32_t named;      /* for a process: its first thread with a name; TS_NO_THREAD: none has one */
};

/* The stages before the first row. */
enum stage {
	THREADS_OF_ALL, /* finds from when to when the processes exist, by their threads */
	LIST,
	LISTED,
};

struct world {
	struct ts_rows rows;
	enum kind kind;
	enum stage stage;
	uint64_t next;          /* the ordinal of the next item of the stage */
	unsigned n_looked;
	struct item *processes; /* owned; of processes: all of them */
	bool is_machine;        /* the processes are those of a whole machine: */
	struct address_spaces spaces;
	uint32_t n_threads, n_processes;
	uint32_t process;       /* whose modules or maps */
	struct ts_heap items;   /* the next row is the first */
	uint64_t from, to;      /* it is listed if it is there at one of these positions */
	bool is_any;            /* something is listed */
	bool is_failed;         /* memory ran out */
};

/* -------------------------------------------------------------------------------------------------- order */

/* Modules and maps are sorted by address, threads and processes by their first position. */
static int compare_items(enum kind kind, const struct item *x, const struct item *y)
{
	int by_begin = TS_ORDER(x->begin, y->begin), by_order = TS_ORDER(x->order, y->order);
	bool has_threads = kind == THREADS || kind == PROCESSES;

	return (has_threads ? by_begin : by_order) ?: (has_threads ? by_order : by_begin) ?: TS_ORDER(x->i, y->i);
}

/* Does item @x come before @y, in the direction of the cursor? */
static bool is_before(const void *user, const void *x, const void *y)
{
	const struct world *w = user;
	int order = compare_items(w->kind, x, y);

	return w->rows.is_reverse ? order > 0 : order < 0;
}

/* Add the item to the list if it exists at a position of the question. */
static void add(struct world *w, const struct item *item)
{
	if (item->begin >= w->to || (item->end != TS_NO_POS && item->end <= w->from))
		return;
	w->is_any = true;
	w->is_failed |= !ts_heap_put(&w->items, item);
}

/* ---------------------------------------------------------------------------------------------- the lists */

/*
 * The first position at which the thread no longer exists, TS_NO_POS if it exists at the end.  A thread may exist for some time
 * after its last step.
 */
static uint64_t thread_end(const struct ts_ask *ask, uint32_t thread)
{
	uint64_t at = ts_query_prev_step(ask->q, thread, ask->n_steps);

	if (at == TS_NO_POS || ts_query_is_alive(ask->q, thread, ask->n_steps))
		return TS_NO_POS;
	at++;
	TS_BISECT(at, ask->n_steps, i, ts_query_is_alive(ask->q, thread, i));
	return at;
}

/* Extend the process by its next thread: it exists while one of its threads does. */
static bool take_thread(struct world *w)
{
	const struct ts_query *q = w->rows.ask->q;
	uint32_t i = (uint32_t)w->next++;
	uint64_t begin, end;
	struct item *p;

	if (i >= w->n_threads)
		return false;
	begin = ts_query_next_step(q, i, 0);
	end = thread_end(w->rows.ask, i);
	p = &w->processes[ts_query_process(q, i)];
	if (p->named == TS_NO_THREAD && *ts_query_thread_facts(q, i)->name)
		p->named = i;
	if (begin == TS_NO_POS)
		return true;
	p->begin = begin < p->begin ? begin : p->begin;
	p->end = end > p->end ? end : p->end;
	p->steps += ts_query_n_steps_of(q, i, w->rows.ask->n_steps);
	return true;
}

static bool list_thread(struct world *w)
{
	const struct ts_ask *ask = w->rows.ask;
	uint32_t i = (uint32_t)w->next++;
	struct item item = { .i = i };

	if (i >= w->n_threads || i >= ask->names->n_tids)
		return false;
	item.begin = ts_query_next_step(ask->q, i, 0);
	item.end = thread_end(ask, i);
	item.order = (uint64_t)ask->names->tids[i];
	item.steps = ts_query_n_steps_of(ask->q, i, ask->n_steps);
	if (item.begin != TS_NO_POS)
		add(w, &item);
	return true;
}

/* A process of a machine exists from its first step on. */
static bool list_space(struct world *w)
{
	size_t i = (size_t)w->next++;
	const struct ts_covered *x = i < w->spaces.steps.n ? &w->spaces.steps.items[i] : NULL;

	if (x)
		add(w, &(struct item){ .begin = w->spaces.begins.items[i].steps, .end = TS_NO_POS, .order = x->addr, .steps = x->steps,
				       .i = i, .named = TS_NO_THREAD });
	else if (i == w->spaces.steps.n && w->spaces.n_unknown)
		add(w, &(struct item){ .begin = w->spaces.unknown_begin, .end = TS_NO_POS, .order = UINT64_MAX,
				       .steps = w->spaces.n_unknown, .i = UNKNOWN, .named = TS_NO_THREAD });
	return i <= w->spaces.steps.n;
}

static bool list_process(struct world *w)
{
	size_t i;

	if (w->is_machine)
		return list_space(w);
	i = (size_t)w->next++;
	if (i >= w->n_processes || i >= w->rows.ask->names->n_pids)
		return false;
	w->processes[i].order = (uint64_t)w->rows.ask->names->pids[i];
	if (w->processes[i].begin != TS_NO_POS)
		add(w, &w->processes[i]);
	return true;
}

static bool list_module(struct world *w)
{
	size_t i = (size_t)w->next++;
	struct ts_module_info m;

	if (!ts_query_module(w->rows.ask->q, i, &m))
		return false;
	if (m.process == w->process)
		add(w, &(struct item){ .begin = m.from, .end = m.until, .order = m.first, .i = i });
	return true;
}

static bool list_map(struct world *w)
{
	size_t i = (size_t)w->next++;
	struct ts_region_info r;

	if (!ts_query_region(w->rows.ask->q, i, &r))
		return false;
	if (r.process == w->process)
		add(w, &(struct item){ .begin = r.from, .end = r.until, .order = r.first, .i = i });
	return true;
}

/* Examine the next item of the stage.  Returns false after the last one. */
static bool look(struct world *w)
{
	static bool (*const list[])(struct world *) = {
		[THREADS] = list_thread, [PROCESSES] = list_process, [MODULES] = list_module, [MAPS] = list_map,
	};

	switch (w->stage) {
	case THREADS_OF_ALL:
		return w->processes && take_thread(w);
	case LIST:
		return list[w->kind](w);
	case LISTED:
		break;
	}
	return false;
}

static bool is_about_threads(const struct world *w)
{
	return w->stage == THREADS_OF_ALL || (w->stage == LIST && w->kind == THREADS);
}

/* Fill the heap.  Returns false if the budget is used up. */
static bool list_all(struct world *w, struct ts_budget *budget)
{
	for (; w->stage < LISTED; w->stage++, w->next = 0) {
		unsigned n_a_chunk = is_about_threads(w) ? THREADS_A_CHUNK : ITEMS_A_CHUNK;

		do {
			if (w->n_looked % n_a_chunk == 0 && !ts_budget_take(budget))
				return false;
			w->n_looked++;
		} while (look(w) && !w->is_failed);
	}
	return true;
}

/* --------------------------------------------------------------------------------------------------- rows */

static void put_span(const struct item *it, unsigned at, struct ts_row *row)
{
	ts_row_number(row, at, it->begin);
	if (it->end != TS_NO_POS)
		ts_row_number(row, at + 1, it->end);
}

static void put_range(unsigned at, uint64_t first, uint64_t last, struct ts_row *row)
{
	ts_row_addr(row, at, first);
	ts_row_number(row, at + 1, last - first + 1);
}

static const char *process_name(const struct ts_ask *ask, const struct item *it)
{
	const char *path = ts_query_facts(ask->q)->exec_path;

	if (path && ts_query_n_processes(ask->q) == 1)
		return ts_last_name(path);
	if (it->named != TS_NO_THREAD)
		return ts_query_thread_facts(ask->q, it->named)->name;
	return NULL;
}

/* The name of a machine's process: page tables have none, but the user may have given names, or the program of one. */
static const char *machine_process_name(const struct ts_ask *ask, const struct item *it)
{
	const char *name = it->i == UNKNOWN ? NULL : ts_process_names_get(ask->process_names, it->order);
	const struct ts_loaded_file *f;
	uint64_t root;

	if (name)
		return name;
	if (it->i == UNKNOWN || !ask->symbols || !ts_symbols_process(ask->symbols, &root) || root != it->order)
		return NULL;
	f = ts_loaded_get(ts_symbols_loaded(ask->symbols), 0);
	return f && f->path ? ts_last_name(f->path) : NULL;
}

static void note_names(struct world *w)
{
	uint64_t root;

	if (w->is_machine && !w->rows.ask->process_names && !(w->rows.ask->symbols && ts_symbols_process(w->rows.ask->symbols, &root)))
		snprintf(w->rows.note, sizeof(w->rows.note),
			 "the recording has no names of processes; --processes FILE gives them, --exec FILE --process C is the program of one");
}

static void put_row(const struct world *w, const struct item *it, struct ts_row *row)
{
	const struct ts_ask *ask = w->rows.ask;
	struct ts_module_info m;
	struct ts_region_info r;
	char prot[4] = "---";
	const char *name;

	switch (w->kind) {
	case THREADS:
		ts_cell_thread(row, 0, ask, (uint32_t)it->i);
		ts_cell_process(row, 1, ask, ts_query_process(ask->q, (uint32_t)it->i));
		put_span(it, 2, row);
		ts_row_number(row, 4, it->steps);
		name = ts_query_thread_facts(ask->q, (uint32_t)it->i)->name;
		ts_row_text(row, 5, *name ? name : NULL);
		break;
	case PROCESSES:
		if (w->is_machine && it->i != UNKNOWN)
			ts_row_addr(row, 0, it->order);
		else if (!w->is_machine)
			ts_cell_process(row, 0, ask, (uint32_t)it->i);
		put_span(it, 1, row);
		ts_row_number(row, 3, it->steps);
		ts_row_text(row, 4, w->is_machine ? machine_process_name(ask, it) : process_name(ask, it));
		break;
	case MODULES:
		ts_query_module(ask->q, it->i, &m);
		put_span(it, 0, row);
		put_range(2, m.first, m.last, row);
		ts_row_text(row, 4, m.file);
		break;
	case MAPS:
		ts_query_region(ask->q, it->i, &r);
		put_span(it, 0, row);
		put_range(2, r.first, r.last, row);
		prot[0] = r.prot & TS_PROT_READ ? 'r' : '-';
		prot[1] = r.prot & TS_PROT_WRITE ? 'w' : '-';
		prot[2] = r.prot & TS_PROT_EXEC ? 'x' : '-';
		ts_row_text(row, 4, prot);
		ts_row_text(row, 5, r.file ? r.file : r.desc);
		break;
	}
}

static void note_none(struct world *w)
{
	const char *format = ts_query_facts(w->rows.ask->q)->format;
	struct ts_module_info m;
	struct ts_region_info r;

	if (w->kind == MODULES && !ts_query_module(w->rows.ask->q, 0, &m))
		snprintf(w->rows.note, sizeof(w->rows.note), "this %s recording names no modules", format);
	if (w->kind == MAPS && !ts_query_region(w->rows.ask->q, 0, &r))
		snprintf(w->rows.note, sizeof(w->rows.note), "this %s recording has no memory map", format);
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct world *w = (struct world *)rows;
	struct item item;
	enum ts_next got = w->is_machine ? address_spaces_some(&w->spaces, budget, err) : TS_END;

	if (got != TS_END)
		return got;
	note_names(w);
	if (w->spaces.n_unknown) {
		snprintf(rows->note, sizeof(rows->note), "cr3 is not known at %" PRIu64 " steps: they are the row without a process",
			 w->spaces.n_unknown);
	}
	if (!list_all(w, budget))
		return TS_MORE;
	if (w->is_failed) {
		ts_no_memory(err, "a question");
		return TS_FAIL;
	}
	if (!w->is_any)
		note_none(w);
	if (!ts_heap_take(&w->items, &item))
		return TS_END;
	put_row(w, &item, row);
	return TS_ITEM;
}

static void close_world(struct ts_rows *rows)
{
	struct world *w = (struct world *)rows;

	free(w->processes);
	address_spaces_fini(&w->spaces);
	ts_heap_fini(&w->items);
}

/* Make the counters of threads and processes.  Returns false if memory is exhausted. */
static bool make_counts(struct world *w)
{
	const struct ts_query *q = w->rows.ask->q;

	w->n_threads = ts_query_n_threads(q);
	w->n_processes = ts_query_n_processes(q);
	if (w->kind == THREADS)
		return true;
	w->processes = malloc(((size_t)w->n_processes + 1) * sizeof(*w->processes));
	for (uint32_t i = 0; w->processes && i < w->n_processes; i++)
		w->processes[i] = (struct item){ .begin = TS_NO_POS, .i = i, .named = TS_NO_THREAD };
	return w->processes != NULL;
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct world *w = (struct world *)rows;
	const struct ts_question *qn = rows->qn;

	rows->at = qn->at;
	w->kind = (enum kind)qn->verb->arg;
	w->from = qn->has_range ? qn->from : qn->at;
	w->to = qn->has_range ? qn->to : qn->at + 1;
	w->process = ts_ask_process(rows->ask, qn);
	w->is_machine = w->kind == PROCESSES && ts_machine_is_known(rows->ask->q);
	if (w->is_machine)
		address_spaces_init(&w->spaces, rows->ask);
	ts_heap_init(&w->items, sizeof(struct item), is_before, w);
	return w->kind == MODULES || w->kind == MAPS || make_counts(w) || ts_no_memory(err, "a question");
}

static const struct ts_rows_ops ops = { sizeof(struct world), begin, next, close_world };

#define WORLD_VERB                                                                                 \
	.takes = TS_TAKES_RANGE | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_THREAD, .is_reversible = true, \
	.rows = &ops

static const struct ts_column thread_columns[] = {
	{ .name = "thread", .type = TS_COLUMN_NUMBER }, { .name = "process", .type = TS_COLUMN_NUMBER },
	{ .name = "begin", .type = TS_COLUMN_NUMBER },	{ .name = "end", .type = TS_COLUMN_NUMBER },
	{ .name = "steps", .type = TS_COLUMN_NUMBER },	{ .name = "name", .type = TS_COLUMN_TEXT },
};

const struct ts_verb ts_verb_threads = {
	.name = "threads",
	.synopsis = "",
	.help = "List the threads that are there at the position.",
	.example = "threads in 0:end",
	.arg = THREADS,
	TS_COLUMNS(thread_columns),
	WORLD_VERB,
};

static const struct ts_column process_columns[] = {
	{ .name = "process", .type = TS_COLUMN_NUMBER }, { .name = "begin", .type = TS_COLUMN_NUMBER },
	{ .name = "end", .type = TS_COLUMN_NUMBER },	 { .name = "steps", .type = TS_COLUMN_NUMBER },
	{ .name = "name", .type = TS_COLUMN_TEXT },
};

const struct ts_verb ts_verb_processes = {
	.name = "processes",
	.synopsis = "",
	.help = "List the processes that are there at the position.",
	.example = "processes in 0:end",
	.arg = PROCESSES,
	TS_COLUMNS(process_columns),
	WORLD_VERB,
};

static const struct ts_column module_columns[] = {
	{ .name = "begin", .type = TS_COLUMN_NUMBER }, { .name = "end", .type = TS_COLUMN_NUMBER },
	{ .name = "address", .type = TS_COLUMN_ADDR }, { .name = "length", .type = TS_COLUMN_NUMBER },
	{ .name = "file", .type = TS_COLUMN_TEXT },
};

const struct ts_verb ts_verb_modules = {
	.name = "modules",
	.synopsis = "",
	.help = "List the programs and libraries that are loaded at the position.",
	.example = "modules in 0:end",
	.arg = MODULES,
	TS_COLUMNS(module_columns),
	WORLD_VERB,
};

static const struct ts_column map_columns[] = {
	{ .name = "begin", .type = TS_COLUMN_NUMBER }, { .name = "end", .type = TS_COLUMN_NUMBER },
	{ .name = "address", .type = TS_COLUMN_ADDR }, { .name = "length", .type = TS_COLUMN_NUMBER },
	{ .name = "kind", .type = TS_COLUMN_TEXT },    { .name = "file", .type = TS_COLUMN_TEXT },
};

const struct ts_verb ts_verb_maps = {
	.name = "maps",
	.synopsis = "",
	.help = "List the regions of memory that are mapped at the position.",
	.example = "maps at 0",
	.arg = MAPS,
	TS_COLUMNS(map_columns),
	WORLD_VERB,
};
