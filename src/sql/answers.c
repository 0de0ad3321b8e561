/* SPDX-License-Identifier: MIT */
#include "answers.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/vec.h"
#include "table.h"
#include "wire.h"

/* A statement reads no more tables at a time. */
#define MAX_CURSORS 1024u

#define MAX_TERMS 64u

/* Rows of a table, which another process reads. */
struct reader {
	sqlite3_stmt *stmt; /* owned; NULL: none was prepared */
	struct ts_buf text; /* its statement */
	unsigned n_columns; /* after the row's number */
	bool is_over;
};

struct ts_sql_answers {
	struct ts_sql *s;
	struct reader *readers; /* owned, n_readers of them */
	size_t n_readers;
	sqlite3_stmt *call;     /* owned; of the function that was called last, or NULL */
	struct ts_buf call_text, text;
};

struct ts_sql_answers *ts_sql_answers_new(struct ts_sql *s)
{
	struct ts_sql_answers *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->s = s;
	ts_buf_init(&a->call_text);
	ts_buf_init(&a->text);
	return a;
}

static void close_reader(struct reader *r)
{
	sqlite3_finalize(r->stmt);
	ts_buf_fini(&r->text);
	*r = (struct reader){ 0 };
}

void ts_sql_answers_free(struct ts_sql_answers *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_readers; i++)
		close_reader(&a->readers[i]);
	sqlite3_finalize(a->call);
	ts_buf_fini(&a->call_text);
	ts_buf_fini(&a->text);
	free(a->readers);
	free(a);
}

/* ---------------------------------------------------------------------------------------------- declarations */

/* The table's name in its declaration. */
static const char *name_of(const char *declaration, size_t *len)
{
	const char *name = declaration + strlen("CREATE TABLE ");

	*len = strcspn(name, "(");
	return name;
}

/* The name of column @i in the table's declaration, where names have neither commas nor quotes; NULL: there are fewer. */
static const char *column_of(const char *declaration, int i, size_t *len)
{
	const char *p = strchr(declaration, '(') + 1;

	for (; i > 0; i--) {
		p = strchr(p, ',');
		if (!p)
			return NULL;
		p++;
	}
	p += strspn(p, " \"");
	*len = strcspn(p, "\", )");
	return i < 0 ? NULL : p;
}

void ts_sql_answers_hello(struct ts_sql_answers *a, struct ts_buf *out)
{
	const char *declaration, *name;
	uint32_t n = 0, n_functions = 0;
	int n_arguments;
	size_t len;

	while (ts_sql_schema(a->s, n))
		n++;
	while (ts_sql_scalar(a->s, n_functions, &n_arguments))
		n_functions++;
	ts_wire_begin(out);
	ts_wire_put_u32(out, SQLITE_OK);
	ts_wire_put_u32(out, n);
	for (uint32_t i = 0; i < n; i++) {
		declaration = ts_sql_schema(a->s, i);
		name = name_of(declaration, &len);
		ts_wire_put_text(out, name, len);
		ts_wire_put_text(out, declaration, strlen(declaration));
	}
	ts_wire_put_u32(out, n_functions);
	for (uint32_t i = 0; i < n_functions; i++) {
		name = ts_sql_scalar(a->s, i, &n_arguments);
		ts_wire_put_text(out, name, strlen(name));
		ts_buf_putc(out, (uint8_t)n_arguments);
	}
	ts_wire_finish(out);
}

/* ----------------------------------------------------------------------------------------------------- plans */

static void put_error(struct ts_sql_answers *a, int result, struct ts_buf *out)
{
	struct ts_error err;

	ts_sql_error(a->s, &err);
	ts_wire_put_u32(out, (uint32_t)result);
	ts_wire_put_text(out, err.text, strlen(err.text));
}

/* The table as SQLite has it, so that it can be asked for a plan; NULL: memory is exhausted. */
static struct ts_sql_vtab *find_table(struct ts_sql_answers *a, const char *declaration)
{
	sqlite3_stmt *stmt = NULL;
	size_t len;
	const char *name = name_of(declaration, &len);

