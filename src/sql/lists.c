/* SPDX-License-Identifier: MIT */
/* Tables that no verb answers: symbol, line, meta. */
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/symbols/symbols.h"
#include "src/query/query.h"

struct list {
	const char *name, *columns;
	/* Does the list of a recording have an item @i? */
	bool (*has)(const struct ts_ask *ask, size_t i);
	void (*put)(const struct ts_ask *ask, size_t i, int column, sqlite3_context *out);
};

struct list_table {
	sqlite3_vtab base; /* first */
	struct ts_sql *s;
	const struct list *list;
};

struct list_cursor {
	sqlite3_vtab_cursor base; /* first */
	size_t recording, i;
};

static void put_text(sqlite3_context *out, const char *text)
{
	if (text)
		sqlite3_result_text(out, text, -1, SQLITE_TRANSIENT);
}

/* ------------------------------------------------------------------------------------------------- symbols */

static bool has_symbol(const struct ts_ask *ask, size_t i)
{
	return ask->symbols && ts_symbols_get(ask->symbols, i);
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

static void put_symbol(const struct ts_ask *ask, size_t i, int column, sqlite3_context *out)
{
	const struct ts_symbol *x = ts_symbols_get(ask->symbols, i);

	switch (column) {
	case 0: put_text(out, x->name); break;
	case 1: sqlite3_result_int64(out, (sqlite3_int64)x->addr); break;
	case 2:
		if (x->len)
			sqlite3_result_int64(out, (sqlite3_int64)x->len);
		break;
	case 3: put_text(out, x->is_function ? "function" : "data"); break;
	default: put_text(out, module_of(ask, x->addr)); break;
	}
}

/* --------------------------------------------------------------------------------------------------- lines */

static const struct ts_code_line *line_at(const struct ts_ask *ask, size_t i)
{
	size_t n = 0;
	const struct ts_code_line *lines = ask->symbols ? ts_code_lines_all(ts_symbols_lines(ask->symbols), &n) : NULL;

	return i < n ? &lines[i] : NULL;
}

static bool has_line(const struct ts_ask *ask, size_t i)
{
	return line_at(ask, i) != NULL;
}

static void put_line(const struct ts_ask *ask, size_t i, int column, sqlite3_context *out)
{
	const struct ts_code_line *l = line_at(ask, i);

	switch (column) {
	case 0: sqlite3_result_int64(out, (sqlite3_int64)l->addr); break;
	case 1: sqlite3_result_int64(out, (sqlite3_int64)l->len); break;
	case 2: put_text(out, l->file); break;
	default: sqlite3_result_int64(out, l->line); break;
	}
}

/* ---------------------------------------------------------------------------------------------------- meta */

static const char *const meta_keys[] = { "format", "variant", "arch", "os", "program", "folder", "positions", "threads",
					  "processes", "records_reads", "records_syscalls", "addresses", "complete" };

static bool has_meta(const struct ts_ask *ask, size_t i)
{
	(void)ask;
	return i < sizeof(meta_keys) / sizeof(meta_keys[0]);
}

static const char *meta_text(const struct ts_facts *f, size_t i)
{
	const char *const texts[] = { f->format, f->variant, f->regs->arch->name, f->os, f->exec_path, f->folder };
	const char *text = i < sizeof(texts) / sizeof(texts[0]) ? texts[i] : NULL;

	return text && *text ? text : NULL; /* an empty one is not known */
}

static void put_meta(const struct ts_ask *ask, size_t i, int column, sqlite3_context *out)
{
	const struct ts_query *q = ask->q;
	const struct ts_facts *f = ts_query_facts(q);

	if (!column) {
		put_text(out, meta_keys[i]);
		return;
	}
	switch (i) {
	case 6: sqlite3_result_int64(out, (sqlite3_int64)ask->n_steps); break;
	case 7: sqlite3_result_int64(out, ts_query_n_threads(q)); break;
	case 8: sqlite3_result_int64(out, ts_query_n_processes(q)); break;
	case 9: put_text(out, f->has_reads ? "yes" : "no"); break;
	case 10: put_text(out, f->has_syscalls ? "yes" : "no"); break;
	case 11: put_text(out, f->is_physical ? "physical" : "virtual"); break;
	case 12: put_text(out, ts_query_is_complete(q) ? "yes" : "no"); break;
	default: put_text(out, meta_text(f, i)); break;
	}
}

static const struct list lists[] = {
	{ "symbol", "name, address, length, kind, module", has_symbol, put_symbol },
	{ "line", "address, length, file, line", has_line, put_line },
	{ "meta", "\"key\", value", has_meta, put_meta },
};

#define N_LISTS (sizeof(lists) / sizeof(lists[0]))

static void declare(const struct ts_sql *s, const struct list *list, struct ts_buf *out)
{
	ts_buf_printf(out, "CREATE TABLE %s(%s%s)", list->name, ts_sql_n_own(s) ? "\"recording\", " : "", list->columns);
}

bool ts_sql_declare_list(const struct ts_sql *s, size_t i, struct ts_buf *out)
{
	if (i < N_LISTS)
		declare(s, &lists[i], out);
	return i < N_LISTS;
}

/* ------------------------------------------------------------------------------------------------- modules */

struct list_source {
	struct ts_sql *s;
	const struct list *list;
};

static int connect_list(sqlite3 *db, void *user, int argc, const char *const *argv, sqlite3_vtab **vtab, char **error)
{
	const struct list_source *from = user;
	struct list_table *t = calloc(1, sizeof(*t));
	struct ts_buf schema;
	int result = SQLITE_NOMEM;

	(void)db;
	(void)argc;
	(void)argv;
	(void)error;
	ts_buf_init(&schema);
	declare(from->s, from->list, &schema);
	if (t && ts_buf_ok(&schema))
		result = ts_sql_declare_table(from->s, ts_buf_text(&schema));
	ts_buf_fini(&schema);
	if (result != SQLITE_OK) {
		free(t);
		return result;
	}
	t->s = from->s;
	t->list = from->list;
	*vtab = &t->base;
	return SQLITE_OK;
}

static int disconnect_list(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

static int best_list_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	(void)vtab;
	info->estimatedCost = 100000;
	return SQLITE_OK;
}

static int open_list(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct list_cursor *c = calloc(1, sizeof(*c));

	(void)vtab;
	*cursor = c ? &c->base : NULL;
	return c ? SQLITE_OK : SQLITE_NOMEM;
}

static int close_list(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

/* After the last item of a recording comes the first one of the next recording that has any. */
static void skip_recordings(struct list_cursor *c)
{
	const struct list_table *t = (const struct list_table *)c->base.pVtab;

	while (c->recording < t->s->n && !t->list->has(t->s->recordings[c->recording].ask, c->i)) {
		c->recording++;
		c->i = 0;
	}
}

static int filter_list(sqlite3_vtab_cursor *cursor, int number, const char *plan, int n, sqlite3_value **values)
{
	(void)number;
	(void)plan;
	(void)n;
	(void)values;
	((struct list_cursor *)cursor)->recording = 0;
	((struct list_cursor *)cursor)->i = 0;
	skip_recordings((struct list_cursor *)cursor);
	return SQLITE_OK;
}

static int next_item(sqlite3_vtab_cursor *cursor)
{
	((struct list_cursor *)cursor)->i++;
	skip_recordings((struct list_cursor *)cursor);
	return SQLITE_OK;
}

static int is_list_over(sqlite3_vtab_cursor *cursor)
{
	const struct list_table *t = (const struct list_table *)cursor->pVtab;

	return ((struct list_cursor *)cursor)->recording == t->s->n;
}

static int get_list_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int i)
{
	const struct list_table *t = (const struct list_table *)cursor->pVtab;
	const struct list_cursor *c = (const struct list_cursor *)cursor;
	const struct ts_sql_recording *r = &t->s->recordings[c->recording];
	int own = (int)ts_sql_n_own(t->s);

	if (i < own)
		put_text(out, r->name);
	else
		t->list->put(r->ask, c->i, i - own, out);
	return SQLITE_OK;
}

static int get_list_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	*rowid = (sqlite3_int64)((uint64_t)((struct list_cursor *)cursor)->recording << 40 | ((struct list_cursor *)cursor)->i);
	return SQLITE_OK;
}

static const sqlite3_module list_module = {
	.xConnect = connect_list,
	.xBestIndex = best_list_index,
	.xDisconnect = disconnect_list,
	.xOpen = open_list,
	.xClose = close_list,
	.xFilter = filter_list,
	.xNext = next_item,
	.xEof = is_list_over,
	.xColumn = get_list_column,
	.xRowid = get_list_rowid,
};

int ts_sql_add_lists(struct ts_sql *s)
{
	int result = SQLITE_OK;

	for (size_t i = 0; i < N_LISTS && result == SQLITE_OK; i++) {
		struct list_source *from = calloc(1, sizeof(*from));

		if (!from)
			return SQLITE_NOMEM;
		*from = (struct list_source){ s, &lists[i] };
		result = sqlite3_create_module_v2(s->db, lists[i].name, &list_module, from, free);
	}
	return result;
}
