/* SPDX-License-Identifier: MIT */
#include "print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/row.h"
#include "src/base/csv.h"
#include "src/base/json_text.h"
#include "src/base/utf8.h"

/* The widths of a table's columns are those of this many rows; a wider cell moves the rest of its line. */
#define MAX_WAITING 1000u

/* A wider cell does not make its column wider. */
#define MAX_WIDTH 60u

void ts_sql_print_init(struct ts_sql_print *p, enum ts_sql_form form, uint32_t width)
{
	*p = (struct ts_sql_print){ .form = form, .fits = width };
	ts_buf_init(&p->waiting);
	ts_buf_init(&p->line);
}

void ts_sql_print_fini(struct ts_sql_print *p)
{
	ts_buf_fini(&p->waiting);
	ts_buf_fini(&p->line);
	free(p->columns);
}

/* --------------------------------------------------------------------------------------------------- cells */

static void put_blob(sqlite3_stmt *stmt, int i, struct ts_buf *out)
{
	ts_buf_hex(out, sqlite3_column_blob(stmt, i), (size_t)sqlite3_column_bytes(stmt, i));
}

static void put_integer(int64_t n, struct ts_buf *out)
{
	if (n < 0)
		ts_buf_putc(out, '-');
	ts_put_decimal(out, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

/* Text for a terminal or a line of TSV: control characters and what is no UTF-8 as escapes. */
static void put_escaped(const char *text, size_t len, struct ts_buf *out)
{
	for (size_t at = 0, n; at < len; at += n ? n : 1) {
		uint32_t c = 0;

		n = ts_utf8_plain_len(text + at, len - at);
		if (n) {
			ts_buf_put(out, text + at, n);
			continue;
		}
		n = ts_utf8_take(text + at, len - at < 4 ? len - at : 4, &c);
		if (n && !ts_utf8_is_control(c) && c != '\\')
			ts_buf_put(out, text + at, n);
		else if (n && (c == '\t' || c == '\n' || c == '\\'))
			ts_buf_printf(out, "\\%c", c == '\t' ? 't' : c == '\n' ? 'n' : '\\');
		else
			for (size_t i = 0; i < (n ? n : 1); i++)
				ts_buf_printf(out, "\\x%02x", (uint8_t)text[at + i]);
	}
}

/* Numbers and texts as they are; NULL is empty. */
static void put_cell(sqlite3_stmt *stmt, int i, struct ts_buf *out)
{
	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_NULL: return;
	case SQLITE_BLOB: put_blob(stmt, i, out); return;
	case SQLITE_INTEGER: put_integer(sqlite3_column_int64(stmt, i), out); return;
	default:
		put_escaped((const char *)sqlite3_column_text(stmt, i), (size_t)sqlite3_column_bytes(stmt, i), out);
		return;
	}
}

static void put_json_cell(sqlite3_stmt *stmt, int i, struct ts_buf *out)
{
	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_NULL: ts_buf_puts(out, "null"); return;
	case SQLITE_INTEGER: put_integer(sqlite3_column_int64(stmt, i), out); return;
	case SQLITE_FLOAT: ts_buf_printf(out, "%.17g", sqlite3_column_double(stmt, i)); return;
	case SQLITE_BLOB:
		ts_buf_putc(out, '"');
		put_blob(stmt, i, out);
		ts_buf_putc(out, '"');
		return;
	default:
		ts_json_put_text(out, (const char *)sqlite3_column_text(stmt, i), (size_t)sqlite3_column_bytes(stmt, i));
		return;
	}
}

/* ---------------------------------------------------------------------------------------------------- rows */

static void put_json_row(sqlite3_stmt *stmt, struct ts_buf *out)
{
	for (int i = 0; i < sqlite3_column_count(stmt); i++) {
		const char *name = sqlite3_column_name(stmt, i);

		ts_buf_putc(out, i ? ',' : '{');
		ts_json_put_text(out, name ? name : "", name ? strlen(name) : 0);
		ts_buf_putc(out, ':');
		put_json_cell(stmt, i, out);
	}
	ts_buf_puts(out, "}\n");
}

static void put_csv_cell(sqlite3_stmt *stmt, int i, struct ts_buf *out)
{
	int type = sqlite3_column_type(stmt, i);

	if (type == SQLITE_BLOB)
		put_blob(stmt, i, out);
	else if (type == SQLITE_INTEGER)
		put_integer(sqlite3_column_int64(stmt, i), out);
	else if (type != SQLITE_NULL)
		ts_csv_put(out, (const char *)sqlite3_column_text(stmt, i), (size_t)sqlite3_column_bytes(stmt, i));
}

/* A line of TSV or CSV: the names of the columns, or the cells. */
static void put_line(const struct ts_sql_print *p, sqlite3_stmt *stmt, bool is_names, struct ts_buf *out)
{
	for (int i = 0, n = sqlite3_column_count(stmt); i < n; i++) {
		const char *name = is_names ? sqlite3_column_name(stmt, i) : NULL;

		if (i)
			ts_buf_putc(out, p->form == TS_SQL_CSV ? ',' : '\t');
		if (is_names && p->form == TS_SQL_CSV)
			ts_csv_put(out, name ? name : "", name ? strlen(name) : 0);
		else if (is_names)
			put_escaped(name ? name : "", name ? strlen(name) : 0, out);
		else if (p->form == TS_SQL_CSV)
			put_csv_cell(stmt, i, out);
		else
			put_cell(stmt, i, out);
	}
	ts_buf_puts(out, p->form == TS_SQL_CSV ? TS_CSV_END : "\n");
}