	ts_buf_reset(&a->text);
	ts_buf_printf(&a->text, "SELECT 1 FROM \"%.*s\"", (int)len, name);
	if (ts_sql_connected(a->s, name, len) || !ts_buf_ok(&a->text))
		return ts_sql_connected(a->s, name, len);
	sqlite3_prepare_v2(ts_sql_db(a->s), ts_buf_text(&a->text), -1, &stmt, NULL);
	sqlite3_finalize(stmt);
	return ts_sql_connected(a->s, name, len);
}

static void put_plan(struct ts_sql_vtab *t, sqlite3_index_info *info, struct ts_buf *out)
{
	int result = SQLITE_NOMEM;

	if (t) {
		t->s->n_selects = 0; /* it is about a statement of another process */
		result = ts_sql_best_index(&t->base, info);
	}
	ts_wire_put_u32(out, (uint32_t)result);
	if (result != SQLITE_OK) {
		ts_wire_put_text(out, "", 0);
		return;
	}
	for (int i = 0; i < info->nConstraint; i++) {
		ts_wire_put_u32(out, (uint32_t)info->aConstraintUsage[i].argvIndex);
		ts_buf_putc(out, info->aConstraintUsage[i].omit);
	}
	ts_buf_putc(out, (uint8_t)info->orderByConsumed);
	ts_wire_put_real(out, info->estimatedCost);
	ts_wire_put_u64(out, (uint64_t)info->estimatedRows);
	ts_wire_put_text(out, info->idxStr, strlen(info->idxStr));
	sqlite3_free(info->idxStr);
}

static void answer_best(struct ts_sql_answers *a, struct ts_cursor *c, struct ts_buf *out)
{
	const char *declaration = ts_sql_schema(a->s, ts_u32le(c));
	struct sqlite3_index_constraint terms[MAX_TERMS];
	struct sqlite3_index_constraint_usage usage[MAX_TERMS] = { { 0, 0 } };
	struct sqlite3_index_orderby order[1];
	sqlite3_index_info info = {
		.aConstraint = terms, .aOrderBy = order, .aConstraintUsage = usage, .estimatedRows = 25,
		.colUsed = ts_u64le(c),
	};
	uint32_t n = ts_u32le(c);

	if (!declaration || n > MAX_TERMS) {
		ts_cursor_short(c, n);
		return;
	}
	memset(terms, 0, sizeof(terms));
	info.nConstraint = (int)n;
	for (uint32_t i = 0; i < n; i++) {
		terms[i].iColumn = (int)ts_u32le(c);
		terms[i].op = ts_u8(c);
		terms[i].usable = ts_u8(c);
	}
	info.nOrderBy = ts_u32le(c) == 1;
	if (info.nOrderBy) {
		order[0].iColumn = (int)ts_u32le(c);
		order[0].desc = ts_u8(c);
	}
	if (ts_ok(c))
		put_plan(find_table(a, declaration), &info, out);
}

/* ------------------------------------------------------------------------------------------------------ rows */

static bool bind(sqlite3_stmt *stmt, int i, const struct ts_wire_value *v)
{
	switch (v->type) {
	case SQLITE_INTEGER: return sqlite3_bind_int64(stmt, i, v->number) == SQLITE_OK;
	case SQLITE_FLOAT: return sqlite3_bind_double(stmt, i, v->real) == SQLITE_OK;
	case SQLITE_TEXT: return sqlite3_bind_text(stmt, i, (const char *)v->data, (int)v->len, SQLITE_TRANSIENT) == SQLITE_OK;
	case SQLITE_BLOB: return sqlite3_bind_blob(stmt, i, v->data, (int)v->len, SQLITE_TRANSIENT) == SQLITE_OK;
	default: return sqlite3_bind_null(stmt, i) == SQLITE_OK;
	}
}

/* "SELECT rowid, the used columns FROM the table"; returns how many columns, -1: a column does not exist. */
static int put_select(struct ts_buf *text, const char *declaration, uint64_t used)
{
	const char *name;
	int n = 0;
	size_t len;

	ts_buf_puts(text, "SELECT rowid");
	for (int i = 0; i < 64; i++) {
		name = used >> i & 1 ? column_of(declaration, i, &len) : NULL;
		if (used >> i & 1 && !name)
			return -1;
		if (name)
			ts_buf_printf(text, ", \"%.*s\"", (int)len, name);
		n += name != NULL;
	}
	name = name_of(declaration, &len);
	ts_buf_printf(text, " FROM \"%.*s\"", (int)len, name);
	return n;
}

