/* SPDX-License-Identifier: MIT */
#include "form.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "printed.h"
#include "src/base/text/csv.h"
#include "src/base/text/fit.h"
#include "src/base/text/json_text.h"
#include "src/base/text/utf8.h"
#include "src/ask/verb.h"

/* The number of rows of text by which columns and their widths are chosen. */
#define MAX_WAITING 65536u

/* After that each row prints this number of the waiting rows: to print all at once would take some 100 ms. */
#define ROWS_A_ROW 4u

/* A wider cell does not make its column wider. */
#define MAX_WIDTH 40u

/* On a terminal a value of 64 bits is shown whole. */
#define LEAST_VALUE 18u

struct ts_form {
	enum ts_form_kind kind;
	const struct ts_verb *verb;
	const char *recording; /* borrowed; what each row begins with; NULL: nothing */
	bool is_next;          /* after the rows of another recording */
	/* JSON */
	struct ts_printed *groups; /* owned; TSV, CSV and JSON; NULL: nothing is kept */
	struct ts_buf keys;                    /* before the cell of each column: {"position": and ,"end": */
	size_t key_ends[TS_MAX_COLUMNS];
	/* TEXT */
	struct ts_buf waiting;  /* cells, each terminated; of rows that were printed, too, until none waits */
	size_t printed;         /* where in it the rows begin that wait */
	uint64_t n_first;       /* rows by which the columns are chosen */
	bool is_chosen;
	bool has_cells[TS_MAX_COLUMNS];
	struct ts_fit_column columns[TS_MAX_COLUMNS + 2]; /* those of the verb, the row's number, the recording */
	uint32_t fits;          /* places of the terminal; 0: nothing is cut */
	struct ts_buf line;     /* of a terminal */
	uint64_t n_rows;        /* written */
};

static bool make_keys(struct ts_form *form)
{
	for (unsigned i = 0; i < form->verb->n_columns; i++) {
		ts_buf_puts(&form->keys, i ? ",\"" : "{\"");
		ts_buf_puts(&form->keys, form->verb->columns[i].name);
		ts_buf_puts(&form->keys, "\":");
		form->key_ends[i] = form->keys.len;
	}
	return ts_buf_ok(&form->keys);
}

struct ts_form *ts_form_new(enum ts_form_kind kind, const struct ts_verb *verb)
{
	struct ts_form *form = calloc(1, sizeof(*form));

	if (!form)
		return NULL;
	form->kind = kind;
	form->verb = verb;
	ts_buf_init(&form->waiting);
	ts_buf_init(&form->keys);
	ts_buf_init(&form->line);
	if (kind != TS_FORM_JSON || make_keys(form))
		return form;
	ts_form_free(form);
	return NULL;
}

void ts_form_free(struct ts_form *form)
{
	if (!form)
		return;
	ts_buf_fini(&form->waiting);
	ts_buf_fini(&form->keys);
	ts_buf_fini(&form->line);
	ts_printed_free(form->groups);
	free(form);
}

/* ------------------------------------------------------------------------------------------------- cells */

static void put_share(struct ts_buf *out, double share)
{
	ts_buf_printf(out, "%.9g", share);
}

/* The length of the text without the part that is for people only. */
static size_t len_without_aside(const char *text)
{
	return (size_t)(strchrnul(text, TS_ROW_ASIDE) - text);
}

static void put_json_text(struct ts_buf *out, const char *text)
{
	ts_json_put_text(out, text, len_without_aside(text));
}

static void put_json_cell(struct ts_buf *out, const struct ts_row *row, unsigned i)
{
	const struct ts_cell *c = &row->cells[i];
	const char *text = ts_row_get(row, i);

	switch (c->kind) {
	case TS_CELL_NULL:
	case TS_CELL_UNKNOWN:
		ts_buf_puts(out, "null");
		break;
	case TS_CELL_NUMBER:
		ts_put_decimal(out, c->number);
		break;
	case TS_CELL_ADDR:
		ts_buf_putc(out, '"');
		ts_put_hex(out, c->number);
		ts_buf_putc(out, '"');
		break;
	case TS_CELL_SHARE:
		put_share(out, c->share);
		break;
	case TS_CELL_TEXT:
		put_json_text(out, text);
		break;
	case TS_CELL_LIST:
		ts_buf_putc(out, '[');
		for (uint64_t k = 0; k < c->number; k++, text += strlen(text) + 1) {
			if (k)
				ts_buf_putc(out, ',');
			if (*text)
				put_json_text(out, text);
			else
				ts_buf_puts(out, "null");
		}
		ts_buf_putc(out, ']');
		break;
	}
}

