/* SPDX-License-Identifier: MIT */
#include "answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/grammar/anchors.h"
#include "src/ask/grammar/machine_names.h"
#include "kept.h"
#include "src/ask/grammar/question.h"
#include "src/base/collections/vec.h"

/* Rows that take as long as a chunk that is decoded. */
#define ROWS_A_CHUNK 16u

/* The number of rows that a slice prints after the search has ended: about a millisecond. */
#define ROWS_A_SLICE 256u

struct ts_answer {
	struct ts_ask *ask;        /* borrowed */
	char *text;                /* owned; the question, into which qn points */
	struct ts_question qn;
	struct ts_anchors anchors;
	struct ts_form *form;      /* owned */
	enum ts_form_kind kind;
	struct ts_rows *rows;      /* owned; NULL: the places of the question have not been found yet */
	bool is_reverse;           /* the cursor goes from the end, for last N */
	bool is_begun;
	struct ts_row row;
	struct ts_kept kept;       /* of last N */
	uint64_t n_looked;         /* rows that the cursor gave */
	struct ts_machine_rows machine; /* of them, those of a process or ring are wanted */
	uint64_t n_found;          /* those of the process and ring that are wanted */
	uint64_t n_shown;
	uint64_t max;              /* the maximum number of rows */
	uint64_t *shown;           /* owned; their positions */
	size_t cap_shown;
	unsigned position_column;  /* begin, or else position; n_columns: the rows have none */
	bool is_ended;             /* the cursor has no more */
	bool is_over;              /* no more rows are looked for; what is left is printed */
	enum ts_stopped stopped;
	uint64_t go;
	uint64_t first_at;         /* where the cursor began */
	unsigned n_slice;          /* chunks of the last slice: they begin small, so that early rows are reported early */
	struct ts_error err;       /* memory was exhausted */
};

static bool no_memory(struct ts_answer *a)
{
	return ts_no_memory(&a->err, "the rows of an answer");
}

static unsigned find_position_column(const struct ts_verb *verb)
{
	static const char *const names[] = { "begin", "position" };

	for (unsigned j = 0; j < 2; j++) {
		for (unsigned i = 0; i < verb->n_columns; i++) {
			if (!strcmp(verb->columns[i].name, names[j]))
				return i;
		}
	}
	return verb->n_columns;
}

/* A sentence of what was wrong ends with a question that can be asked. */
static void add_example(struct ts_error *err, const struct ts_verb *verb)
{
	char text[sizeof(err->text)];
	size_t len;

	if (err->code != TS_EUSAGE || strstr(err->text, "; example: "))
		return;
	memcpy(text, err->text, sizeof(text));
	len = strlen(text);
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < 0x20)
			text[i] = '?';
	}
	ts_error_reset(err);
	ts_fail(err, TS_EUSAGE, TS_NO_OFF, "%.380s; example: %s", text, verb ? verb->example : "events first 5");
}

static struct ts_answer *new_answer(struct ts_ask *ask, struct ts_error *err)
{
	struct ts_answer *a = calloc(1, sizeof(*a));

	if (!a)
		return ts_no_memory(err, "an answer");
	a->ask = ask;
	ts_anchors_init(&a->anchors, ask, &a->qn);
	a->go = TS_NO_POS;
	a->max = TS_NO_LIMIT;
	ts_row_init(&a->row);
	ts_error_reset(&a->err);
	return a;
}

static bool take_form(struct ts_answer *a, enum ts_form_kind form, struct ts_error *err)
{
	a->kind = form;
	a->position_column = find_position_column(a->qn.verb);
	a->form = ts_form_new(form, a->qn.verb);
	return a->form || ts_no_memory(err, "an answer");
}

static void take_rows(struct ts_answer *a, struct ts_rows *rows)
{
	ts_machine_rows_init(&a->machine, a->ask, &a->qn);
	a->rows = rows;
	rows->is_for_people = a->kind == TS_FORM_TEXT;
	a->first_at = rows->at;
}