/* The statement of a filter to a->text, its values to @values.  Returns its columns, -1: the message is damaged. */
static int read_statement(struct ts_sql_answers *a, struct ts_cursor *c, const char *declaration, uint64_t used,
			  struct ts_wire_value values[MAX_TERMS], uint32_t *n)
{
	uint8_t order = ts_u8(c);
	int columns;

	*n = ts_u32le(c);
	ts_buf_reset(&a->text);
	columns = declaration ? put_select(&a->text, declaration, used) : -1;
	if (columns < 0 || *n > MAX_TERMS)
		return -1;
	for (uint32_t i = 0; i < *n; i++) {
		size_t len;
		const char *name = column_of(declaration, (int)ts_u32le(c), &len);
		const struct ts_sql_operator *op = ts_sql_operator(ts_u8(c));

		ts_wire_value(c, &values[i]);
		if (!name || !op || !ts_ok(c))
			return -1;
		ts_buf_printf(&a->text, " %s \"%.*s\" %s ?%u", i ? "AND" : "WHERE", (int)len, name, op->text, i + 1);
	}
	if (order)
		ts_buf_printf(&a->text, " ORDER BY position%s", order == 2 ? " DESC" : "");
	return ts_buf_ok(&a->text) ? columns : -1;
}

static void put_end(struct ts_sql_answers *a, struct ts_buf *out)
{
	const char *note;
	bool is_cut = ts_sql_take_cut(a->s, &note);

	ts_buf_putc(out, is_cut);
	ts_wire_put_text(out, note, strlen(note));
}

static void put_rows(struct ts_sql_answers *a, struct reader *r, uint32_t n_wanted, struct ts_buf *out)
{
	size_t end_at, n_at;
	uint32_t n = 0;
	int result = SQLITE_DONE;

	ts_wire_put_u32(out, SQLITE_OK);
	end_at = out->len;
	ts_buf_putc(out, 0);
	n_at = out->len;
	ts_wire_put_u32(out, 0);
	while (n < n_wanted && out->len < TS_WIRE_ROWS_LEN && (result = sqlite3_step(r->stmt)) == SQLITE_ROW) {
		ts_wire_put_u64(out, (uint64_t)sqlite3_column_int64(r->stmt, 0));
		for (unsigned i = 1; i <= r->n_columns; i++)
			ts_wire_put_value(out, sqlite3_column_value(r->stmt, (int)i));
		n++;
	}
	if (result != SQLITE_ROW && result != SQLITE_DONE) {
		ts_wire_begin(out);
		put_error(a, result, out);
		return;
	}
	if (!ts_buf_ok(out))
		return;
	for (size_t i = 0; i < 4; i++)
		out->data[n_at + i] = (uint8_t)(n >> 8 * i);
	if (result != SQLITE_DONE)
		return;
	r->is_over = true;
	out->data[end_at] = 1;
	put_end(a, out);
}

static struct reader *find_reader(struct ts_sql_answers *a, uint32_t i, bool is_new)
{
	if (i >= MAX_CURSORS || (is_new && i >= a->n_readers && !ts_vec_extend(&a->readers, &a->n_readers, i, sizeof(*a->readers))))
		return NULL;
	return i < a->n_readers && (is_new || a->readers[i].stmt) ? &a->readers[i] : NULL;
}

/* The statement a->text, prepared: the one of before if it is the same. */
static int prepare(struct ts_sql_answers *a, sqlite3_stmt **stmt, struct ts_buf *text)
{
	if (*stmt && text->len == a->text.len && !memcmp(text->data, a->text.data, text->len))
		return sqlite3_reset(*stmt), SQLITE_OK;
	sqlite3_finalize(*stmt);
	*stmt = NULL;
	ts_buf_reset(text);
	ts_buf_put(text, a->text.data, a->text.len);
	return ts_buf_ok(text) ? sqlite3_prepare_v2(ts_sql_db(a->s), ts_buf_text(&a->text), -1, stmt, NULL) : SQLITE_NOMEM;
}

