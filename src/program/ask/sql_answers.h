/* SPDX-License-Identifier: MIT */
/* sql --for-sqlite: the process that reads a recording for SQLite's extension (src/sqlite). */
#ifndef TS_SQL_ANSWERS_PROGRAM_H
#define TS_SQL_ANSWERS_PROGRAM_H

#include "src/sql/sql.h"

/*
 * Answer the messages from the standard input, until its end.
 *
 * Returns false if a message is damaged or cannot be answered.
 */
bool ts_answer_sqlite(struct ts_sql *sql, struct ts_error *err);

#endif
