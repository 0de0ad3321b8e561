/* SPDX-License-Identifier: MIT */
/*
 * The virtual table over the rows of a verb, and its cursor.
 */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/query/query.h"

/* ------------------------------------------------------------------------------------------------ cut rows */

static bool may_be_cut(const struct ts_sql_cursor *c, const struct ts_sql_vtab *t)
{
	return t->t.has_address && c->row.cells[t->address].kind == TS_CELL_ADDR &&
	       c->row.cells[t->address].number + (c->row.cells[t->length].number - 1) == c->qn.what.last &&
	       c->qn.what.last < ts_arch_addr_mask(ts_query_regset(c->ask->q)->arch);
}

/* The row as it is where WHAT reaches to the end of memory: that of the same step, address and kind. */
static enum ts_next complete_row(struct ts_sql_cursor *c, const struct ts_sql_vtab *t, struct ts_error *err)
{
	int position = ts_sql_verb_column(t->t.verb, "position"), address = ts_sql_verb_column(t->t.verb, "address");
	int kind = ts_sql_verb_column(t->t.verb, "kind");
	uint64_t pos = c->row.cells[position].number, addr = c->row.cells[address].number;
	struct ts_question qn = c->qn;
	enum ts_next got = TS_MORE;
	struct ts_rows *rows;
	char name[32];

	snprintf(name, sizeof(name), "%s", ts_row_get(&c->row, (unsigned)kind));
	qn.what.addr = addr;
	qn.what.last = ts_arch_addr_mask(ts_query_regset(c->ask->q)->arch);
	qn.from = pos;
	qn.to = pos + 1;
	rows = ts_rows_open(t->t.verb->rows, c->ask, &qn, false, err);
	while (rows && (got == TS_MORE || got == TS_ITEM)) {
		struct ts_budget budget = { TS_SQL_CHUNKS_A_SLICE };

		ts_row_reset(&c->row);
		got = rows->ops->next(rows, &c->row, &budget, err);
		if (got == TS_ITEM && c->row.cells[address].number == addr &&
		    !strcmp(ts_row_get(&c->row, (unsigned)kind), name))
			break;
	}
	ts_rows_close(rows);
	return rows ? got : TS_FAIL;
}

/* -------------------------------------------------------------------------------------------------- cursor */

static int next(sqlite3_vtab_cursor *cursor)
{
	struct ts_sql_cursor *c = (struct ts_sql_cursor *)cursor;
	const struct ts_sql_vtab *t = (const struct ts_sql_vtab *)cursor->pVtab;

	while (!c->is_over) {
		struct ts_budget budget = { TS_SQL_CHUNKS_A_SLICE };
		struct ts_error err = { 0 };
		enum ts_next got;
		bool is_it = true;
		int result;

		if (c->n_counted) {
			c->row.cells[0].number = --c->n_counted; /* for the row's number */
			return SQLITE_OK;
		}
		if (!c->rows) {
			result = ts_sql_next_question(c, t);
			if (result != SQLITE_OK)
				return result;
			continue;
		}
		ts_row_reset(&c->row);
		got = c->rows->ops->next(c->rows, &c->row, &budget, &err);
		if (got == TS_FAIL || !ts_query_finish_question(c->ask->q, &err))
			return ts_sql_fail_in(c, t, &err);
		if (got == TS_ITEM && may_be_cut(c, t))
			got = complete_row(c, t, &err);
		if (got == TS_FAIL)
			return ts_sql_fail_in(c, t, &err);
		if (got == TS_ITEM && !ts_machine_row(&c->machine, &c->row, &is_it, &err))
			return ts_sql_fail_in(c, t, &err);
		if (got == TS_ITEM && !is_it)
			continue;
		if (got == TS_ITEM)
			return ts_buf_ok(&c->row.texts) ? SQLITE_OK : SQLITE_NOMEM;
		if (got == TS_END && c->rows->is_cut) {
			t->s->is_cut = true;
			snprintf(t->s->reason, sizeof(t->s->reason), "%s", c->rows->note);
		}
		if (got == TS_END)
			ts_sql_close_question(c);
		else if (ts_sql_is_stopped(t))
			return SQLITE_INTERRUPT;
	}
	return SQLITE_OK;
}

/* OFFSET of a table with a row for each position. */
static void skip_rows(struct ts_sql_cursor *c)
{
	struct ts_sql_terms *n = &c->n;

	n->is_empty |= n->n_skipped && (n->from >= n->to || n->n_skipped >= n->to - n->from);
	if (n->is_empty)
		return;
	if (c->is_reverse)
		n->to -= n->n_skipped;
	else
		n->from += n->n_skipped;
}

static int filter(sqlite3_vtab_cursor *cursor, int is_reverse, const char *plan, int n, sqlite3_value **values)
{
	struct ts_sql_cursor *c = (struct ts_sql_cursor *)cursor;
	const struct ts_sql_vtab *t = (const struct ts_sql_vtab *)cursor->pVtab;

	ts_sql_close_question(c);
	ts_sql_take_plan(c, t, plan, values, n);
	c->is_reverse = is_reverse;
	skip_rows(c);
	c->recording = 0;
	c->n_counted = 0;
	c->in = NULL;
	c->is_over = false;
	return next(cursor);
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct ts_sql_cursor *c = calloc(1, sizeof(*c));

	(void)vtab;
	if (!c)
		return SQLITE_NOMEM;
	ts_row_init(&c->row);
	*cursor = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	struct ts_sql_cursor *c = (struct ts_sql_cursor *)cursor;

	ts_sql_close_question(c);
	ts_row_fini(&c->row);
	free(c);
	return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
	return ((struct ts_sql_cursor *)cursor)->is_over;
}

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/*
 * A number that the same row has whichever terms it was found by: SQLite finds rows of `a OR b` twice, and leaves out those
 * that have the number of one before.
 */