static void answer_filter(struct ts_sql_answers *a, struct ts_cursor *c, struct ts_buf *out)
{
	uint32_t id = ts_u32le(c);
	const char *declaration = ts_sql_schema(a->s, ts_u32le(c));
	uint64_t used = ts_u64le(c);
	uint32_t n_wanted = ts_u32le(c), n;
	struct ts_wire_value values[MAX_TERMS];
	int columns = read_statement(a, c, declaration, used, values, &n), result;
	struct reader *r = columns < 0 ? NULL : find_reader(a, id, true);

	if (!r) {
		ts_cursor_short(c, used);
		return;
	}
	result = prepare(a, &r->stmt, &r->text);
	for (uint32_t i = 0; i < n && result == SQLITE_OK; i++)
		result = bind(r->stmt, (int)i + 1, &values[i]) ? SQLITE_OK : SQLITE_NOMEM;
	r->n_columns = (unsigned)columns;
	r->is_over = false;
	if (result == SQLITE_OK)
		put_rows(a, r, n_wanted, out);
	else
		put_error(a, result, out);
}

static void answer_next(struct ts_sql_answers *a, struct ts_cursor *c, struct ts_buf *out)
{
	struct reader *r = find_reader(a, ts_u32le(c), false);
	uint32_t n_wanted = ts_u32le(c);

	if (r && !r->is_over)
		put_rows(a, r, n_wanted, out);
	else
		ts_cursor_short(c, n_wanted);
}

static void answer_close(struct ts_sql_answers *a, struct ts_cursor *c, struct ts_buf *out)
{
	struct reader *r = find_reader(a, ts_u32le(c), false);

	if (r)
		close_reader(r);
	ts_wire_put_u32(out, SQLITE_OK);
}

/* ------------------------------------------------------------------------------------------------- functions */

static void answer_call(struct ts_sql_answers *a, struct ts_cursor *c, struct ts_buf *out)
{
	uint32_t len, n;
	const char *name = ts_wire_text(c, &len);
	struct ts_wire_value value;
	int result;

	n = ts_u32le(c);
	if (n > MAX_TERMS || !ts_sql_has_scalar(a->s, name, len, (int)n)) {
		ts_cursor_short(c, n);
		return;
	}
	ts_buf_reset(&a->text);
	ts_buf_printf(&a->text, "SELECT %.*s(", (int)len, name);
	for (uint32_t i = 0; i < n; i++)
		ts_buf_puts(&a->text, i ? ",?" : "?");
	ts_buf_puts(&a->text, ")");
	result = ts_buf_ok(&a->text) ? prepare(a, &a->call, &a->call_text) : SQLITE_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		ts_wire_value(c, &value);
		if (result == SQLITE_OK && !bind(a->call, (int)i + 1, &value))
			result = SQLITE_NOMEM;
	}
	if (result == SQLITE_OK)
		result = sqlite3_step(a->call);
	if (result != SQLITE_ROW) {
		put_error(a, result, out);
		return;
	}
	ts_wire_put_u32(out, SQLITE_OK);
	ts_wire_put_value(out, sqlite3_column_value(a->call, 0));
	sqlite3_reset(a->call);
}

/* -------------------------------------------------------------------------------------------------- messages */

static void put_no_memory(struct ts_buf *out)
{
	static const char text[] = "no memory for rows of the recording";

	ts_wire_begin(out);
	ts_wire_put_u32(out, SQLITE_NOMEM);
	ts_wire_put_text(out, text, sizeof(text) - 1);
}

bool ts_sql_answers_take(struct ts_sql_answers *a, const uint8_t *request, size_t len, struct ts_buf *out, struct ts_error *err)
{
	struct ts_cursor c = ts_cursor(request, len, 0, "message of the extension", err);

	ts_wire_begin(out);
	switch (ts_u8(&c)) {
	case 'B': answer_best(a, &c, out); break;
	case 'F': answer_filter(a, &c, out); break;
	case 'N': answer_next(a, &c, out); break;
	case 'C': answer_close(a, &c, out); break;
	case 'S': answer_call(a, &c, out); break;
	default: ts_cursor_short(&c, 1); break;
	}
	if (!ts_buf_ok(out))
		put_no_memory(out);
	ts_wire_finish(out);
	return ts_ok(&c) && ts_buf_ok(out);
}
