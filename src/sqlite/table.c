/* SPDX-License-Identifier: MIT */
#include "link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 64u
#define MAX_TERMS   64

/* The number of rows of the first request, and the maximum: a statement that needs one row pays for one. */
#define FIRST_ROWS 1u
#define MAX_ROWS   4096u

/* The client data of a module. */
struct source {
	struct ts_link *link;
	uint32_t table;
};

struct table {
	sqlite3_vtab base; /* first */
	struct ts_link *link;
	uint32_t table;
};

struct cursor {
	sqlite3_vtab_cursor base; /* first */
	uint32_t id;
	struct ts_buf rows; /* an answer */
	struct ts_cursor at; /* the next row in it */
	struct ts_error err;
	uint64_t used;      /* columns that rows have */
	uint32_t n_left;    /* rows in the answer after this one */
	uint32_t n_wanted;
	bool is_last;       /* the answer has the last row */
	bool is_over;
	int64_t number;
	struct ts_wire_value values[MAX_COLUMNS];
};

static int fail(struct table *t, int result, const struct ts_error *err)
{
	sqlite3_free(t->base.zErrMsg);
	t->base.zErrMsg = sqlite3_mprintf("%s", err->text);
	return result;
}

/* ------------------------------------------------------------------------------------------------------ plan */

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	struct table *t = (struct table *)vtab;
	struct ts_buf *q = &t->link->request, reply;
	const char *words;
	sqlite3_str *plan;
	struct ts_cursor c;
	struct ts_error err;
	int n = info->nConstraint < MAX_TERMS ? info->nConstraint : MAX_TERMS, result;
	uint32_t len;

	ts_wire_begin(q);
	ts_buf_putc(q, 'B');
	ts_wire_put_u32(q, t->table);
	ts_wire_put_u64(q, info->colUsed);
	ts_wire_put_u32(q, (uint32_t)n);
	for (int i = 0; i < n; i++) {
		ts_wire_put_u32(q, (uint32_t)info->aConstraint[i].iColumn);
		ts_buf_putc(q, info->aConstraint[i].op);
		ts_buf_putc(q, info->aConstraint[i].usable);
	}
	ts_wire_put_u32(q, (uint32_t)info->nOrderBy);
	if (info->nOrderBy == 1) {
		ts_wire_put_u32(q, (uint32_t)info->aOrderBy[0].iColumn);
		ts_buf_putc(q, info->aOrderBy[0].desc);
	}
	ts_buf_init(&reply);
	result = ts_link_ask(t->link, &reply, &c, &err);
	if (result != SQLITE_OK) {
		ts_buf_fini(&reply);
		return result == SQLITE_CONSTRAINT ? result : fail(t, result, &err);
	}
	plan = sqlite3_str_new(NULL);
	for (int i = 0; i < n; i++) {
		info->aConstraintUsage[i].argvIndex = (int)ts_u32le(&c);
		info->aConstraintUsage[i].omit = ts_u8(&c);
		if (info->aConstraintUsage[i].argvIndex)
			sqlite3_str_appendf(plan, " %d:%d", info->aConstraint[i].iColumn, info->aConstraint[i].op);
	}
	info->orderByConsumed = info->nOrderBy == 1 && ts_u8(&c);
	info->idxNum = info->orderByConsumed ? 1 + info->aOrderBy[0].desc : 0;
	if (info->nOrderBy != 1)
		ts_u8(&c);
	info->estimatedCost = ts_wire_real(&c);
	info->estimatedRows = (sqlite3_int64)ts_u64le(&c);
	words = ts_wire_text(&c, &len);
	info->idxStr = sqlite3_mprintf("%.*s {%llx%s}", (int)len, words, (unsigned long long)info->colUsed, sqlite3_str_value(plan));
	sqlite3_free(sqlite3_str_finish(plan));
	info->needToFreeIdxStr = 1;
	ts_buf_fini(&reply);
	if (!ts_ok(&c))
		return fail(t, SQLITE_ERROR, &err);
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ------------------------------------------------------------------------------------------------------ rows */

static void take_row(struct cursor *c)
{
	unsigned n = 0;

	c->number = (int64_t)ts_u64le(&c->at);
	for (unsigned i = 0; i < MAX_COLUMNS; i++) {
		if (c->used >> i & 1)
			ts_wire_value(&c->at, &c->values[n++]);
	}
	c->n_left--;
}

/* The end of the rows: are there more, which could not be found? */
static void take_end(struct cursor *c)
{
	uint32_t len;
	bool is_cut = ts_u8(&c->at);
	const char *note = ts_wire_text(&c->at, &len);

	if (is_cut)
		fprintf(stderr, "tracestub: the result is not complete%s%.*s\n", len ? ": " : "", (int)len, note);
	else if (len)
		fprintf(stderr, "tracestub: %.*s\n", (int)len, note);
	c->is_over = true;
}

/* To the next row in the answer, or of the next answer. */
static int advance(struct cursor *c)
{
	struct table *t = (struct table *)c->base.pVtab;
	struct ts_buf *q = &t->link->request;
	int result;

	while (!c->n_left && !c->is_last) {
		c->n_wanted = c->n_wanted * 8 < MAX_ROWS ? c->n_wanted * 8 : MAX_ROWS;
		ts_wire_begin(q);
		ts_buf_putc(q, 'N');
		ts_wire_put_u32(q, c->id);
		ts_wire_put_u32(q, c->n_wanted);
		result = ts_link_ask(t->link, &c->rows, &c->at, &c->err);
		if (result != SQLITE_OK)
			return fail(t, result, &c->err);
		c->is_last = ts_u8(&c->at);
		c->n_left = (uint32_t)ts_count(&c->at, ts_u32le(&c->at), 8);
	}
	if (c->n_left)
		take_row(c);
	else
		take_end(c);
	return ts_ok(&c->at) ? SQLITE_OK : fail(t, SQLITE_ERROR, &c->err);
}