/* Find the places of the question; then the rows can be looked for. */
static enum ts_next open_rows(struct ts_answer *a, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got = ts_anchors_find(&a->anchors, budget, err);
	struct ts_rows *rows = NULL;

	if (got == TS_MORE)
		return got;
	a->is_reverse = a->qn.bound == TS_BOUND_LAST && a->qn.verb->is_reversible && !a->qn.verb->is_counted;
	if (got == TS_ITEM && ts_machine_names_take(a->ask, &a->qn, err))
		rows = ts_rows_open(a->qn.verb->rows, a->ask, &a->qn, a->is_reverse, err);
	if (rows)
		take_rows(a, rows);
	else
		add_example(err, a->qn.verb);
	return rows ? TS_ITEM : TS_FAIL;
}

/* With a question that was understood.  Otherwise, and if it makes no sense here, @a is freed, and NULL returned. */
static struct ts_answer *start(struct ts_answer *a, bool is_understood, enum ts_form_kind form,
			       struct ts_error *err)
{
	struct ts_budget none = { 0 };

	if (is_understood && take_form(a, form, err) && open_rows(a, &none, err) != TS_FAIL)
		return a;
	add_example(err, a->qn.verb);
	ts_answer_free(a);
	return NULL;
}

struct ts_answer *ts_answer_new(struct ts_ask *ask, const char *text, enum ts_form_kind form,
				struct ts_error *err)
{
	struct ts_answer *a = new_answer(ask, err);
	bool done;

	if (!a)
		return NULL;
	a->text = strdup(text);
	done = a->text || ts_no_memory(err, "an answer");
	return start(a, done && ts_question_parse(&a->qn, ask, a->text, err), form, err);
}

struct ts_answer *ts_answer_new_arguments(struct ts_ask *ask, const struct ts_verb *verb,
					  const struct ts_argument *arguments, size_t n, enum ts_form_kind form,
					  struct ts_error *err)
{
	struct ts_answer *a = new_answer(ask, err);

	if (!a)
		return NULL;
	return start(a, ts_question_parse_arguments(&a->qn, ask, verb, arguments, n, err), form, err);
}

struct ts_answer *ts_answer_of_rows(struct ts_ask *ask, const struct ts_verb *verb, struct ts_rows *rows,
				    uint64_t first, enum ts_form_kind form, struct ts_error *err)
{
	struct ts_answer *a = new_answer(ask, err);

	if (!a) {
		ts_rows_close(rows);
		return NULL;
	}
	a->qn = (struct ts_question){ .verb = verb, .bound = first == TS_NO_LIMIT ? TS_BOUND_NONE : TS_BOUND_FIRST,
				      .n_bound = first };
	if (take_form(a, form, err)) {
		take_rows(a, rows);
		return a;
	}
	ts_rows_close(rows);
	ts_answer_free(a);
	return NULL;
}

void ts_answer_free(struct ts_answer *a)
{
	if (!a)
		return;
	ts_anchors_fini(&a->anchors);
	ts_rows_close(a->rows);
	ts_question_fini(&a->qn);
	ts_form_free(a->form);
	free(a->text);
	ts_kept_fini(&a->kept);
	free(a->shown);
	ts_row_fini(&a->row);
	free(a);
}

void ts_answer_bound(struct ts_answer *a, uint64_t max)
{
	a->max = max;
	if (a->qn.bound != TS_BOUND_NONE && a->qn.n_bound > max)
		a->qn.n_bound = max;
}

void ts_answer_name_recording(struct ts_answer *a, const char *recording, bool is_next)
{
	ts_form_name_recording(a->form, recording, is_next);
}

void ts_answer_fit(struct ts_answer *a, uint32_t width)
{
	ts_form_fit(a->form, width);
}

/* -------------------------------------------------------------------------------------------------- rows */

static void note_shown(struct ts_answer *a, const struct ts_row *row)
{
	const struct ts_cell *c = &row->cells[a->position_column];

	if (a->position_column < a->qn.verb->n_columns &&
	    !ts_vec_reserve(&a->shown, a->n_shown, &a->cap_shown, 1, sizeof(*a->shown))) {
		no_memory(a);
		return;
	}
	if (a->position_column < a->qn.verb->n_columns)
		a->shown[a->n_shown] = c->kind == TS_CELL_NUMBER ? c->number : TS_NO_POS;
	a->n_shown++;
}

static void show(struct ts_answer *a, const struct ts_row *row, struct ts_buf *out)
{
	if (!ts_buf_ok(&row->texts))
		no_memory(a);
	ts_form_row(a->form, row, out);
	note_shown(a, row);
}

