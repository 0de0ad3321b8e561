/* SPDX-License-Identifier: MIT */
/*
 * Answers to SQLite's extension (src/sqlite), which has the tables in another process: the messages of wire.h.
 */
#ifndef TS_SQL_ANSWERS_H
#define TS_SQL_ANSWERS_H

#include "sql.h"
#include "src/base/buf.h"

struct ts_sql_answers;

/* @s is borrowed.  Returns NULL if memory is exhausted. */
struct ts_sql_answers *ts_sql_answers_new(struct ts_sql *s);
void ts_sql_answers_free(struct ts_sql_answers *a);

/* What is said first: which tables and functions there are. */
void ts_sql_answers_hello(struct ts_sql_answers *a, struct ts_buf *out);

/*
 * Answer the message @request of @len bytes, without its length.  An answer that does not fit into memory is one that
 * says so.
 *
 * Returns false if the message is damaged: *err says how.
 */
bool ts_sql_answers_take(struct ts_sql_answers *a, const uint8_t *request, size_t len, struct ts_buf *out, struct ts_error *err);

#endif