/* How many characters at @p need no inspection: they are ASCII that is shown as it is, and neither '\\' nor a blank. */
static size_t plain_len(const char *p)
{
	size_t n = 0;

	while ((uint8_t)(p[n] - '!') <= '~' - '!' && p[n] != '\\')
		n++;
	return n;
}

/* Control characters escaped; in text, blanks do not follow each other, since two of them end a cell. */
static void put_plain_text(struct ts_buf *out, const char *text, bool is_tsv, bool is_last)
{
	const char *end = is_tsv ? text + len_without_aside(text) : NULL;

	for (const char *p = text; *p && p != end;) {
		size_t n = is_tsv ? ts_utf8_plain_len(p, (size_t)(end - p)) : plain_len(p);

		if (n) {
			ts_buf_put(out, p, n);
			p += n;
			continue;
		}
		n = ts_utf8_shown_len(p, strnlen(p, 4));
		if (*p == TS_ROW_ASIDE)
			ts_buf_putc(out, ' ');
		else if (*p == '\t' || *p == '\n')
			ts_buf_puts(out, *p == '\t' ? "\\t" : "\\n");
		else if (*p == '\\' && is_tsv)
			ts_buf_puts(out, "\\\\");
		else if (*p == ' ' && !is_tsv && !is_last && (p == text || p[-1] == ' ' || !p[1]))
			ts_buf_puts(out, "\\x20");
		else if (n)
			ts_buf_put(out, p, n);
		else
			ts_buf_printf(out, "\\x%02x", (uint8_t)*p);
		p += n ? n : 1;
	}
}

/* Most texts are printed as they are. */
static void put_tsv_text(struct ts_buf *out, const char *text, size_t len)
{
	if (ts_utf8_plain_len(text, len) == len)
		ts_buf_put(out, text, len);
	else
		put_plain_text(out, text, true, false);
}

static void put_plain_cell(struct ts_buf *out, const struct ts_row *row, unsigned i, bool is_tsv,
			   bool is_last)
{
	const struct ts_cell *c = &row->cells[i];
	const char *text = ts_row_get(row, i);
	size_t len;

	switch (c->kind) {
	case TS_CELL_NULL:
		break;
	case TS_CELL_UNKNOWN:
		if (!is_tsv)
			ts_put_value(out, NULL, NULL, c->number, false, false);
		break;
	case TS_CELL_NUMBER:
		ts_put_decimal(out, c->number);
		break;
	case TS_CELL_ADDR:
		ts_put_hex(out, c->number);
		break;
	case TS_CELL_SHARE:
		put_share(out, c->share);
		break;
	case TS_CELL_TEXT:
		if (is_tsv)
			put_tsv_text(out, text, strlen(text));
		else
			put_plain_text(out, text, false, is_last);
		break;
	case TS_CELL_LIST:
		for (uint64_t k = 0; k < c->number; k++, text += len + 1) {
			len = strlen(text);
			if (k)
				ts_buf_put(out, ", ", 2);
			if (is_tsv)
				put_tsv_text(out, text, len);
			else
				put_plain_text(out, len ? text : TS_UNKNOWN_TEXT, false, is_last);
		}
		break;
	}
}

/* The name of the recording, in JSON as the first member of an object, whose other members follow. */
static void put_json_recording(const struct ts_form *form, struct ts_buf *out)
{
	ts_buf_puts(out, "{\"recording\":");
	put_json_text(out, form->recording);
	ts_buf_putc(out, ',');
}

/* -------------------------------------------------------------------------------------------------- text */

static struct ts_fit_column *number_column(struct ts_form *form)
{
	return &form->columns[form->verb->n_columns];
}

static struct ts_fit_column *recording_column(struct ts_form *form)
{
	return &form->columns[form->verb->n_columns + 1];
}

