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
	bool (*is_stopped)(void *user); /* asked while a statement runs: it ends if this is true; NULL: never */
	void *user;
};

struct ts_sql_recording {
	const char *name;   /* what the column `recording` has; not used of one recording alone */
	struct ts_ask *ask;
};

struct ts_sql;

/*
 * A connection to @n recordings, at least one: the array and what it refers to are borrowed and must outlive it.  Of
 * several, each table has a first column `recording`, and each function that looks at a recording a first argument.
 *
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_sql *ts_sql_new(const struct ts_sql_recording *recordings, size_t n, const struct ts_sql_options *options,
			  struct ts_error *err);
void ts_sql_free(struct ts_sql *s);

/* SQLite's connection, borrowed: statements are prepared and stepped with it. */
sqlite3 *ts_sql_db(struct ts_sql *s);

/*
 * The error of the last call to SQLite that failed, as an error of tracestub: TS_EUSAGE for a statement that SQLite or a
 * table does not understand, else what the recording's reader said.
 */
void ts_sql_error(struct ts_sql *s, struct ts_error *err);

/*
 * Since the last call, did a table leave out rows that it could not find, as loops through code that is not known?  Then the
 * statement's result is not complete; *note gets why, "" if that is not said; it is valid until the next statement.
 */
bool ts_sql_take_cut(struct ts_sql *s, const char **note);

/*
 * The declaration of the i-th table or table-valued function: "CREATE TABLE step(...)"; borrowed until the next call.
 * Arguments of functions are its hidden columns.  Returns NULL after the last one.
 */
const char *ts_sql_schema(struct ts_sql *s, size_t i);

/*
 * The same without a recording, as of one alone: what the prompt completes.  Returns false after the last one; @out gets
 * the text, and *is_function whether it has arguments.
 */
bool ts_sql_declaration(size_t i, struct ts_buf *out, bool *is_function);

#endif