static int get_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	const struct ts_sql_cursor *c = (const struct ts_sql_cursor *)cursor;
	const struct ts_sql_vtab *t = (const struct ts_sql_vtab *)cursor->pVtab;
	uint64_t hash = mix(mix(UINT64_C(0xcbf29ce484222325), &c->recording, sizeof(c->recording)), c->reg, strlen(c->reg));

	for (unsigned i = 0; i < t->t.verb->n_columns; i++)
		hash = mix(hash, &c->row.cells[i].number, sizeof(c->row.cells[i].number));
	*rowid = (sqlite3_int64)mix(hash, c->row.texts.data, c->row.texts.len);
	return SQLITE_OK;
}

/* ------------------------------------------------------------------------------------------------- modules */

/* The client data of a module. */
struct source {
	struct ts_sql *s;
	struct ts_sql_table t;
	char name[64], arguments[TS_SQL_MAX_ARGUMENTS + 1];
};

/* Where the columns of the table are in the verb's rows.  Returns false if memory is exhausted. */
static bool find_cells(struct ts_sql_vtab *t)
{
	t->address = ts_sql_verb_column(t->t.verb, "address");
	t->length = ts_sql_verb_column(t->t.verb, "length");
	t->cells = calloc(t->n_columns + 1, sizeof(*t->cells));
	for (unsigned i = 0; t->cells && t->t.columns && i < t->t.n_columns; i++)
		t->cells[i] = ts_sql_verb_column(t->t.verb, t->t.columns[i].cell);
	return t->cells;
}

static void free_table(struct ts_sql_vtab *t)
{
	free(t->cells);
	free(t);
}

/* SQLite asks whether it may create it. */
static int declare_table(struct ts_sql *s, const char *schema)
{
	int result;

	s->is_declaring = true;
	result = sqlite3_declare_vtab(s->db, schema);
	s->is_declaring = false;
	return result;
}

static int connect(sqlite3 *db, void *user, int argc, const char *const *argv, sqlite3_vtab **vtab, char **error)
{
	const struct source *from = user;
	struct ts_sql_vtab *t = calloc(1, sizeof(*t));
	struct ts_buf schema;
	int result = SQLITE_NOMEM;

	(void)db;
	(void)argc;
	(void)argv;
	(void)error;
	if (!t)
		return SQLITE_NOMEM;
	t->s = from->s;
	t->t = from->t;
	t->n_columns = ts_sql_n_own(t->s) + (t->t.columns ? t->t.n_columns : t->t.verb->n_columns);
	t->n_arguments = (unsigned)strlen(t->t.arguments);
	ts_buf_init(&schema);
	ts_sql_declare(t->s, &t->t, &schema);
	if (find_cells(t) && ts_buf_ok(&schema))
		result = declare_table(t->s, ts_buf_text(&schema));
	ts_buf_fini(&schema);
	if (result != SQLITE_OK) {
		free_table(t);
		return result;
	}
	t->next = t->s->connected;
	t->s->connected = t;
	*vtab = &t->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *vtab)
{
	struct ts_sql_vtab *t = (struct ts_sql_vtab *)vtab;
	struct ts_sql_vtab **at = &t->s->connected;

	while (*at && *at != t)
		at = &(*at)->next;
	if (*at)
		*at = t->next;
	free_table(t);
	return SQLITE_OK;
}

struct ts_sql_vtab *ts_sql_connected(const struct ts_sql *s, const char *name, size_t len)
{
	for (struct ts_sql_vtab *t = s->connected; t; t = t->next) {
		if (strlen(t->t.name) == len && !memcmp(t->t.name, name, len))
			return t;
	}
	return NULL;
}

/* Without xCreate: the table is there by its name. */
static const sqlite3_module module = {
	.xConnect = connect,
	.xBestIndex = ts_sql_best_index,
	.xDisconnect = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = is_at_end,
	.xColumn = ts_sql_get_column,
	.xRowid = get_rowid,
};

static int add(struct ts_sql *s, const struct ts_sql_table *t)
{
	struct source *from = calloc(1, sizeof(*from));

	if (!from)
		return SQLITE_NOMEM;
	from->s = s;
	from->t = *t;
	snprintf(from->name, sizeof(from->name), "%s", t->name);
	from->t.name = from->name;
	snprintf(from->arguments, sizeof(from->arguments), "%s", t->arguments);
	from->t.arguments = from->arguments;
	return sqlite3_create_module_v2(s->db, from->name, &module, from, free);
}

int ts_sql_add_tables(struct ts_sql *s)
{
	struct ts_sql_table function;
	int result = SQLITE_OK;
	char name[64];
	size_t n;
	const struct ts_sql_table *tables = ts_sql_tables(&n);

	for (size_t i = 0; i < n && result == SQLITE_OK; i++)
		result = add(s, &tables[i]);
	for (size_t i = 0; result == SQLITE_OK && ts_sql_function(i, &function, name); i++)
		result = add(s, &function);
	return result;
}
