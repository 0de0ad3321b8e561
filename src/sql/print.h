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
	struct ts_buf waiting; /* cells of buffered rows, each terminated, until the widths are chosen */
	uint64_t n_waiting;
	struct ts_fit_column *columns; /* owned; NULL: memory was exhausted, or no row yet */
	bool is_chosen;        /* the widths are chosen */
	uint32_t fits;         /* the width of the terminal; 0: cells are not truncated */
	struct ts_buf line;    /* a line for a terminal */
};

/* @width: the width of the terminal for BOX, to which cells are truncated.  0: cells are not truncated. */
void ts_sql_print_init(struct ts_sql_print *p, enum ts_sql_form form, uint32_t width);
void ts_sql_print_fini(struct ts_sql_print *p);

/*
 * Append the current row of @stmt to @out, after a line of the column names if it is the first row.  If memory is
 * exhausted, ts_buf_ok(out) is false afterwards.
 */
void ts_sql_print_row(struct ts_sql_print *p, sqlite3_stmt *stmt, struct ts_buf *out);

/* After the last row: append the buffered rows; for JSON Lines also the end, with @is_complete, and @note unless it is "". */
void ts_sql_print_end(struct ts_sql_print *p, sqlite3_stmt *stmt, bool is_complete, const char *note, struct ts_buf *out);

#endif
