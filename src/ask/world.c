/* SPDX-License-Identifier: MIT */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "names.h"
#include "state.h"
#include "verb.h"

enum kind {
	THREADS,
	PROCESSES,
	MODULES,
	MAPS,
};

/* Something that is there from position @begin until before position @end. */
struct item {
	uint64_t begin, end; /* end: TS_NO_POS if it is there at the last position */
	uint64_t order;      /* an address, or a number */
	uint64_t steps;
	size_t i;            /* its ordinal in the model */
};

struct world {
	struct ts_rows rows;
	struct ts_ask *ask;
	enum kind kind;
	struct item *items;  /* owned; in the table's order */
	size_t n, cap, at;
	uint64_t from, to;   /* it is listed if it is there at one of these positions */
	bool is_failed;
};

static void add(struct world *w, struct item item)
{
	if (w->is_failed || item.begin >= w->to || (item.end != TS_NO_POS && item.end <= w->from))
		return;
	if (w->n == w->cap) {
		size_t cap = w->cap ? 2 * w->cap : 64;
		struct item *items = realloc(w->items, cap * sizeof(*items));

		if (!items) {
			w->is_failed = true;
			return;
		}
		w->items = items;
		w->cap = cap;
	}
	w->items[w->n++] = item;
}

/* --------------------------------------------------------------------------------------------- the lists */

/*
 * The first position at which the thread is there no more: after its last step it is there up to some
 * position.
 */