/* Append a cell and blanks up to the column's width; the last cell of a line needs none. */
static void put_padded(const struct ts_form *form, struct ts_buf *out, const char *cell,
		       const struct ts_fit_column *column, bool is_head, bool is_last)
{
	uint32_t len = ts_fit_width_of(cell);

	if (form->fits && column->may_be_cut && len > column->width) {
		ts_fit_put(out, cell, column->width, column->keeps_end && !is_head);
		len = column->width;
	} else {
		ts_buf_puts(out, cell);
	}
	for (uint32_t i = len; !is_last && (i < column->width + 2 || i < len + 2); i++)
		ts_buf_putc(out, ' ');
}

static unsigned last_column(const struct ts_form *form)
{
	unsigned last = form->verb->n_columns;

	while (last && !form->has_cells[last - 1])
		last--;
	return last;
}

static const char recording_title[] = "recording";

/* The column `recording`, which has the same text in each line but the first. */
static void put_recording(struct ts_form *form, bool is_head, bool is_last, struct ts_buf *out)
{
	struct ts_buf name;

	ts_buf_init(&name);
	put_plain_text(&name, form->recording, false, is_last);
	put_padded(form, out, is_head ? recording_title : ts_buf_text(&name), recording_column(form), is_head, is_last);
	ts_buf_fini(&name);
}

static void put_cells(struct ts_form *form, const char *number, const char **cells, struct ts_buf *out)
{
	bool is_head = *number == '#';
	unsigned last = last_column(form);

	put_padded(form, out, number, number_column(form), is_head, !last && !form->recording);
	if (form->recording)
		put_recording(form, is_head, !last, out);
	for (unsigned i = 0; i < last; i++) {
		if (form->has_cells[i])
			put_padded(form, out, *cells[i] ? cells[i] : "-", &form->columns[i], is_head, i + 1 == last);
	}
}

static void put_line(struct ts_form *form, const char *number, const char **cells, struct ts_buf *out)
{
	if (form->fits) {
		ts_buf_reset(&form->line);
		put_cells(form, number, cells, &form->line);
		ts_fit_put(out, ts_buf_text(&form->line), form->fits, false);
		out->is_failed |= !ts_buf_ok(&form->line);
	} else {
		put_cells(form, number, cells, out);
	}
	ts_buf_putc(out, '\n');
}

/* Print at most @max of the rows that wait.  Returns false if more do. */
static bool put_waiting(struct ts_form *form, unsigned max, struct ts_buf *out)
{
	const char *cells[TS_MAX_COLUMNS], *p = ts_buf_text(&form->waiting) + form->printed;
	char number[24];

	for (; form->printed < form->waiting.len && max; max--) {
		const char *row = p;

		for (unsigned i = 0; i < form->verb->n_columns; i++, p += strlen(p) + 1)
			cells[i] = p;
		snprintf(number, sizeof(number), "%" PRIu64, ++form->n_rows);
		put_line(form, number, cells, out);
		form->printed += (size_t)(p - row);
	}
	if (form->printed < form->waiting.len)
		return false;
	ts_buf_reset(&form->waiting);
	form->printed = 0;
	return true;
}

static void widen(const struct ts_form *form, struct ts_fit_column *column, uint32_t width)
{
	uint32_t max = form->fits ? form->fits : MAX_WIDTH;

	if (form->fits && width > max)
		width = max;
	if (width > column->width && width <= max)
		column->width = width;
}

/* The columns are as wide as the cells of the first rows, of which one begins at @start of those that wait. */
static void note_widths(struct ts_form *form, size_t start)
{
	const char *p = ts_buf_text(&form->waiting) + start;

	for (unsigned i = 0; i < form->verb->n_columns; i++, p += strlen(p) + 1) {
		form->has_cells[i] |= *p != 0;
		widen(form, &form->columns[i], ts_fit_width_of(p));
	}
	form->n_first++;
}

static bool is_file_name(const char *column)
{
	return !strcmp(column, "file") || !strcmp(column, "module");
}

/* Those that are shown share the places of the terminal. */
static void fit_columns(struct ts_form *form)
{
	struct ts_fit_column shown[TS_MAX_COLUMNS + 2];
	unsigned which[TS_MAX_COLUMNS + 2], n = 0, n_verb = form->verb->n_columns;

	for (unsigned i = 0; i < n_verb + 2; i++) {
		if (i < n_verb ? form->has_cells[i] : i == n_verb || form->recording) {
			which[n] = i;
			shown[n++] = form->columns[i];
		}
	}
	ts_fit_columns(shown, n, form->fits);
	while (n--)
		form->columns[which[n]] = shown[n];
}

