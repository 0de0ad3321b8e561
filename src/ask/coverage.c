/* SPDX-License-Identifier: MIT */
#include "coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "coverage_files.h"
#include "src/base/atomic_file.h"
#include "src/query/scan.h"
#include "state.h"
#include "symbols.h"

#define N_HOT 20u

struct coverage {
	struct ts_rows rows;
	struct ts_ask *ask;
	const struct ts_question *qn;
	uint32_t process;
	struct ts_executed_at counted; /* how far what was executed has been counted */
	struct ts_covered *items; /* owned; addresses, or functions */
	size_t n, cap, at, end;
	uint32_t *slots;    /* owned; a hash table: 1 + ordinal of the item with that address, or 0; for counting */
	size_t n_slots;     /* a power of 2, or 0 */
	bool is_counted;    /* the items are complete */
	bool is_failed;
};

/* ---------------------------------------------------------------------------------------------- counting */

/* The slot of the item with this address, or where it belongs. */
static uint32_t *find_slot(const struct coverage *c, uint64_t addr)
{
	size_t i = (size_t)(addr * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	while (c->slots[i & (c->n_slots - 1)] && c->items[c->slots[i & (c->n_slots - 1)] - 1].addr != addr)
		i++;
	return &c->slots[i & (c->n_slots - 1)];
}

/* Make room for another item, and keep half of the slots free. */
static bool make_room(struct coverage *c)
{
	size_t cap = c->cap ? 2 * c->cap : 1024;
	struct ts_covered *items;
	uint32_t *slots;

	if (c->n < c->cap)
		return true;
	items = realloc(c->items, cap * sizeof(*items));
	if (items)
		c->items = items;
	slots = calloc(2 * cap, sizeof(*slots));
	if (!items || !slots) {
		free(slots);
		return false;
	}
	free(c->slots);
	c->cap = cap;
	c->slots = slots;
	c->n_slots = 2 * cap;
	for (size_t i = 0; i < c->n; i++)
		*find_slot(c, c->items[i].addr) = (uint32_t)i + 1;
	return true;
}

/* One item an address; the shortest known length of its instructions counts. */
static void add(void *user, const struct ts_executed *x)
{
	struct coverage *c = user;
	struct ts_covered *item;
	uint32_t *slot;

	if (x->process != c->process || c->is_failed)
		return;
	c->is_failed = !make_room(c);
	if (c->is_failed)
		return;
	slot = find_slot(c, x->pc);
	if (!*slot) {
		c->items[c->n++] = (struct ts_covered){ .addr = x->pc, .len = x->len };
		*slot = (uint32_t)c->n;
	}
	item = &c->items[*slot - 1];
	item->steps += x->n;
	if (!item->len || (x->len && x->len < item->len))
		item->len = x->len;
}

static int by_address(const void *a, const void *b)
{
	const struct ts_covered *x = a;
	const struct ts_covered *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int by_steps(const void *a, const void *b)
{
	const struct ts_covered *x = a;
	const struct ts_covered *y = b;

	if (x->steps != y->steps)
		return x->steps > y->steps ? -1 : 1;
	return by_address(a, b);
}

static void sort(struct coverage *c, int (*compare)(const void *, const void *))
{
	if (c->n)
		qsort(c->items, c->n, sizeof(*c->items), compare);
}

/* Functions in place of their instructions; what is in none stays as it is. */
static void take_functions(struct coverage *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n && c->ask->symbols; i++) {
		const struct ts_symbol *s = ts_symbols_function_at(c->ask->symbols, c->items[i].addr);

		if (s)
			c->items[i] = (struct ts_covered){ .addr = s->addr, .steps = c->items[i].steps };
	}
	sort(c, by_address);
	for (size_t i = 0; i < c->n; i++) {
		if (n && c->items[n - 1].addr == c->items[i].addr)
			c->items[n - 1].steps += c->items[i].steps;
		else
			c->items[n++] = c->items[i];
	}
	c->n = n;
}

/* ------------------------------------------------------------------------------------------------- files */

static bool write_file(const char *path, struct ts_buf *text, struct ts_error *err)
{
	struct ts_atomic_file f;
	bool done;

	if (!ts_buf_ok(text))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a file of coverage");
	done = ts_atomic_file_init(&f, path, err) && ts_atomic_file_write(&f, text->data, text->len, err) &&
	       ts_atomic_file_finish(&f, err);
	ts_atomic_file_fini(&f);
	return done;
}

static bool write_files(const struct coverage *c, struct ts_error *err)
{
	const struct ts_covered_list list = { c->ask, c->process, c->items, c->n };
	struct ts_buf text;
	bool done = true;

	ts_buf_init(&text);
	if (*c->qn->lcov) {
		ts_lcov_put(&list, &text);
		done = write_file(c->qn->lcov, &text, err);
	}
	if (done && *c->qn->drcov) {
		ts_buf_reset(&text);
		ts_drcov_put(&list, &text);
		done = write_file(c->qn->drcov, &text, err);
	}
	ts_buf_fini(&text);
	return done;
}

/* -------------------------------------------------------------------------------------------------- rows */

static bool is_hot(const struct coverage *c)
{
	return c->qn->verb == &ts_verb_hot;
}

/* Count some more.  Returns TS_GOT_END when all has been counted. */
static enum ts_got count(struct coverage *c, struct ts_budget *budget, struct ts_error *err)
{
	bool has_more;

	do {
		if (!ts_budget_take(budget))
			return TS_GOT_PENDING;
		has_more = ts_query_each_executed(c->ask->q, c->qn->from, c->qn->to, &c->counted, add, c);
	} while (has_more && !c->is_failed);
	if (!c->is_failed)
		return TS_GOT_END;
	ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for what was executed");
	return TS_GOT_FAIL;
}

/* What was counted, as it is to be shown. */
static bool list(struct coverage *c, struct ts_error *err)
{
	const struct ts_question *qn = c->qn;

	c->is_counted = true;
	if (is_hot(c) && !qn->by_address)
		take_functions(c);
	sort(c, is_hot(c) ? by_steps : by_address);
	c->end = c->n;
	if (is_hot(c) && qn->bound == TS_BOUND_NONE) {
		uint64_t n = qn->count == TS_NO_LIMIT ? N_HOT : qn->count;

		c->end = c->n < n ? c->n : (size_t)n;
	}
	return write_files(c, err);
}

static void put_row(const struct coverage *c, const struct ts_covered *x, struct ts_row *row)
{
	ts_row_addr(row, 0, x->addr);
	if (is_hot(c)) {
		ts_cell_function(row, 1, c->ask, x->addr);
		ts_row_number(row, 2, x->steps);
		ts_row_share(row, 3, (double)x->steps / (double)c->ask->n_steps);
		return;
	}
	if (x->len)
		ts_row_number(row, 1, x->len);
	ts_row_number(row, 2, x->steps);
	ts_cell_function(row, 3, c->ask, x->addr);
	ts_cell_line(row, 4, c->ask, x->addr);
}

static enum ts_got next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			struct ts_error *err)
{
	struct coverage *c = (struct coverage *)rows;
	enum ts_got got = c->is_counted ? TS_GOT_END : count(c, budget, err);
	size_t i;