/* Show at most @max of the rows that are kept.  Returns false if there are more. */
static bool show_kept(struct ts_answer *a, unsigned max, struct ts_buf *out)
{
	const struct ts_row *row;

	for (; max && (row = ts_kept_take(&a->kept, a->is_reverse)) != NULL; max--)
		show(a, row, out);
	return ts_kept_is_empty(&a->kept);
}

/* A row was found.  Returns false if no more is wanted. */
static bool take(struct ts_answer *a, struct ts_buf *out)
{
	const struct ts_question *qn = &a->qn;
	bool is_counted = qn->verb->is_counted;

	a->n_found++;
	if ((qn->bound == TS_BOUND_FIRST && a->n_found > qn->n_bound) ||
	    (qn->bound == TS_BOUND_NONE && a->n_found > a->max))
		return is_counted;
	if (qn->bound == TS_BOUND_LAST && a->is_reverse && a->n_found > qn->n_bound)
		return false;
	if (qn->bound != TS_BOUND_LAST)
		show(a, &a->row, out);
	else if (!ts_kept_put(&a->kept, &a->row, qn->n_bound))
		no_memory(a);
	if (is_counted && qn->bound == TS_BOUND_FIRST && a->n_found == qn->n_bound && !ts_machine_rows_look(&a->machine))
		a->rows->is_counting = true;
	return true;
}

/* --------------------------------------------------------------------------------------------------- end */

static unsigned percent_read(const struct ts_answer *a)
{
	return ts_query_permille(a->ask->q) / 10;
}

/* The position up to which no row is missing. */
static uint64_t complete_up_to(const struct ts_answer *a)
{
	uint64_t at = ts_answer_at(a);

	return a->rows && a->rows->is_waiting && a->rows->waits_at < at ? a->rows->waits_at : at;
}

/* Print a slice of what is left, and at last the end.  Returns false if more is left. */
static bool finish(struct ts_answer *a, struct ts_buf *out, struct ts_buf *end)
{
	const char *note = a->rows ? a->rows->note : "", *local = a->rows ? a->qn.local_note : "";
	char notes[sizeof(a->rows->note) + sizeof(a->qn.local_note) + 2];
	struct ts_end_facts f = { .stopped = a->stopped, .note = notes };

	snprintf(notes, sizeof(notes), "%s%s%s", local, *local && *note ? "; " : "", note);

	if (!a->is_begun)
		ts_form_begin(a->form, out);
	a->is_begun = true;
	if (!show_kept(a, ROWS_A_SLICE, out) || !ts_form_print_waiting(a->form, ROWS_A_SLICE, out))
		return false;
	f.is_done = a->rows && a->rows->is_done;
	f.n_rows = a->n_shown;
	f.is_last = a->qn.bound == TS_BOUND_LAST;
	f.has_total = a->is_ended && a->stopped == TS_STOPPED_NOT;
	f.total = a->n_found;
	f.is_complete = f.has_total && f.total == f.n_rows && !(a->rows && a->rows->is_cut);
	f.position = a->stopped == TS_STOPPED_PARTIAL ? a->ask->n_steps : complete_up_to(a);
	f.percent = percent_read(a);
	a->go = a->rows ? a->rows->go : TS_NO_POS;
	ts_form_end(a->form, &f, out, end);
	return true;
}

static unsigned begin_slice(struct ts_answer *a, unsigned n_chunks)
{
	a->n_slice = a->n_slice ? 2 * a->n_slice : 1;
	if (a->n_slice > n_chunks)
		a->n_slice = n_chunks;
	return a->n_slice;
}

/* Fewer rows are not worth what keeps printed cells. */
#define FEW_ROWS 64u

/* Is a row printed before the next one is found, are its cells examined by nothing else, and have there been many? */
static bool repeats_cells(const struct ts_answer *a)
{
	return a->n_shown > FEW_ROWS && a->qn.bound != TS_BOUND_LAST && !ts_machine_rows_look(&a->machine);
}

/*
 * Look for rows.
 *
 * Returns TS_END if no more are looked for, TS_MORE and TS_FAIL as a cursor's next().
 */