/* Choose columns by the first rows, and print their names.  @is_end: no rows follow. */
static void choose_columns(struct ts_form *form, bool is_end, struct ts_buf *out)
{
	unsigned n = form->verb->n_columns;
	const char *names[TS_MAX_COLUMNS];
	char number[24];

	form->is_chosen = true;
	for (unsigned i = 0; i < n; i++) {
		enum ts_column_type type = form->verb->columns[i].type;

		names[i] = form->verb->columns[i].name;
		form->has_cells[i] |= form->verb->columns[i].is_kept || !is_end;
		form->columns[i].may_be_cut = type != TS_COLUMN_NUMBER && type != TS_COLUMN_ADDR && type != TS_COLUMN_SHARE;
		form->columns[i].least = type == TS_COLUMN_VALUE ? LEAST_VALUE : 0;
		form->columns[i].keeps_end = is_file_name(names[i]);
		widen(form, &form->columns[i], (uint32_t)strlen(names[i]));
	}
	widen(form, number_column(form), (uint32_t)snprintf(number, sizeof(number), "%" PRIu64, form->n_first));
	if (form->fits)
		fit_columns(form);
	put_line(form, "#", names, out);
}

static void text_row(struct ts_form *form, const struct ts_row *row, struct ts_buf *out)
{
	unsigned n = form->verb->n_columns;
	size_t start = form->waiting.len;

	for (unsigned i = 0; i < n; i++) {
		put_plain_cell(&form->waiting, row, i, false, i + 1 == n);
		ts_buf_putc(&form->waiting, 0);
	}
	if (!ts_buf_ok(&form->waiting)) { /* there are fewer cells than rows */
		out->is_failed = true;
		return;
	}
	if (!form->is_chosen)
		note_widths(form, start);
	if (form->n_first == MAX_WAITING && !form->is_chosen)
		choose_columns(form, false, out);
	if (form->is_chosen)
		put_waiting(form, ROWS_A_ROW, out);
}

/*
 * The row of when, goto, ...: position positions thread pc, and after the columns the thread as gdb has it.
 */
static void sentence(const struct ts_form *form, const struct ts_row *row, struct ts_buf *out)
{
	if (form->recording) {
		put_plain_text(out, form->recording, false, false);
		ts_buf_puts(out, ": ");
	}
	ts_buf_position(out, row->cells[0].number, row->cells[1].number);
	ts_buf_printf(out, ", thread %s, pc ", ts_row_get(row, form->verb->n_columns));
	if (row->cells[3].kind == TS_CELL_ADDR)
		ts_buf_printf(out, "0x%" PRIx64 "\n", row->cells[3].number);
	else
		ts_buf_puts(out, "unknown\n");
}

/* -------------------------------------------------------------------------------------------------- rows */

void ts_form_name_recording(struct ts_form *form, const char *recording, bool is_next)
{
	struct ts_buf name;

	form->recording = recording;
	form->is_next = is_next;
	ts_buf_init(&name);
	put_plain_text(&name, recording, false, false);
	*recording_column(form) = (struct ts_fit_column){ .may_be_cut = true, .keeps_end = true };
	recording_column(form)->width = ts_fit_width_of(ts_buf_text(&name));
	if (recording_column(form)->width < strlen(recording_title))
		recording_column(form)->width = (uint32_t)strlen(recording_title);
	ts_buf_fini(&name);
}

void ts_form_fit(struct ts_form *form, uint32_t width)
{
	form->fits = width;
}

static char separator(const struct ts_form *form)
{
	return form->kind == TS_FORM_CSV ? ',' : '\t';
}

void ts_form_begin(struct ts_form *form, struct ts_buf *out)
{
	if (form->kind == TS_FORM_TEXT && form->is_next)
		ts_buf_putc(out, '\n');
	if ((form->kind != TS_FORM_TSV && form->kind != TS_FORM_CSV) || form->is_next)
		return;
	if (form->recording)
		ts_buf_printf(out, "recording%c", separator(form));
	for (unsigned i = 0; i < form->verb->n_columns; i++) {
		if (i)
			ts_buf_putc(out, separator(form));
		ts_buf_puts(out, form->verb->columns[i].name);
	}
	ts_buf_puts(out, form->kind == TS_FORM_CSV ? TS_CSV_END : "\n");
}