	if (got != TS_GOT_END)
		return got;
	if (!c->is_counted && !list(c, err))
		return TS_GOT_FAIL;
	if (c->at == c->end)
		return TS_GOT_END;
	i = rows->is_reverse ? c->end - 1 - c->at : c->at;
	c->at++;
	put_row(c, &c->items[i], row);
	return TS_GOT_ROW;
}

static void close_coverage(struct ts_rows *rows)
{
	struct coverage *c = (struct coverage *)rows;

	free(c->slots);
	free(c->items);
	free(c);
}

static const struct ts_rows_ops ops = { .next = next, .close = close_coverage };

static struct ts_rows *open_coverage(struct ts_ask *ask, const struct ts_question *qn, bool is_reverse,
				     struct ts_error *err)
{
	struct coverage *c;
	size_t n_lines = 0;

	if (*qn->lcov && ask->symbols)
		ts_code_lines_all(ts_symbols_lines(ask->symbols), &n_lines);
	if (*qn->lcov && !n_lines) {
		ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			"'--lcov' needs the lines of the source, and no file of the program has them");
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (!c) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
		return NULL;
	}
	c->rows = (struct ts_rows){ .ops = &ops, .is_reverse = is_reverse, .go = TS_NO_POS, .at = qn->at };
	c->ask = ask;
	c->qn = qn;
	c->process = ts_ask_process(ask, qn);
	return &c->rows;
}

static const struct ts_column hot_columns[] = {
	{ .name = "address", .type = TS_COLUMN_ADDR },
	{ .name = "function", .type = TS_COLUMN_TEXT },
	{ .name = "steps", .type = TS_COLUMN_NUMBER },
	{ .name = "share", .type = TS_COLUMN_SHARE },
};

const struct ts_verb ts_verb_hot = {
	.name = "hot",
	.synopsis = "[N] [by address]",
	.help = "List the functions, or the instructions, with most steps.",
	.example = "hot 10 by address",
	.columns = hot_columns,
	.n_columns = sizeof(hot_columns) / sizeof(hot_columns[0]),
	.takes = TS_TAKES_RANGE | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_COUNT | TS_TAKES_BY,
	.is_reversible = true,
	.open = open_coverage,
};

static const struct ts_column coverage_columns[] = {
	{ .name = "address", .type = TS_COLUMN_ADDR },	{ .name = "length", .type = TS_COLUMN_NUMBER },
	{ .name = "steps", .type = TS_COLUMN_NUMBER },	{ .name = "function", .type = TS_COLUMN_TEXT },
	{ .name = "file", .type = TS_COLUMN_TEXT },	{ .name = "line", .type = TS_COLUMN_NUMBER },
};

const struct ts_verb ts_verb_coverage = {
	.name = "coverage",
	.synopsis = "[--lcov FILE | --drcov FILE]",
	.help = "List each address that was executed, and how often; or write a file for other programs.",
	.example = "coverage first 10",
	.columns = coverage_columns,
	.n_columns = sizeof(coverage_columns) / sizeof(coverage_columns[0]),
	.takes = TS_TAKES_RANGE | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_FILES,
	.is_reversible = true,
	.open = open_coverage,
};