static int next(sqlite3_vtab_cursor *cursor)
{
	return advance((struct cursor *)cursor);
}

static int filter(sqlite3_vtab_cursor *cursor, int order, const char *plan, int n, sqlite3_value **values)
{
	struct cursor *c = (struct cursor *)cursor;
	struct table *t = (struct table *)cursor->pVtab;
	struct ts_buf *q = &t->link->request;
	const char *p = strrchr(plan, '{');
	unsigned long long used = 0;
	int result, len = 0;

	if (!p || sscanf(p, "{%llx%n", &used, &len) != 1)
		return SQLITE_ERROR;
	p += len;
	c->used = used;
	c->n_wanted = FIRST_ROWS;
	c->is_over = false;
	ts_wire_begin(q);
	ts_buf_putc(q, 'F');
	ts_wire_put_u32(q, c->id);
	ts_wire_put_u32(q, t->table);
	ts_wire_put_u64(q, used);
	ts_wire_put_u32(q, c->n_wanted);
	ts_buf_putc(q, (uint8_t)order);
	ts_wire_put_u32(q, (uint32_t)n);
	for (int i = 0; i < n; i++) {
		int column, op;

		if (sscanf(p, " %d:%d%n", &column, &op, &len) != 2)
			return SQLITE_ERROR;
		p += len;
		ts_wire_put_u32(q, (uint32_t)column);
		ts_buf_putc(q, (uint8_t)op);
		ts_wire_put_value(q, values[i]);
	}
	result = ts_link_ask(t->link, &c->rows, &c->at, &c->err);
	if (result != SQLITE_OK)
		return fail(t, result, &c->err);
	c->is_last = ts_u8(&c->at);
	c->n_left = (uint32_t)ts_count(&c->at, ts_u32le(&c->at), 8);
	return advance(c);
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
	return ((struct cursor *)cursor)->is_over;
}

void ts_sqlite_put_value(sqlite3_context *out, const struct ts_wire_value *v)
{
	switch (v->type) {
	case SQLITE_INTEGER: sqlite3_result_int64(out, v->number); break;
	case SQLITE_FLOAT: sqlite3_result_double(out, v->real); break;
	case SQLITE_TEXT: sqlite3_result_text(out, (const char *)v->data, (int)v->len, SQLITE_TRANSIENT); break;
	case SQLITE_BLOB: sqlite3_result_blob(out, v->data, (int)v->len, SQLITE_TRANSIENT); break;
	default: sqlite3_result_null(out); break;
	}
}

static int get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int i)
{
	const struct cursor *c = (const struct cursor *)cursor;

	if (i >= 0 && i < (int)MAX_COLUMNS && c->used >> i & 1)
		ts_sqlite_put_value(out, &c->values[__builtin_popcountll(c->used & ((UINT64_C(1) << i) - 1))]);
	return SQLITE_OK;
}

static int get_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *number)
{
	*number = ((struct cursor *)cursor)->number;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct table *t = (struct table *)vtab;
	struct cursor *c = calloc(1, sizeof(*c));
	const struct ts_error err = { .text = "a statement reads too many tables at a time" };

	if (!c)
		return SQLITE_NOMEM;
	if (!ts_link_take_cursor(t->link, &c->id)) {
		free(c);
		return fail(t, SQLITE_ERROR, &err);
	}
	ts_buf_init(&c->rows);
	*cursor = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;
	struct ts_link *l = ((struct table *)cursor->pVtab)->link;

	ts_wire_begin(&l->request);
	ts_buf_putc(&l->request, 'C');
	ts_wire_put_u32(&l->request, c->id);
	ts_link_ask(l, &c->rows, &c->at, &c->err);
	ts_link_return_cursor(l, c->id);
	ts_buf_fini(&c->rows);
	free(c);
	return SQLITE_OK;
}

/* --------------------------------------------------------------------------------------------------- modules */

static int connect_table(sqlite3 *db, void *user, int argc, const char *const *argv, sqlite3_vtab **vtab, char **error)
{
	const struct source *from = user;
	struct table *t;
	int result = sqlite3_declare_vtab(db, from->link->tables[from->table].declaration);

	(void)argc;
	(void)argv;
	if (result != SQLITE_OK) {
		*error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
		return result;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return SQLITE_NOMEM;
	t->link = ts_link_use(from->link);
	t->table = from->table;
	*vtab = &t->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *vtab)
{
	struct table *t = (struct table *)vtab;

	ts_link_release(t->link);
	free(t);
	return SQLITE_OK;
}

static void free_source(void *user)
{
	struct source *from = user;

	ts_link_release(from->link);
	free(from);
}

/* Without xCreate: a table is there by its name. */
static const sqlite3_module module = {
	.xConnect = connect_table,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = is_at_end,
	.xColumn = get_column,
	.xRowid = get_rowid,
};

int ts_sqlite_add_tables(sqlite3 *db, struct ts_link *l)
{
	int result = SQLITE_OK;

	for (uint32_t i = 0; i < l->n_tables && result == SQLITE_OK; i++) {
		struct source *from = calloc(1, sizeof(*from));

		if (!from)
			return SQLITE_NOMEM;
		*from = (struct source){ ts_link_use(l), i };
		result = sqlite3_create_module_v2(db, l->tables[i].name, &module, from, free_source);
	}
	return result;
}