/* The cell as TSV has it, but with quotes instead of escapes. */
static void put_csv_cell(struct ts_form *form, const struct ts_row *row, unsigned i, struct ts_buf *out)
{
	const struct ts_cell *c = &row->cells[i];
	const char *text = ts_row_get(row, i);

	if (c->kind == TS_CELL_TEXT) {
		ts_csv_put(out, text, len_without_aside(text));
		return;
	}
	ts_buf_reset(&form->waiting);
	if (c->kind != TS_CELL_LIST)
		put_plain_cell(&form->waiting, row, i, true, false);
	for (uint64_t k = 0; c->kind == TS_CELL_LIST && k < c->number; k++, text += strlen(text) + 1) {
		ts_buf_puts(&form->waiting, k ? ", " : "");
		ts_buf_put(&form->waiting, text, len_without_aside(text));
	}
	out->is_failed |= !ts_buf_ok(&form->waiting);
	ts_csv_put(out, ts_buf_text(&form->waiting), form->waiting.len);
}

/* A cell with what comes before it. */
typedef void put_cell_fn(struct ts_form *form, const struct ts_row *row, unsigned i, struct ts_buf *out);

static void put_next_csv_cell(struct ts_form *form, const struct ts_row *row, unsigned i, struct ts_buf *out)
{
	if (i)
		ts_buf_putc(out, ',');
	put_csv_cell(form, row, i, out);
}

static void put_next_tsv_cell(struct ts_form *form, const struct ts_row *row, unsigned i, struct ts_buf *out)
{
	(void)form;
	if (i)
		ts_buf_putc(out, '\t');
	put_plain_cell(out, row, i, true, false);
}

/* All cells; those of the row's group are printed again if they were kept. */
static void put_all_cells(struct ts_form *form, const struct ts_row *row, put_cell_fn *put_cell, struct ts_buf *out)
{
	const struct ts_row_group *g = &row->group;
	unsigned end = g->first + g->n;

	for (unsigned i = 0; i < form->verb->n_columns;) {
		size_t start = out->len;
		bool is_group = g->id && i == g->first;

		if (is_group && ts_printed_put(form->groups, g->id, out)) {
			i = end;
			continue;
		}
		do
			put_cell(form, row, i++, out);
		while (is_group && i < end);
		if (is_group && ts_buf_ok(out))
			ts_printed_keep(form->groups, g->id, out->data + start, out->len - start);
	}
}

static void csv_row(struct ts_form *form, const struct ts_row *row, struct ts_buf *out)
{
	if (form->recording) {
		ts_csv_put(out, form->recording, strlen(form->recording));
		ts_buf_putc(out, ',');
	}
	put_all_cells(form, row, put_next_csv_cell, out);
	ts_buf_puts(out, TS_CSV_END);
	ts_buf_reset(&form->waiting);
}

static void tsv_row(struct ts_form *form, const struct ts_row *row, struct ts_buf *out)
{
	if (form->recording) {
		put_plain_text(out, form->recording, true, false);
		ts_buf_putc(out, '\t');
	}
	put_all_cells(form, row, put_next_tsv_cell, out);
	ts_buf_putc(out, '\n');
}

/* After all columns: NAME_bytes of those that are values. */
static void put_json_bytes(const struct ts_form *form, const struct ts_row *row, struct ts_buf *out)
{
	for (unsigned i = 0; i < form->verb->n_columns; i++) {
		bool has_bytes = ts_row_has_bytes(row, i);

		if (form->verb->columns[i].type != TS_COLUMN_VALUE)
			continue;
		ts_buf_puts(out, ",\"");
		ts_buf_puts(out, form->verb->columns[i].name);
		ts_buf_puts(out, has_bytes ? "_bytes\":\"" : "_bytes\":null");
		if (has_bytes) {
			ts_row_put_bytes(row, i, out);
			ts_buf_putc(out, '"');
		}
	}
}

static void put_next_json_cell(struct ts_form *form, const struct ts_row *row, unsigned i, struct ts_buf *out)
{
	/* the brace of the first key is before the recording */
	size_t at = i ? form->key_ends[i - 1] : form->recording != NULL;

	ts_buf_put(out, form->keys.data + at, form->key_ends[i] - at);
	put_json_cell(out, row, i);
}

