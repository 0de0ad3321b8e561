/* SPDX-License-Identifier: MIT */
#include "src/program/cli/cli_commands.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asker.h"
#include "show.h"
#include "sql_prompt.h"
#include "src/base/atomic_file.h"
#include "src/base/bytes.h"
#include "src/base/io_full.h"
#include "src/program/cli/interrupt.h"
#include "src/program/cli/message.h"
#include "src/program/cli/report.h"
#include "src/sql/answers.h"
#include "src/sql/print.h"
#include "src/sql/sql.h"

/* A question is not longer: a statement's values are in it. */
#define MAX_REQUEST (128u * 1024 * 1024)

/* Read @len bytes.  Returns false at the end, or if they cannot be read: *err then says why. */
static bool receive(uint8_t *to, size_t len, struct ts_error *err)
{
	while (len) {
		ssize_t n = read(STDIN_FILENO, to, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ts_fail_errno(err, "cannot read from the extension");
		if (!n)
			return false;
		to += n;
		len -= (size_t)n;
	}
	return true;
}

static bool read_request(struct ts_buf *request, struct ts_error *err)
{
	uint8_t head[4];
	uint32_t len;

	ts_buf_reset(request);
	if (!receive(head, sizeof(head), err))
		return false;
	len = (uint32_t)ts_number(head, sizeof(head), false);
	if (len > MAX_REQUEST || !ts_buf_add(request, len))
		return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "a message of %u bytes of the extension is too long", len);
	return receive(request->data, len, err);
}

/*
 * Answer the messages from the standard input, until its end.
 *
 * Returns false if a message is damaged or cannot be answered.
 */
static bool answer_sqlite(struct ts_sql *sql, struct ts_error *err)
{
	struct ts_sql_answers *a = ts_sql_answers_new(sql);
	struct ts_buf request, reply;

	ts_buf_init(&request);
	ts_buf_init(&reply);
	if (!a)
		ts_no_memory(err, "answers to the extension");
	else
		ts_sql_answers_hello(a, &reply);
	while (err->code == TS_OK) {
		if (!ts_write_whole(STDOUT_FILENO, reply.data, reply.len))
			ts_fail_errno(err, "cannot write to the extension");
		signal(SIGINT, SIG_IGN); /* it is meant for a statement */
		if (err->code != TS_OK || !read_request(&request, err))
			break;
		ts_interrupt_catch_all();
		ts_sql_answers_take(a, request.data, request.len, &reply, err);
	}
	ts_sql_answers_free(a);
	ts_buf_fini(&request);
	ts_buf_fini(&reply);
	return err->code == TS_OK;
}

/* Output is written when it is longer than this. */
#define MAX_KEPT (64 * 1024u)

/* A file of statements is not longer. */
#define MAX_STATEMENTS (16 * 1024 * 1024u)

struct shell {
	const struct ts_cli *cli;
	struct ts_sql *sql;
	struct ts_sql_print print;
	struct ts_buf out;
	sqlite3 *saved;    /* owned; --save: the database that is being filled */
	unsigned n_saved;
	uint64_t n_rows;   /* of the last statement */
	struct ts_error err;
};

static bool is_stopped(void *)
{
	return ts_is_interrupted();
}

static enum ts_sql_form form_of(const struct ts_cli *cli)
{
	switch (ts_show_form(cli)) {
	case TS_FORM_TEXT: return TS_SQL_BOX;
	case TS_FORM_CSV: return TS_SQL_CSV;
	case TS_FORM_TSV: return TS_SQL_TSV;
	case TS_FORM_JSON: return TS_SQL_JSON;
	}
	return TS_SQL_TSV;
}

static bool flush(struct shell *sh)
{
	bool done = !sh->out.len || fwrite(sh->out.data, 1, sh->out.len, stdout) == sh->out.len;

	if (!ts_buf_ok(&sh->out))
		return ts_no_memory(&sh->err, "the rows of a statement");
	ts_buf_reset(&sh->out);
	return (done && fflush(stdout) == 0) || ts_fail_errno(&sh->err, "cannot write to stdout");
}

/* --------------------------------------------------------------------------------------------------- --save */

