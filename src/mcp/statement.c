/* SPDX-License-Identifier: MIT */
/* The tool sql. */
#include <inttypes.h>

#include "server.h"
#include "src/base/json.h"
#include "src/sql/print.h"
#include "src/sql/sql.h"
#include "tools.h"

static bool is_stopped(void *user)
{
	struct ts_mcp_server *sv = user;

	ts_mcp_look(sv);
	return sv->is_cancelled;
}

/* The rows of the statement, and whether these are all. */
static bool run(struct ts_sql *sql, sqlite3_stmt *stmt, uint64_t max, struct ts_buf *lines, struct ts_error *err)
{
	struct ts_sql_print print;
	uint64_t n = 0;
	int result = SQLITE_DONE;
	const char *note;
	bool is_cut;

	ts_sql_print_init(&print, TS_SQL_JSON, 0);
	while ((result = sqlite3_step(stmt)) == SQLITE_ROW && n++ < max)
		ts_sql_print_row(&print, stmt, lines);
	is_cut = ts_sql_take_cut(sql, &note);
	if (result == SQLITE_DONE || result == SQLITE_ROW)
		ts_sql_print_end(&print, stmt, result == SQLITE_DONE && !is_cut, note, lines);
	else
		ts_sql_error(sql, err);
	ts_sql_print_fini(&print);
	return err->code == TS_OK;
}

/* One statement, and nothing after it. */
static bool run_text(struct ts_sql *sql, const char *text, uint64_t max, struct ts_buf *lines, struct ts_error *err)
{
	sqlite3_stmt *stmt = NULL, *more = NULL;
	const char *rest = "";
	bool done = false;

	if (sqlite3_prepare_v2(ts_sql_db(sql), text, -1, &stmt, &rest) != SQLITE_OK)
		ts_sql_error(sql, err);
	else if (!stmt || sqlite3_prepare_v2(ts_sql_db(sql), rest, -1, &more, NULL) != SQLITE_OK || more)
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "one statement is expected; example: SELECT callee, count(*) FROM call GROUP BY callee");
	else
		done = run(sql, stmt, max, lines, err);
	sqlite3_finalize(more);
	sqlite3_finalize(stmt);
	return done;
}

void ts_mcp_sql(struct ts_mcp_server *sv, struct ts_mcp_recording *r, const json_t *arguments, const json_t *id)
{
	const struct ts_sql_options options = { .is_stopped = is_stopped, .user = sv };
	const struct ts_sql_recording one = { .ask = r->ask };
	const json_t *first = json_object_get(arguments, "first");
	uint64_t max = first ? (uint64_t)json_integer_value(first) : TS_MCP_ROWS;
	struct ts_error err = { 0 };
	struct ts_buf lines;
	struct ts_sql *sql;

	ts_buf_init(&lines);
	sql = ts_sql_new(&one, 1, &options, &err);
	if (sql && run_text(sql, ts_mcp_text(arguments, "statement"), max < TS_MCP_MAX_ROWS ? max : TS_MCP_MAX_ROWS, &lines, &err))
		ts_mcp_reply_rows(sv, id, &lines, !first);
	else
		ts_mcp_reply_failure(sv, r, &err, id);
	ts_sql_free(sql);
	ts_buf_fini(&lines);
}

json_t *ts_mcp_sql_schema(struct ts_mcp_recording *r)
{
	const struct ts_sql_options options = { 0 };
	struct ts_error err = { 0 };
	const struct ts_sql_recording one = { .ask = r->ask };
	struct ts_sql *sql = ts_sql_new(&one, 1, &options, &err);
	const char *schema;
	struct ts_buf text;
	json_t *value;

	ts_buf_init(&text);
	for (size_t i = 0; sql && (schema = ts_sql_schema(sql, i)); i++)
		ts_buf_printf(&text, "%s;\n", schema);
	value = sql && ts_buf_ok(&text) ? json_string(ts_buf_text(&text)) : NULL;
	ts_buf_fini(&text);
	ts_sql_free(sql);
	return value;
}
