/* SPDX-License-Identifier: MIT */
/* The tables of a recording as virtual tables, which ask the process that reads it. */
#ifndef TS_SQLITE_TABLE_H
#define TS_SQLITE_TABLE_H

#include "link.h"

/* All tables of @l become tables of @db.  Returns SQLite's result. */
int ts_sqlite_add_tables(sqlite3 *db, struct ts_link *l);

/* The value as the result of a function or a column. */
void ts_sqlite_put_value(sqlite3_context *out, const struct ts_wire_value *v);

#endif
