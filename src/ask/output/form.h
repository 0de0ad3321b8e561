/* SPDX-License-Identifier: MIT */
/*
 * The output forms of rows: text for users; TSV, CSV and JSON Lines for programs.
 */
#ifndef TS_ASK_FORM_H
#define TS_ASK_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/ask/row.h"
#include "src/base/buf.h"

struct ts_verb;

enum ts_form_kind {
	TS_FORM_TEXT,
	TS_FORM_TSV,
	TS_FORM_CSV,
	TS_FORM_JSON,
};

/* How an answer ended. */
enum ts_stopped {
	TS_STOPPED_NOT,
	TS_STOPPED_INTERRUPT, /* by ^C */
	TS_STOPPED_PARTIAL,   /* the rest has not been read yet */
};

struct ts_end_facts {
	bool is_complete;
	uint64_t n_rows;     /* rows in the output */
	bool has_total;
	uint64_t total;
	bool is_last;        /* incomplete because of last N; else because of first N */
	enum ts_stopped stopped;
	uint64_t position;   /* the position at which it was stopped */
	unsigned percent;    /* PARTIAL: the part of the trace that has been read */
	const char *note;    /* "" for none */
	bool is_done;        /* the note is the answer */
};

struct ts_form;

/*
 * Returns a printer of the verb's rows, which the caller frees with ts_form_free().
 * Returns NULL if memory is exhausted.
 */
struct ts_form *ts_form_new(enum ts_form_kind kind, const struct ts_verb *verb);
void ts_form_free(struct ts_form *form);

/*
 * Before ts_form_begin(): add a first column `recording` with the text @recording (borrowed).  @is_next: the rows follow
 * those of another recording with the same columns, so that CSV and TSV do not name the columns again.
 */
void ts_form_name_recording(struct ts_form *form, const char *recording, bool is_next);

/* Before ts_form_begin(): format text for a terminal of @width columns, and truncate cells that do not fit.  0: never. */
void ts_form_fit(struct ts_form *form, uint32_t width);

/* Print the text before the rows. */
void ts_form_begin(struct ts_form *form, struct ts_buf *out);

/*
 * Returns the ids of the groups of cells that the form has printed and kept, borrowed from the form, for struct ts_row.
 * Returns NULL if the form keeps no groups: it is the text form, or memory is exhausted.
 */
const uint64_t *ts_form_kept(struct ts_form *form);

/* Print a row.  The text form buffers the first rows to choose the columns. */
void ts_form_row(struct ts_form *form, const struct ts_row *row, struct ts_buf *out);

/* After the last row: print at most @max of the buffered rows.  Returns false if more are buffered. */
bool ts_form_print_waiting(struct ts_form *form, unsigned max, struct ts_buf *out);

/* When no row is buffered: print the end, for JSON to @out, else to @end. */
void ts_form_end(struct ts_form *form, const struct ts_end_facts *facts, struct ts_buf *out,
		 struct ts_buf *end);

#endif