static void json_row(struct ts_form *form, const struct ts_row *row, struct ts_buf *out)
{
	if (form->recording)
		put_json_recording(form, out);
	put_all_cells(form, row, put_next_json_cell, out);
	put_json_bytes(form, row, out);
	ts_buf_puts(out, "}\n");
}

const uint64_t *ts_form_kept(struct ts_form *form)
{
	if (!form->groups && form->kind != TS_FORM_TEXT)
		form->groups = ts_printed_new();
	return ts_printed_ids(form->groups);
}

void ts_form_row(struct ts_form *form, const struct ts_row *row, struct ts_buf *out)
{
	if (form->kind == TS_FORM_JSON)
		json_row(form, row, out);
	else if (form->kind == TS_FORM_TSV)
		tsv_row(form, row, out);
	else if (form->kind == TS_FORM_CSV)
		csv_row(form, row, out);
	else if (form->verb->is_sentence)
		sentence(form, row, out);
	else
		text_row(form, row, out);
}

/* --------------------------------------------------------------------------------------------------- end */

static void json_end(const struct ts_form *form, const struct ts_end_facts *f, struct ts_buf *out)
{
	if (form->recording)
		put_json_recording(form, out);
	else
		ts_buf_putc(out, '{');
	ts_buf_printf(out, "\"complete\":%s,\"rows\":%" PRIu64 ",\"total\":", f->is_complete ? "true" : "false",
		      f->n_rows);
	if (f->has_total)
		ts_buf_printf(out, "%" PRIu64, f->total);
	else
		ts_buf_puts(out, "null");
	if (f->stopped != TS_STOPPED_NOT)
		ts_buf_printf(out, ",\"stopped\":\"%s\",\"position\":%" PRIu64,
			      f->stopped == TS_STOPPED_INTERRUPT ? "interrupt" : "partial", f->position);
	if (*f->note) {
		ts_buf_puts(out, ",\"note\":");
		put_json_text(out, f->note);
	}
	ts_buf_puts(out, "}\n");
}

static void put_count(struct ts_buf *out, uint64_t n)
{
	if (n)
		ts_put_grouped(out, n);
	else
		ts_buf_puts(out, "no");
	ts_buf_puts(out, n == 1 ? " row" : " rows");
}

static void text_end(const struct ts_form *form, const struct ts_end_facts *f, struct ts_buf *out)
{
	if (form->recording) {
		put_plain_text(out, form->recording, false, false);
		ts_buf_puts(out, ": ");
	}
	if (*f->note)
		ts_buf_printf(out, "%s\n", f->note);
	if (f->is_done)
		return;
	if (f->stopped == TS_STOPPED_INTERRUPT) {
		ts_buf_puts(out, "stopped by ^C at position ");
		ts_put_grouped(out, f->position);
		ts_buf_puts(out, ": ");
	} else if (f->stopped == TS_STOPPED_PARTIAL) {
		ts_buf_printf(out, "the recording has been read up to %u %%: ", f->percent);
	}
	if (f->stopped != TS_STOPPED_NOT) {
		put_count(out, f->n_rows);
		ts_buf_puts(out, " so far\n");
		return;
	}
	if (f->is_complete || (f->has_total && f->total == f->n_rows)) {
		put_count(out, f->n_rows);
		if (!f->is_complete)
			ts_buf_puts(out, "; there may be more");
	} else {
		ts_buf_puts(out, f->is_last ? "last " : "first ");
		put_count(out, f->n_rows);
		ts_buf_puts(out, f->has_total ? " of " : "; there are more");
		if (f->has_total)
			ts_put_grouped(out, f->total);
	}
	ts_buf_putc(out, '\n');
}

bool ts_form_print_waiting(struct ts_form *form, unsigned max, struct ts_buf *out)
{
	if (!ts_buf_ok(&form->waiting)) {
		out->is_failed = true;
		return true;
	}
	if (form->n_first && !form->is_chosen)
		choose_columns(form, true, out);
	return put_waiting(form, max, out);
}

void ts_form_end(struct ts_form *form, const struct ts_end_facts *facts, struct ts_buf *out,
		 struct ts_buf *end)
{
	if (form->kind == TS_FORM_JSON)
		json_end(form, facts, out);
	else if (!form->verb->is_sentence || !facts->n_rows)
		text_end(form, facts, end);
	else if (*facts->note)
		ts_buf_printf(end, "%s\n", facts->note);
}