/* ----------------------------------------------------------------------------------------------------- box */

static void make_columns(struct ts_sql_print *p, sqlite3_stmt *stmt)
{
	int n = sqlite3_column_count(stmt);

	p->columns = calloc((size_t)n + 1, sizeof(*p->columns));
	for (int i = 0; p->columns && i < n; i++) {
		const char *name = sqlite3_column_name(stmt, i);

		p->columns[i].keeps_end = name && (!strcmp(name, "file") || !strcmp(name, "module") || !strcmp(name, "recording"));
	}
}

static void keep_names(struct ts_sql_print *p, sqlite3_stmt *stmt)
{
	make_columns(p, stmt);
	for (int i = 0; i < sqlite3_column_count(stmt); i++) {
		const char *name = sqlite3_column_name(stmt, i);

		put_escaped(name ? name : "", name ? strlen(name) : 0, &p->waiting);
		ts_buf_putc(&p->waiting, 0);
	}
	p->n_waiting++;
}

/* Put the cells of a row to those that wait. */
static void keep(struct ts_sql_print *p, sqlite3_stmt *stmt)
{
	for (int i = 0; i < sqlite3_column_count(stmt); i++) {
		int type = sqlite3_column_type(stmt, i);

		if (type == SQLITE_NULL)
			ts_buf_putc(&p->waiting, '-');
		else
			put_cell(stmt, i, &p->waiting);
		ts_buf_putc(&p->waiting, 0);
		if (p->columns && !p->is_chosen)
			p->columns[i].may_be_cut |= type == SQLITE_TEXT || type == SQLITE_BLOB;
	}
	p->n_waiting++;
}

static void choose_widths(struct ts_sql_print *p, int n)
{
	const char *cell = (const char *)p->waiting.data;
	uint32_t max = p->fits ? p->fits : MAX_WIDTH;

	for (uint64_t row = 0; p->columns && row < p->n_waiting; row++) {
		for (int i = 0; i < n; i++, cell += strlen(cell) + 1) {
			uint32_t width = ts_fit_width_of(cell);

			width = width < max ? width : max;
			if (width > p->columns[i].width)
				p->columns[i].width = width;
		}
	}
	if (p->columns && p->fits)
		ts_fit_columns(p->columns, (size_t)n, p->fits);
	p->is_chosen = true;
}

static void put_box_cell(const struct ts_sql_print *p, const char *cell, const struct ts_fit_column *column, bool is_head,
			 bool is_last, struct ts_buf *out)
{
	uint32_t width = ts_fit_width_of(cell);

	if (p->fits && column->may_be_cut && width > column->width) {
		ts_fit_put(out, cell, column->width, column->keeps_end && !is_head);
		width = column->width;
	} else {
		ts_buf_puts(out, cell);
	}
	for (uint32_t w = width; !is_last && (w < column->width + 2 || w < width + 2); w++)
		ts_buf_putc(out, ' ');
}

static void put_waiting(struct ts_sql_print *p, sqlite3_stmt *stmt, struct ts_buf *out)
{
	struct ts_buf *to = p->fits ? &p->line : out;
	const char *cell = (const char *)p->waiting.data;
	bool is_begun = !p->is_chosen;
	int n = sqlite3_column_count(stmt);

	if (!ts_buf_ok(&p->waiting))
		return;
	if (!p->is_chosen && p->n_waiting)
		choose_widths(p, n);
	for (uint64_t row = 0; p->columns && row < p->n_waiting; row++) {
		ts_buf_reset(&p->line);
		for (int i = 0; i < n; i++, cell += strlen(cell) + 1)
			put_box_cell(p, cell, &p->columns[i], is_begun && !row, i + 1 == n, to);
		if (p->fits)
			ts_fit_put(out, ts_buf_text(&p->line), p->fits, false);
		ts_buf_putc(out, '\n');
	}
	ts_buf_reset(&p->waiting);
	p->n_waiting = 0;
}

void ts_sql_print_row(struct ts_sql_print *p, sqlite3_stmt *stmt, struct ts_buf *out)
{
	bool is_first = !p->n_rows++;

	if (p->form == TS_SQL_JSON) {
		put_json_row(stmt, out);
		return;
	}
	if (p->form != TS_SQL_BOX) {
		if (is_first)
			put_line(p, stmt, true, out);
		put_line(p, stmt, false, out);
		return;
	}
	if (is_first)
		keep_names(p, stmt);
	keep(p, stmt);
	if (p->is_chosen || p->n_waiting >= MAX_WAITING)
		put_waiting(p, stmt, out);
}

void ts_sql_print_end(struct ts_sql_print *p, sqlite3_stmt *stmt, bool is_complete, const char *note, struct ts_buf *out)
{
	if (p->form == TS_SQL_BOX)
		put_waiting(p, stmt, out);
	if (p->form == TS_SQL_JSON && is_complete)
		ts_buf_printf(out, "{\"complete\":true,\"rows\":%" PRIu64 ",\"total\":%" PRIu64, p->n_rows, p->n_rows);
	else if (p->form == TS_SQL_JSON)
		ts_buf_printf(out, "{\"complete\":false,\"rows\":%" PRIu64 ",\"total\":null", p->n_rows);
	if (p->form == TS_SQL_JSON && *note) {
		ts_buf_puts(out, ",\"note\":");
		ts_json_put_text(out, note, strlen(note));
	}
	if (p->form == TS_SQL_JSON)
		ts_buf_puts(out, "}\n");
	p->n_rows = 0;
	free(p->columns);
	p->columns = NULL;
	p->is_chosen = false;
}
