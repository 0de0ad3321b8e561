/* SPDX-License-Identifier: MIT */
/* Cells of rows as values of SQL. */
#include "table.h"

#include <string.h>

#include "src/ask/grammar/number.h"
#include "src/query/query.h"

/* A text "0x1f" of at most 64 bits. */
static bool get_number(const char *text, size_t len, uint64_t *number)
{
	bool is_large;

	return len >= 3 && len <= 18 && !strncmp(text, "0x", 2) &&
	       ts_number_parse(text, len, TS_COMMAS_END, number, &is_large);
}

/* A number if it is one, else text up to what is meant for people only. */
static void put_text(sqlite3_context *out, const char *text)
{
	size_t len = strcspn(text, "\x1f");
	uint64_t number;

	if (get_number(text, len, &number))
		sqlite3_result_int64(out, (sqlite3_int64)number);
	else
		sqlite3_result_text(out, text, (int)len, SQLITE_TRANSIENT);
}

static const char *item_of(const struct ts_row *row, unsigned column, unsigned item)
{
	const char *text = ts_row_get(row, column);

	if (row->cells[column].kind != TS_CELL_LIST || item >= row->cells[column].number)
		return NULL;
	while (item--)
		text += strlen(text) + 1;
	return text;
}

static void put_list(sqlite3_context *out, const struct ts_row *row, unsigned column)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	for (unsigned i = 0; i < row->cells[column].number; i++)
		sqlite3_str_appendf(text, "%s%s", i ? ", " : "", item_of(row, column, i));
	sqlite3_result_text(out, sqlite3_str_finish(text), -1, sqlite3_free);
}

static void put_cell(sqlite3_context *out, const struct ts_verb *verb, const struct ts_row *row, unsigned column)
{
	const struct ts_cell *cell = &row->cells[column];

	switch (cell->kind) {
	case TS_CELL_NULL:
	case TS_CELL_UNKNOWN: return;
	case TS_CELL_NUMBER:
	case TS_CELL_ADDR: sqlite3_result_int64(out, (sqlite3_int64)cell->number); return;
	case TS_CELL_SHARE: sqlite3_result_double(out, cell->share); return;
	case TS_CELL_LIST: put_list(out, row, column); return;
	case TS_CELL_TEXT: break;
	}
	if (verb->columns[column].type == TS_COLUMN_VALUE || verb->columns[column].type == TS_COLUMN_AMOUNT)
		put_text(out, ts_row_get(row, column));
	else
		sqlite3_result_text(out, ts_row_get(row, column), -1, SQLITE_TRANSIENT);
}

/* A value as bytes in memory order. */
static void put_bytes(sqlite3_context *out, const struct ts_row *row, unsigned column)
{
	struct ts_buf bytes;

	if (row->cells[column].kind != TS_CELL_TEXT || !ts_row_has_bytes(row, column))
		return;
	ts_buf_init(&bytes);
	ts_row_put_bytes(row, column, &bytes);
	if (ts_buf_ok(&bytes))
		sqlite3_result_text(out, ts_buf_text(&bytes), (int)bytes.len, SQLITE_TRANSIENT);
	else
		sqlite3_result_error_nomem(out);
	ts_buf_fini(&bytes);
}

/* A text without its quotes; an empty one: the argument points to none. */
static void put_item_text(sqlite3_context *out, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	bool is_quoted = len >= 2 && text[0] == '"' && text[len - 1] == '"';

	if (len)
		sqlite3_result_text(out, text + is_quoted, (int)(len - 2 * is_quoted), SQLITE_TRANSIENT);
}

static void put_event_number(sqlite3_context *out, const struct ts_sql_cursor *c, const struct ts_sql_vtab *t)
{
	static const struct {
		const char *name;
		enum ts_event_kind kind;
	} kinds[] = { { "syscall", TS_EV_SYSCALL }, { "signal", TS_EV_SIGNAL }, { "fault", TS_EV_FAULT },
		      { "exit", TS_EV_EXIT } };
	int position = ts_sql_verb_column(t->t.verb, "position"), kind = ts_sql_verb_column(t->t.verb, "kind");
	const struct ts_row *row = &c->row;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct ts_event_at *h;

		if (row->cells[kind].kind != TS_CELL_TEXT || strcmp(ts_row_get(row, (unsigned)kind), kinds[i].name) != 0)
			continue;
		h = ts_query_find_event(c->ask->q, kinds[i].kind, row->cells[position].number, true);
		if (h && h->step == row->cells[position].number && (h->event.kind != TS_EV_EXIT || h->event.has_ret))
			sqlite3_result_int64(out, (sqlite3_int64)h->event.number);
	}
}

static void put_column(sqlite3_context *out, const struct ts_sql_cursor *c, const struct ts_sql_vtab *t, unsigned i)
{
	const struct ts_sql_column *column = &t->t.columns[i];
	bool has_item = column->from == TS_SQL_ITEM || column->from == TS_SQL_ITEM_TEXT;
	int cell = t->cells[i];
	const char *item = has_item && cell >= 0 ? item_of(&c->row, (unsigned)cell, column->item) : NULL;

	switch (column->from) {
	case TS_SQL_CELL: put_cell(out, t->t.verb, &c->row, (unsigned)cell); return;
	case TS_SQL_BYTES: put_bytes(out, &c->row, (unsigned)cell); return;
	case TS_SQL_ITEM:
		if (item)
			put_text(out, item);
		return;
	case TS_SQL_ITEM_TEXT: put_item_text(out, item); return;
	case TS_SQL_NUMBER: put_event_number(out, c, t); return;
	case TS_SQL_REGISTER: sqlite3_result_text(out, c->reg, -1, SQLITE_TRANSIENT); return;
	}
}

int ts_sql_get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int i)
{
	struct ts_sql_cursor *c = (struct ts_sql_cursor *)cursor;
	const struct ts_sql_vtab *t = (const struct ts_sql_vtab *)cursor->pVtab;

	int own = (int)ts_sql_n_own(t->s);

	if (ts_sql_is_recording(t, i)) {
		sqlite3_result_text(out, c->in->name, -1, SQLITE_TRANSIENT);
	} else if (i >= (int)t->n_columns) {
		const char *value = c->n.values[(unsigned)i - t->n_columns];

		if (*value)
			sqlite3_result_text(out, value, -1, SQLITE_TRANSIENT);
	} else if (t->t.columns) {
		put_column(out, c, t, (unsigned)(i - own));
	} else {
		put_cell(out, t->t.verb, &c->row, (unsigned)(i - own));
	}
	return SQLITE_OK;
}