static bool fail_saved(struct shell *sh)
{
	return ts_fail(&sh->err, TS_EIO, TS_NO_OFF, "--save %s: %s", sh->cli->save, sqlite3_errmsg(sh->saved));
}

/* "CREATE TABLE result (...)" with the columns of the statement, then "INSERT INTO result VALUES (?, ...)". */
static sqlite3_stmt *begin_saving(struct shell *sh, sqlite3_stmt *stmt)
{
	sqlite3_str *create = sqlite3_str_new(sh->saved), *insert = sqlite3_str_new(sh->saved);
	sqlite3_stmt *into = NULL;
	char name[32] = "result", *text;

	if (sh->n_saved++)
		snprintf(name, sizeof(name), "result%u", sh->n_saved);
	sqlite3_str_appendf(create, "CREATE TABLE %s(", name);
	sqlite3_str_appendf(insert, "INSERT INTO %s VALUES(", name);
	for (int i = 0; i < sqlite3_column_count(stmt); i++) {
		sqlite3_str_appendf(create, "%s\"%w\"", i ? "," : "", sqlite3_column_name(stmt, i));
		sqlite3_str_appendall(insert, i ? ",?" : "?");
	}
	sqlite3_str_appendall(create, ")");
	sqlite3_str_appendall(insert, ")");
	text = sqlite3_str_finish(create);
	if (!text || sqlite3_exec(sh->saved, text, NULL, NULL, NULL) != SQLITE_OK)
		fail_saved(sh);
	sqlite3_free(text);
	text = sqlite3_str_finish(insert);
	if (sh->err.code == TS_OK && (!text || sqlite3_prepare_v2(sh->saved, text, -1, &into, NULL) != SQLITE_OK))
		fail_saved(sh);
	sqlite3_free(text);
	return into;
}

static bool save_row(struct shell *sh, sqlite3_stmt *stmt, sqlite3_stmt *into)
{
	for (int i = 0; i < sqlite3_column_count(stmt); i++)
		sqlite3_bind_value(into, i + 1, sqlite3_column_value(stmt, i));
	if (sqlite3_step(into) != SQLITE_DONE)
		return fail_saved(sh);
	return sqlite3_reset(into) == SQLITE_OK || fail_saved(sh);
}

/* The database as a file. */
static bool finish_saving(struct shell *sh)
{
	sqlite3_int64 len = 0;
	unsigned char *data = sqlite3_serialize(sh->saved, "main", &len, 0);
	struct ts_atomic_file f = { .fd = -1 };
	bool done;

	if (!data)
		return ts_no_memory(&sh->err, "--save");
	done = ts_atomic_file_init(&f, sh->cli->save, &sh->err) &&
	       ts_atomic_file_write(&f, data, (size_t)len, &sh->err) && ts_atomic_file_finish(&f, &sh->err);
	ts_atomic_file_fini(&f);
	sqlite3_free(data);
	return done;
}

/* ----------------------------------------------------------------------------------------------- statements */

static bool take_row(struct shell *sh, sqlite3_stmt *stmt, sqlite3_stmt *into)
{
	sh->n_rows++;
	if (into)
		return save_row(sh, stmt, into);
	ts_sql_print_row(&sh->print, stmt, &sh->out);
	return sh->out.len < MAX_KEPT || flush(sh);
}