static enum ts_next look(struct ts_answer *a, unsigned n_chunks, struct ts_buf *out, struct ts_error *err)
{
	struct ts_budget budget = { begin_slice(a, n_chunks) };
	enum ts_next got = a->rows ? TS_ITEM : open_rows(a, &budget, err);
	bool is_it = true;

	if (got != TS_ITEM)
		return got;
	if (!a->is_begun)
		ts_form_begin(a->form, out);
	a->is_begun = true;
	while (got == TS_ITEM && a->err.code == TS_OK) {
		ts_row_reset(&a->row);
		a->row.keeps_bytes = a->kind == TS_FORM_JSON;
		a->row.kept = repeats_cells(a) ? ts_form_kept(a->form) : NULL;
		got = a->rows->ops->next(a->rows, &a->row, &budget, err);
		if (got != TS_FAIL && !ts_query_finish_question(a->ask->q, err))
			got = TS_FAIL;
		if (got == TS_ITEM && !ts_machine_row(&a->machine, &a->row, &is_it, err))
			got = TS_FAIL;
		if (got == TS_ITEM && is_it && !take(a, out))
			break;
		a->n_looked += got == TS_ITEM;
		if (got == TS_ITEM && a->n_looked % ROWS_A_CHUNK == 0 &&
		    (!ts_budget_take(&budget) || !budget.left))
			got = TS_MORE;
	}
	if (got == TS_MORE || got == TS_FAIL || a->err.code != TS_OK)
		return got;
	a->is_ended |= got == TS_END;
	return TS_END;
}

enum ts_next ts_answer_run(struct ts_answer *a, unsigned n_chunks, struct ts_buf *out, struct ts_buf *end,
			   struct ts_error *err)
{
	enum ts_next got = a->is_over ? TS_END : look(a, n_chunks, out, err);

	if (got == TS_END && !a->is_over && a->err.code == TS_OK) {
		a->is_over = true;
		a->stopped = a->ask->is_reading ? TS_STOPPED_PARTIAL : TS_STOPPED_NOT;
	}
	if (got == TS_END && a->err.code == TS_OK && !finish(a, out, end))
		got = TS_MORE;
	if (a->err.code == TS_OK)
		return got;
	*err = a->err;
	return TS_FAIL;
}

void ts_answer_stop(struct ts_answer *a)
{
	if (a->stopped == TS_STOPPED_INTERRUPT || (a->is_over && ts_kept_is_empty(&a->kept)))
		return;
	if (a->is_over)
		ts_kept_forget(&a->kept);
	a->is_over = true;
	a->stopped = TS_STOPPED_INTERRUPT;
}

const struct ts_question *ts_answer_question(const struct ts_answer *a)
{
	return &a->qn;
}

void ts_answer_keep_shown(const struct ts_answer *a, struct ts_ask *ask)
{
	size_t n = a->shown ? (size_t)a->n_shown : 0;
	uint64_t *copy = n && !a->qn.verb->is_sentence ? malloc(n * sizeof(*copy)) : NULL;

	if (!copy)
		return;
	memcpy(copy, a->shown, n * sizeof(*copy));
	free(ask->shown);
	ask->shown = copy;
	ask->n_shown = n;
}

uint64_t ts_answer_n_rows(const struct ts_answer *a)
{
	return a->n_shown;
}

bool ts_answer_has_any(const struct ts_answer *a)
{
	return a->n_shown || (a->rows && a->rows->is_done);
}

uint64_t ts_answer_at(const struct ts_answer *a)
{
	return a->rows ? a->rows->at : ts_anchors_at(&a->anchors);
}

uint64_t ts_answer_prepared(const struct ts_answer *a)
{
	return a->rows ? a->rows->n_prepared : ts_anchors_prepared(&a->anchors);
}

uint64_t ts_answer_searched(const struct ts_answer *a, uint64_t *all)
{
	uint64_t from = a->qn.from, to = a->qn.to, at = ts_answer_at(a);
	bool is_backwards;

	if (!to || to > a->ask->n_steps)
		to = a->ask->n_steps;
	*all = to > from ? to - from : 0;
	if (!a->rows || at == a->first_at || at < from || at > to)
		return 0;
	is_backwards = a->rows->is_reverse || a->first_at > from + *all / 2;
	return is_backwards ? to - at : at - from;
}

uint64_t ts_answer_go(const struct ts_answer *a)
{
	return a->go;
}
