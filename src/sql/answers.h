/* SPDX-License-Identifier: MIT */
/*
 * Answers to the SQLite extension (src/sqlite), which runs in another process: the messages of wire.h.
 */
#ifndef TS_SQL_ANSWERS_H
#define TS_SQL_ANSWERS_H

#include "sql.h"
#include "src/base/buf.h"

struct ts_sql_answers;

/* @s is borrowed.  Returns NULL if memory is exhausted. */
struct ts_sql_answers *ts_sql_answers_new(struct ts_sql *s);
void ts_sql_answers_free(struct ts_sql_answers *a);

/* Append the first message: the tables and functions. */
void ts_sql_answers_hello(struct ts_sql_answers *a, struct ts_buf *out);

/*
 * Answer the message @request of @len bytes, without its length.  If memory is exhausted, the answer is an error.
 *
 * Returns false if the message is damaged (TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted also for the error.
 */
bool ts_sql_answers_take(struct ts_sql_answers *a, const uint8_t *request, size_t len, struct ts_buf *out, struct ts_error *err);

#endif