static bool run(struct shell *sh, sqlite3_stmt *stmt)
{
	sqlite3_stmt *into = sh->saved ? begin_saving(sh, stmt) : NULL;
	int result = SQLITE_ROW;
	const char *note;
	bool is_cut;

	sh->n_rows = 0;
	while (sh->err.code == TS_OK && (result = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (!take_row(sh, stmt, into))
			break;
	}
	sqlite3_finalize(into);
	if (sh->err.code != TS_OK)
		return false;
	if (result != SQLITE_DONE && result != SQLITE_INTERRUPT) {
		ts_sql_error(sh->sql, &sh->err);
		return false;
	}
	if (result == SQLITE_INTERRUPT && ts_has_lost_reader())
		ts_interrupt_end();
	is_cut = ts_sql_take_cut(sh->sql, &note);
	if (!sh->saved)
		ts_sql_print_end(&sh->print, stmt, result == SQLITE_DONE && !is_cut, note, &sh->out);
	if (is_cut)
		ts_message(stderr, "tracestub: the result is not complete%s%s", *note ? ": " : "", note);
	else if (*note)
		ts_message(stderr, "tracestub: %s", note);
	if (result == SQLITE_INTERRUPT && !sh->cli->is_quiet)
		fprintf(stderr, "tracestub: %s: the rows end where the statement was\n", ts_interrupt_text());
	return flush(sh);
}

/* All statements of the text. */
static bool run_all(struct shell *sh, const char *text)
{
	bool done = true;

	while (done && *text) {
		sqlite3_stmt *stmt = NULL;

		if (sqlite3_prepare_v2(ts_sql_db(sh->sql), text, -1, &stmt, &text) != SQLITE_OK) {
			ts_sql_error(sh->sql, &sh->err);
			done = false;
		} else if (stmt) {
			done = run(sh, stmt);
		}
		sqlite3_finalize(stmt);
	}
	return done;
}

/* .tables, .schema: what there is. */
static bool list_tables(struct shell *sh, bool with_columns)
{
	const char *schema;

	for (size_t i = 0; (schema = ts_sql_schema(sh->sql, i)); i++) {
		if (with_columns)
			ts_buf_printf(&sh->out, "%s;\n", schema);
		else
			ts_buf_printf(&sh->out, "%.*s\n", (int)(strcspn(schema, "(") - strlen("CREATE TABLE ")),
				      schema + strlen("CREATE TABLE "));
		sh->n_rows++;
	}
	return flush(sh);
}

static const char help[] = ".tables             the tables and functions\n"
			   ".schema             their columns; arguments of functions are HIDDEN ones\n"
			   ".quit               leave\n"
			   "SELECT ...;         a statement ends with a semicolon\n"
			   "example: SELECT callee, count(*) FROM call GROUP BY callee ORDER BY 2 DESC LIMIT 10;\n";

static bool run_command(struct shell *sh, const char *text)
{
	size_t len = strcspn(text, " \n");

	if (!strncmp(text, ".tables", len) || !strncmp(text, ".schema", len))
		return list_tables(sh, text[1] == 's');
	if (!strncmp(text, ".help", len)) {
		ts_buf_puts(&sh->out, help);
		return flush(sh);
	}
	return ts_fail(&sh->err, TS_EUSAGE, TS_NO_OFF, "'%.*s' is not a command; there are .tables, .schema, .help and .quit",
		       (int)(len < 40 ? len : 40), text);
}

static bool run_text(struct shell *sh, const char *text)
{
	text += strspn(text, " \t\r\n");
	return *text == '.' ? run_command(sh, text) : run_all(sh, text);
}

/* ----------------------------------------------------------------------------------------------------- input */

/* The whole file, terminated; to be freed.  Returns NULL if it cannot be read or is too long. */
static char *read_statements(struct shell *sh, const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	FILE *f = is_stdin ? stdin : fopen(path, "re");
	struct ts_buf text;
	char piece[4096], *copy = NULL;
	size_t n;

	if (!f) {
		ts_fail_errno(&sh->err, "cannot be opened");
		ts_fail_prefix(&sh->err, "%s", path);
		return NULL;
	}
	ts_buf_init(&text);
	while (text.len < MAX_STATEMENTS && (n = fread(piece, 1, sizeof(piece), f)) > 0)
		ts_buf_put(&text, piece, n);
	if (ferror(f) || text.len >= MAX_STATEMENTS)
		ts_fail(&sh->err, TS_EIO, TS_NO_OFF, "%s: %s", path,
			ferror(f) ? "cannot be read" : "statements of more than 16 MiB");
	else if (ts_buf_ok(&text))
		copy = strdup(ts_buf_text(&text));
	if (!copy && sh->err.code == TS_OK)
		ts_no_memory(&sh->err, "the statements");
	if (!is_stdin)
		fclose(f);
	ts_buf_fini(&text);
	return copy;
}

/* Run what was typed.  What is wrong with it is said, and the prompt comes again. */
static void run_typed(struct shell *sh, const char *text)
{
	ts_interrupt_catch();
	if (!run_text(sh, text))
		ts_report_failure(NULL, &sh->err);
	ts_error_reset(&sh->err);
}

static void run_prompted(struct shell *sh)
{
	char *text;

	while ((text = ts_prompt_read())) {
		run_typed(sh, text);
		free(text);
	}
}

/* Returns false if something failed: sh->err says what. */
static bool run_input(struct shell *sh)
{
	const struct ts_cli *cli = sh->cli;
	char *text = NULL;
	bool done;

	if (cli->question)
		return run_text(sh, cli->question);
	if (cli->is_prompted) {
		run_prompted(sh);
		sh->n_rows = 1;
		return true;
	}
	text = read_statements(sh, cli->statements ? cli->statements : "-");
	done = text && run_text(sh, text);
	free(text);
	return done;
}

static bool open_saved(struct shell *sh)
{
	if (!sh->cli->save || sqlite3_open(":memory:", &sh->saved) == SQLITE_OK)
		return true;
	return ts_no_memory(&sh->err, "--save");
}

/* Run the statements.  Returns the status to exit with. */
static int run_on(const struct ts_sql_recording *recordings, size_t n, const struct ts_cli *cli)
{
	const struct ts_sql_options options = { .may_scan = cli->may_scan, .is_stopped = is_stopped };
	struct shell sh = { .cli = cli };
	int status;
	bool done;

	ts_error_reset(&sh.err);
	ts_buf_init(&sh.out);
	ts_sql_print_init(&sh.print, form_of(cli), ts_show_width(cli));
	ts_interrupt_catch();
	done = (sh.sql = ts_sql_new(recordings, n, &options, &sh.err)) && open_saved(&sh) &&
	       (cli->is_for_sqlite ? answer_sqlite(sh.sql, &sh.err) : run_input(&sh)) &&
	       (!sh.saved || finish_saving(&sh));
	ts_interrupt_release();
	status = sh.n_rows ? TS_STATUS_OK : TS_STATUS_NO_ROWS;
	if (!done)
		status = ts_report_failure(sh.err.code == TS_EUSAGE ? NULL : cli->trace, &sh.err) == TS_STATUS_USAGE
				 ? (int)TS_STATUS_USAGE
				 : TS_STATUS_UNREADABLE;
	sqlite3_close_v2(sh.saved);
	ts_sql_free(sh.sql);
	ts_sql_print_fini(&sh.print);
	ts_buf_fini(&sh.out);
	return status;
}

/* Open all recordings.  Returns false if one cannot be read: why was said on stderr. */
static bool open_all(const struct ts_cli *cli, struct ts_asked *asked, struct ts_sql_recording *recordings, size_t *n)
{
	for (size_t i = 0; i < cli->n_traces;) {
		struct ts_cli one = ts_cli_of_trace(cli, i);
		enum ts_status status;

		i += 1 + one.n_threads;
		if (!ts_asked_init(&asked[(*n)++], &one, &status))
			return false;
		recordings[*n - 1] = (struct ts_sql_recording){ one.trace, &asked[*n - 1].asker.ask };
	}
	return true;
}

/* Was each recording read to its end?  What is damaged is a warning only: all that there is was read. */
static bool is_read(const struct ts_sql_recording *recordings, size_t n)
{
	struct ts_error why;

	for (size_t i = 0; i < n; i++) {
		if (ts_query_is_abandoned(recordings[i].ask->q, &why))
			return false;
	}
	return true;
}

int ts_run_sql(const struct ts_cli *cli)
{
	struct ts_sql_recording *recordings = calloc(cli->n_traces, sizeof(*recordings));
	struct ts_asked *asked = calloc(cli->n_traces, sizeof(*asked));
	int status = TS_STATUS_UNREADABLE;
	struct ts_error err = { 0 };
	size_t n = 0;

	if (!recordings || !asked) {
		ts_fail(&err, TS_ENOMEM, TS_NO_OFF, "no memory for %zu recordings", cli->n_traces);
		ts_report_failure(NULL, &err);
	} else if (open_all(cli, asked, recordings, &n)) {
		status = run_on(recordings, n, cli);
		if (!status && !is_read(recordings, n))
			status = TS_STATUS_UNREADABLE;
	}
	for (size_t i = 0; i < n; i++)
		ts_asked_fini(&asked[i]);
	free(asked);
	free(recordings);
	return status;
}
