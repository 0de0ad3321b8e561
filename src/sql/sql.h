/* SPDX-License-Identifier: MIT */
/*
 * SQL over a recording: a connection to an in-memory database whose tables are the recording's steps, writes, calls,
 * events and so on.  Statements may only read.
 */
#ifndef TS_SQL_H
#define TS_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/ask/verb.h"
#include "src/base/buf.h"
#include "src/base/error.h"

/* A statement that would decode more steps than this is refused, unless the caller allows it. */
#define TS_SQL_MAX_SCAN UINT64_C(100000000)

struct ts_sql_options {
	bool may_scan;                  /* statements may decode any number of steps */
	bool (*is_stopped)(void *user); /* polled while a statement runs, which ends if this returns true; may be NULL */
	void *user;
};

struct ts_sql_recording {
	const char *name;   /* the value of the column `recording`; unused if there is one recording only */
	struct ts_ask *ask;
};

struct ts_sql;

/*
 * A connection to @n (> 0) recordings: the array and its contents are borrowed and must outlive it.  With several
 * recordings, each table has a first column `recording`, and each function of a recording has it as its first argument.
 *
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_sql *ts_sql_new(const struct ts_sql_recording *recordings, size_t n, const struct ts_sql_options *options,
			  struct ts_error *err);
void ts_sql_free(struct ts_sql *s);

/* Returns SQLite's connection, borrowed, with which the caller prepares and steps statements. */
sqlite3 *ts_sql_db(struct ts_sql *s);

/*
 * The error of the last failed call to SQLite as a struct ts_error: TS_EUSAGE for a statement that SQLite or a
 * table does not understand, else the error of the recording's reader.
 */
void ts_sql_error(struct ts_sql *s, struct ts_error *err);

/*
 * Was a table incomplete since the last call, for example because code is unknown?  Then the statement's result is
 * incomplete; *note is set to the reason, "" if it is unknown.  A statement with a complete result may have a note, too.  It
 * is valid until the next statement.
 */
bool ts_sql_take_cut(struct ts_sql *s, const char **note);

/*
 * The declaration of the i-th table or table-valued function: "CREATE TABLE step(...)"; borrowed until the next call.
 * Arguments of functions are its hidden columns.  Returns NULL after the last one.
 */
const char *ts_sql_schema(struct ts_sql *s, size_t i);

/*
 * Append the i-th declaration for one recording to @out, without a connection, for the prompt's completion.
 * *is_function is set to whether it has arguments.  Returns false after the last one.
 */
bool ts_sql_declaration(size_t i, struct ts_buf *out, bool *is_function);

#endif
