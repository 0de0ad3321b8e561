/* SPDX-License-Identifier: MIT */
/* Tables of what no verb answers: symbol, line, meta.  Their rows come from verbs that only these tables have. */
#include "parts.h"

#include <string.h>

#include "src/ask/verb.h"
#include "src/symbols/symbols.h"

struct list_rows {
	struct ts_rows rows; /* first */
	size_t i;            /* the next item */
};

static size_t take_item(struct ts_rows *rows)
{
	return ((struct list_rows *)rows)->i++;
}

/* The module that has the address at any time: the one that appeared last. */
static const char *module_of(const struct ts_ask *ask, uint64_t addr)
{
	struct ts_module_info m;
	const char *file = NULL;

	for (size_t i = 0; ts_query_module(ask->q, i, &m); i++) {
		if (addr >= m.first && addr <= m.last)
			file = m.file;
	}
	return file;
}

static enum ts_next next_symbol(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_symbol *x = rows->ask->symbols ? ts_symbols_get(rows->ask->symbols, take_item(rows)) : NULL;

	(void)budget;
	(void)err;
	if (!x)
		return TS_END;
	ts_row_text(row, 0, x->name);
	ts_row_addr(row, 1, x->addr);
	if (x->len)
		ts_row_number(row, 2, x->len);
	ts_row_text(row, 3, x->is_function ? "function" : "data");
	if (!(rows->unwanted >> 4 & 1))
		ts_row_text(row, 4, module_of(rows->ask, x->addr));
	return TS_ITEM;
}

static enum ts_next next_line(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget, struct ts_error *err)
{
	size_t n = 0, i = take_item(rows);
	struct ts_symbols *symbols = rows->ask->symbols;
	const struct ts_code_line *lines = symbols ? ts_code_lines_all(ts_symbols_lines(symbols), &n) : NULL;

	(void)budget;
	(void)err;
	if (i >= n)
		return TS_END;
	ts_row_addr(row, 0, lines[i].addr);
	ts_row_number(row, 1, lines[i].len);
	ts_row_text(row, 2, lines[i].file);
	ts_row_number(row, 3, lines[i].line);
	return TS_ITEM;
}

static const char *const meta_keys[] = { "format", "variant", "arch", "os", "program", "folder", "positions", "threads",
					  "processes", "records_reads", "records_syscalls", "addresses", "complete" };

static const char *meta_text(const struct ts_query *q, size_t i)
{
	const struct ts_facts *f = ts_query_facts(q);
	const char *const texts[] = { f->format, f->variant, f->regs->arch->name, f->os, f->exec_path, f->folder, NULL, NULL, NULL,
				      f->has_reads ? "yes" : "no", f->has_syscalls ? "yes" : "no",
				      f->is_physical ? "physical" : "virtual", ts_query_is_complete(q) ? "yes" : "no" };

	return texts[i] && *texts[i] ? texts[i] : NULL; /* an empty one is not known */
}

static enum ts_next next_meta(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_query *q = rows->ask->q;
	size_t i = take_item(rows);

	(void)budget;
	(void)err;
	if (i >= sizeof(meta_keys) / sizeof(meta_keys[0]))
		return TS_END;
	ts_row_text(row, 0, meta_keys[i]);
	switch (i) {
	case 6: ts_row_number(row, 1, rows->ask->n_steps); break;
	case 7: ts_row_number(row, 1, ts_query_n_threads(q)); break;
	case 8: ts_row_number(row, 1, ts_query_n_processes(q)); break;
	default: ts_row_text(row, 1, meta_text(q, i)); break;
	}
	return TS_ITEM;
}

static const struct ts_column symbol_columns[] = {
	{ .name = "name", .type = TS_COLUMN_TEXT }, { .name = "address", .type = TS_COLUMN_ADDR },
	{ .name = "length", .type = TS_COLUMN_NUMBER }, { .name = "kind", .type = TS_COLUMN_TEXT },
	{ .name = "module", .type = TS_COLUMN_TEXT },
};

static const struct ts_column line_columns[] = {
	{ .name = "address", .type = TS_COLUMN_ADDR }, { .name = "length", .type = TS_COLUMN_NUMBER },
	{ .name = "file", .type = TS_COLUMN_TEXT }, { .name = "line", .type = TS_COLUMN_NUMBER },
};

static const struct ts_column meta_columns[] = {
	{ .name = "key", .type = TS_COLUMN_TEXT }, { .name = "value", .type = TS_COLUMN_TEXT },
};

#define LIST(of, next_item) \
	{ .name = #of, TS_COLUMNS(of##_columns), \
	  .rows = &(const struct ts_rows_ops){ .size = sizeof(struct list_rows), .next = (next_item) } }

const struct ts_verb ts_sql_symbols = LIST(symbol, next_symbol);
const struct ts_verb ts_sql_lines = LIST(line, next_line);
const struct ts_verb ts_sql_meta = LIST(meta, next_meta);
