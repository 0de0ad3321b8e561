/* SPDX-License-Identifier: MIT */
/* The tables of a recording as virtual tables, which query the process that reads it. */
#ifndef TS_SQLITE_TABLE_H
#define TS_SQLITE_TABLE_H

#include "link.h"

/* Add all tables of @l to @db.  Returns SQLite's result. */
int ts_sqlite_add_tables(sqlite3 *db, struct ts_link *l);

/* Set the result of a function or a column to the value. */
void ts_sqlite_put_value(sqlite3_context *out, const struct ts_wire_value *v);

#endif
