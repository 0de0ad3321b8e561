/* SPDX-License-Identifier: MIT */
/* The rows of a statement as text: CSV, TSV, JSON Lines, or a table for a terminal. */
#ifndef TS_SQL_PRINT_H
#define TS_SQL_PRINT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/fit.h"

enum ts_sql_form {
	TS_SQL_TSV,
	TS_SQL_CSV,
	TS_SQL_JSON,
	TS_SQL_BOX,
};

struct ts_sql_print {
	enum ts_sql_form form;
	uint64_t n_rows;
	/* BOX */
	struct ts_buf waiting; /* cells of rows, each terminated, until the widths are chosen */
	uint64_t n_waiting;
	struct ts_fit_column *columns; /* owned; NULL: memory was exhausted, or no row yet */
	bool is_chosen;        /* their widths are */
	uint32_t fits;         /* places of the terminal; 0: nothing is cut */
	struct ts_buf line;    /* of a terminal */
};

/* @width: BOX is for a terminal of so many places; what does not fit is cut and marked.  0: nothing is cut. */
void ts_sql_print_init(struct ts_sql_print *p, enum ts_sql_form form, uint32_t width);
void ts_sql_print_fini(struct ts_sql_print *p);

/*
 * Print the row at which @stmt is to @out, after a line of the column names if it is the first one.  If memory is
 * exhausted, ts_buf_ok(out) is false.
 */
void ts_sql_print_row(struct ts_sql_print *p, sqlite3_stmt *stmt, struct ts_buf *out);

/* After the last row: what waits; of JSON Lines the end, with whether these are all rows. */
void ts_sql_print_end(struct ts_sql_print *p, sqlite3_stmt *stmt, bool is_complete, struct ts_buf *out);

#endif
