/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No value of a statement may be longer. */
#define MAX_VALUE (64 * 1024 * 1024)

/* SQLite's instructions between two questions whether the statement is to end: some ten microseconds. */
#define OPS_A_CHECK 1000

/* Statements may read tables and call functions: no files, no other databases, no settings. */
static int authorize(void *user, int action, const char *a, const char *b, const char *c, const char *d)
{
	struct ts_sql *s = user;

	(void)a;
	(void)c;
	(void)d;
	if (s->is_declaring)
		return SQLITE_OK;
	s->n_selects += action == SQLITE_SELECT;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE: return SQLITE_OK;
	case SQLITE_FUNCTION: return b && !sqlite3_stricmp(b, "load_extension") ? SQLITE_DENY : SQLITE_OK;
	default: return SQLITE_DENY;
	}
}

static int check_stop(void *user)
{
	struct ts_sql *s = user;

	return s->options.is_stopped && s->options.is_stopped(s->options.user);
}

static bool prepare(struct ts_sql *s)
{
	if (sqlite3_open_v2(":memory:", &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL) ||
	    sqlite3_exec(s->db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL) || ts_sql_add_tables(s) ||
	    ts_sql_add_scalars(s))
		return false;
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, MAX_VALUE);
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_progress_handler(s->db, OPS_A_CHECK, check_stop, s);
	return !sqlite3_set_authorizer(s->db, authorize, s);
}

struct ts_sql *ts_sql_new(const struct ts_sql_recording *recordings, size_t n, const struct ts_sql_options *options,
			  struct ts_error *err)
{
	struct ts_sql *s = calloc(1, sizeof(*s));

	if (s) {
		s->recordings = recordings;
		s->n = n;
		s->options = *options;
		ts_error_reset(&s->err);
		ts_buf_init(&s->schema);
	}
	if (s && prepare(s))
		return s;
	ts_sql_free(s);
	return ts_no_memory(err, "tables of the recording");
}

void ts_sql_free(struct ts_sql *s)
{
	if (!s)
		return;
	sqlite3_close_v2(s->db);
	ts_buf_fini(&s->schema);
	free(s);
}

sqlite3 *ts_sql_db(struct ts_sql *s)
{
	s->n_selects = 0; /* the next statement's are counted */
	return s->db;
}

void ts_sql_error(struct ts_sql *s, struct ts_error *err)
{
	ts_error_reset(err);
	if (s->err.code != TS_OK && s->err.code != TS_EUSAGE)
		*err = s->err;
	else if (sqlite3_errcode(s->db) == SQLITE_NOMEM)
		ts_no_memory(err, "the statement");
	else if (sqlite3_errcode(s->db) == SQLITE_AUTH)
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "the recording can only be read: a statement is a SELECT");
	else
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "%s", sqlite3_errmsg(s->db));
	ts_error_reset(&s->err);
}

bool ts_sql_take_cut(struct ts_sql *s, const char **note)
{
	bool is_cut = s->is_cut;

	snprintf(s->note, sizeof(s->note), "%s", is_cut ? s->reason : s->hint);
	*note = s->note;
	s->is_cut = false;
	*s->hint = *s->reason = 0;
	return is_cut;
}

static bool declare(const struct ts_sql *s, size_t i, struct ts_buf *out, bool *is_function)
{
	size_t n_tables;
	const struct ts_sql_table *tables = ts_sql_tables(&n_tables);
	struct ts_sql_table function;
	char name[64];

	ts_buf_reset(out);
	*is_function = i >= n_tables;
	if (*is_function && !ts_sql_function(i - n_tables, &function, name))
		return false;
	ts_sql_declare(s, *is_function ? &function : &tables[i], out);
	return true;
}

bool ts_sql_declaration(size_t i, struct ts_buf *out, bool *is_function)
{
	const struct ts_sql alone = { .n = 1 };

	return declare(&alone, i, out, is_function);
}

const char *ts_sql_schema(struct ts_sql *s, size_t i)
{
	bool is_function;

	return declare(s, i, &s->schema, &is_function) ? ts_buf_text(&s->schema) : NULL;
}