static uint64_t thread_end(const struct ts_ask *ask, uint32_t thread)
{
	uint64_t lo = ts_query_prev_step(ask->q, thread, ask->n_steps), hi = ask->n_steps;

	if (lo == TS_NO_POS || ts_query_is_alive(ask->q, thread, hi))
		return TS_NO_POS;
	while (hi - lo > 1) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (ts_query_is_alive(ask->q, thread, mid))
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

/* How many steps each thread ran; NULL if memory is exhausted. */
static uint64_t *count_steps(const struct ts_ask *ask)
{
	uint64_t *steps = calloc(ts_query_n_threads(ask->q) + 1, sizeof(*steps));

	for (uint64_t pos = 0, end; steps && pos < ask->n_steps; pos = end) {
		end = ts_query_slice_end(ask->q, pos);
		steps[ts_query_thread(ask->q, pos)] += end - pos;
	}
	return steps;
}

static void add_threads(struct world *w, const uint64_t *steps)
{
	const struct ts_ask *ask = w->ask;

	for (uint32_t i = 0; i < ts_query_n_threads(ask->q) && i < ask->names->n_tids; i++) {
		struct item item = { .begin = ts_query_next_step(ask->q, i, 0), .end = thread_end(ask, i),
				     .order = (uint64_t)ask->names->tids[i], .steps = steps[i], .i = i };

		if (item.begin != TS_NO_POS)
			add(w, item);
	}
}

/* A process is there from its first thread's begin until the last one ends. */
static void add_processes(struct world *w, const uint64_t *steps)
{
	const struct ts_ask *ask = w->ask;

	for (uint32_t p = 0; p < ts_query_n_processes(ask->q) && p < ask->names->n_pids; p++) {
		struct item item = { .begin = TS_NO_POS, .end = 0, .order = (uint64_t)ask->names->pids[p], .i = p };

		for (uint32_t i = 0; i < ts_query_n_threads(ask->q); i++) {
			uint64_t begin = ts_query_next_step(ask->q, i, 0), end;

			if (ts_query_process(ask->q, i) != p || begin == TS_NO_POS)
				continue;
			end = thread_end(ask, i);
			item.begin = begin < item.begin ? begin : item.begin;
			item.end = end > item.end ? end : item.end;
			item.steps += steps[i];
		}
		if (item.begin != TS_NO_POS)
			add(w, item);
	}
}

static void add_modules(struct world *w, uint32_t process)
{
	struct ts_module_info m;

	for (size_t i = 0; ts_query_module(w->ask->q, i, &m); i++) {
		if (m.process == process)
			add(w, (struct item){ .begin = m.from, .end = m.until, .order = m.first, .i = i });
	}
}

static void add_maps(struct world *w, uint32_t process)
{
	struct ts_region_info r;

	for (size_t i = 0; ts_query_region(w->ask->q, i, &r); i++) {
		if (r.process == process)
			add(w, (struct item){ .begin = r.from, .end = r.until, .order = r.first, .i = i });
	}
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_address(const void *a, const void *b)
{
	const struct item *x = a;
	const struct item *y = b;
	int order = compare(x->order, y->order);

	if (!order)
		order = compare(x->begin, y->begin);
	return order ? order : compare(x->i, y->i);
}

static int by_begin(const void *a, const void *b)
{
	const struct item *x = a;
	const struct item *y = b;
	int order = compare(x->begin, y->begin);

	return order ? order : compare(x->order, y->order);
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

static const char *process_name(const struct ts_ask *ask, uint32_t process)
{
	const char *path = ts_query_facts(ask->q)->exec_path;

	for (uint32_t i = 0; i < ts_query_n_threads(ask->q); i++) {
		const struct ts_thread *t = ts_query_thread_facts(ask->q, i);

		if (ts_query_process(ask->q, i) == process && *t->name)
			return t->name;
	}
	if (!path || ts_query_n_processes(ask->q) != 1)
		return NULL;
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static void put_row(const struct world *w, const struct item *it, struct ts_row *row)
{
	const struct ts_ask *ask = w->ask;
	struct ts_module_info m;
	struct ts_region_info r;
	char prot[4] = "---";

	switch (w->kind) {
	case THREADS:
		ts_cell_thread(row, 0, ask, (uint32_t)it->i);
		ts_cell_process(row, 1, ask, ts_query_process(ask->q, (uint32_t)it->i));
		put_span(it, 2, row);
		ts_row_number(row, 4, it->steps);
		break;
	case PROCESSES:
		ts_cell_process(row, 0, ask, (uint32_t)it->i);
		put_span(it, 1, row);
		ts_row_number(row, 3, it->steps);
		ts_row_text(row, 4, process_name(ask, (uint32_t)it->i));
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

static enum ts_got next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			struct ts_error *err)
{
	struct world *w = (struct world *)rows;

	(void)budget;
	(void)err;
	if (w->at == w->n)
		return TS_GOT_END;
	put_row(w, &w->items[rows->is_reverse ? w->n - 1 - w->at : w->at], row);
	w->at++;
	return TS_GOT_ROW;
}

static void close_world(struct ts_rows *rows)
{
	struct world *w = (struct world *)rows;

	free(w->items);
	free(w);
}

static const struct ts_rows_ops ops = { .next = next, .close = close_world };

static void note_none(struct world *w)
{
	const char *format = ts_query_facts(w->ask->q)->format;
	struct ts_module_info m;
	struct ts_region_info r;

	if (w->kind == MODULES && !ts_query_module(w->ask->q, 0, &m))
		snprintf(w->rows.note, sizeof(w->rows.note), "this %s recording names no modules", format);
	if (w->kind == MAPS && !ts_query_region(w->ask->q, 0, &r))
		snprintf(w->rows.note, sizeof(w->rows.note), "this %s recording has no memory map", format);
}

static void fill(struct world *w, const struct ts_question *qn)
{
	uint64_t *steps;

	if (w->kind == MODULES || w->kind == MAPS) {
		(w->kind == MODULES ? add_modules : add_maps)(w, ts_ask_process(w->ask, qn));
	} else {
		steps = count_steps(w->ask);
		w->is_failed = !steps;
		if (steps)
			(w->kind == THREADS ? add_threads : add_processes)(w, steps);
		free(steps);
	}
	if (w->n)
		qsort(w->items, w->n, sizeof(*w->items), w->kind == MODULES || w->kind == MAPS ? by_address : by_begin);
	else
		note_none(w);
}

static struct ts_rows *open_world(struct ts_ask *ask, const struct ts_question *qn, bool is_reverse,
				  struct ts_error *err)
{
	struct world *w = calloc(1, sizeof(*w));

	if (w) {
		w->rows = (struct ts_rows){
			.ops = &ops, .is_reverse = is_reverse, .go = TS_NO_POS, .at = qn->at
		};
		w->ask = ask;
		w->kind = (enum kind)qn->verb->arg;
		w->from = qn->has_range ? qn->from : qn->at;
		w->to = qn->has_range ? qn->to : qn->at + 1;
		fill(w, qn);
	}
	if (!w || w->is_failed) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
		if (w)
			close_world(&w->rows);
		return NULL;
	}
	return &w->rows;
}

#define WORLD_VERB                                                                                 \
	.takes = TS_TAKES_RANGE | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_THREAD, .is_reversible = true, \
	.open = open_world
#define COLUMNS(c) .columns = (c), .n_columns = sizeof(c) / sizeof((c)[0])

static const struct ts_column thread_columns[] = {
	{ .name = "thread", .type = TS_COLUMN_NUMBER }, { .name = "process", .type = TS_COLUMN_NUMBER },
	{ .name = "begin", .type = TS_COLUMN_NUMBER },	{ .name = "end", .type = TS_COLUMN_NUMBER },
	{ .name = "steps", .type = TS_COLUMN_NUMBER },
};

const struct ts_verb ts_verb_threads = {
	.name = "threads",
	.synopsis = "",
	.help = "List the threads that are there at the position.",
	.example = "threads in 0:end",
	.arg = THREADS,
	COLUMNS(thread_columns),
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
	COLUMNS(process_columns),
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
	COLUMNS(module_columns),
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
	COLUMNS(map_columns),
	WORLD_VERB,
};
