/* SPDX-License-Identifier: MIT */
#include "src/program/cli/cli_commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asker.h"
#include "show.h"
#include "src/ask/diff/diff.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/anchors.h"
#include "src/ask/output/answer.h"
#include "src/program/cli/interrupt.h"
#include "src/program/cli/report.h"
#include "src/program/open/opening.h"

/*
 * A cursor over the differences with the options of @cli, which it borrows, as the recordings.
 *
 * Returns NULL as ts_diff_open() does, or if cli->range is not a range of positions of @ask (TS_EUSAGE).
 */
static struct ts_rows *begin_diff(struct ts_ask *ask, struct ts_model *b, const struct ts_cli *cli, struct ts_error *err)
{
	struct ts_diff_options options = { .is_rebased = cli->is_rebased,
					   .is_all = cli->is_all,
					   .kinds = cli->kinds,
					   .has_range = cli->range != NULL,
					   .program = cli->exec.path,
					   .program_base = cli->exec.has_base ? &cli->exec.base : NULL,
					   .function = cli->function };

	if (cli->range && !ts_range_find(ask, cli->range, &options.from, &options.to, err))
		return NULL;
	return ts_diff_open(ask, ts_model_query(b), &options, err);
}

static struct ts_answer *begin(struct ts_ask *ask, struct ts_model *b, const struct ts_cli *cli, struct ts_error *err)
{
	struct ts_rows *rows = begin_diff(ask, b, cli, err);

	return rows ? ts_answer_of_rows(ask, &ts_verb_diff, rows, cli->first ? cli->first : TS_NO_LIMIT, ts_show_form(cli), err) :
		      NULL;
}

int ts_run_diff(struct ts_model *a, struct ts_model *b, const struct ts_cli *cli)
{
	int status = TS_STATUS_TROUBLE;
	struct ts_answer *answer = NULL;
	bool is_stopped = false;
	struct ts_asker asker;
	struct ts_error err = { 0 };

	if (ts_asker_init(&asker, ts_model_query(a), cli, &err))
		answer = begin(&asker.ask, b, cli, &err);
	if (!answer || !ts_show_answer(answer, cli, "comparing", &is_stopped, &err))
		ts_report_failure(NULL, &err);
	else if (ts_answer_n_rows(answer))
		status = TS_STATUS_DIFFERENT;
	else if (!is_stopped)
		status = TS_STATUS_OK;
	ts_answer_free(answer);
	ts_asker_fini(&asker);
	return status;
}

/* Between two looks at whether ^C was pressed. */
#define CHUNKS_A_SLICE 4

/* The columns before those of diff. */
#define N_OWN 1

/* ------------------------------------------------------------------------------------------------- the rows */

/* A recording, and its first difference. */
struct compared {
	const char *trace;  /* borrowed */
	struct ts_row row;  /* of diff */
	bool has_row;       /* it differs */
	uint64_t position;  /* where; of an equal one UINT64_MAX */
};

struct against {
	struct ts_rows rows; /* first */
	struct compared *items;
	size_t n, next;
};

static struct ts_column columns[TS_MAX_COLUMNS];
static struct ts_verb verb = { .name = "against", .help = "List the recordings of a folder by their first difference from one recording.", .columns = columns };

/* The column `recording`, and those of diff. */
static void make_verb(void)
{
	columns[0] = (struct ts_column){ .name = "recording", .type = TS_COLUMN_TEXT };
	memcpy(columns + N_OWN, ts_verb_diff.columns, ts_verb_diff.n_columns * sizeof(*columns));
	verb.n_columns = N_OWN + ts_verb_diff.n_columns;
}

static int by_position(const void *a, const void *b)
{
	const struct compared *x = a, *y = b;

	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	return strcmp(x->trace, y->trace);
}

static void put_row(const struct compared *x, struct ts_row *row)
{
	size_t at;

	ts_row_text(row, 0, x->trace);
	if (!x->has_row) {
		ts_row_text(row, N_OWN + 4, "same");
		return;
	}
	at = row->texts.len;
	ts_buf_put(&row->texts, x->row.texts.data, x->row.texts.len);
	for (unsigned i = 0; i < ts_verb_diff.n_columns; i++) {
		row->cells[N_OWN + i] = x->row.cells[i];
		row->cells[N_OWN + i].text += at;
		if (x->row.cells[i].bytes)
			row->cells[N_OWN + i].bytes += at;
	}
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *, struct ts_error *)
{
	struct against *x = (struct against *)rows;

	if (x->next == x->n)
		return TS_END;
	put_row(&x->items[x->next++], row);
	return TS_ITEM;
}

/* ts_run_against() has them. */
static const struct ts_rows_ops ops = { .next = next };

/* ------------------------------------------------------------------------------------------------ comparing */

/* Find the first difference.  Returns false if it cannot be found (@err), or if ^C was pressed. */
static bool find_first(struct ts_rows *rows, struct compared *x, struct ts_error *err)
{
	enum ts_next got = TS_MORE;

	ts_interrupt_catch();
	while (got == TS_MORE && !ts_is_interrupted()) {
		struct ts_budget budget = { CHUNKS_A_SLICE };

		ts_row_reset(&x->row);
		got = rows->ops->next(rows, &x->row, &budget, err);
	}
	ts_interrupt_release();
	x->has_row = got == TS_ITEM;
	x->position = x->has_row ? x->row.cells[0].number : UINT64_MAX;
	return got == TS_ITEM || got == TS_END;
}

/*
 * Compare with the recording @x->trace, which is opened for it.  Returns false if it could not be: stderr says why,
 * unless *is_stopped: ^C was pressed.
 */
static bool compare(struct ts_ask *a, const struct ts_cli *cli, struct compared *x, bool *is_stopped)
{
	struct ts_cli other = *cli;
	struct ts_opened o = { 0 };
	enum ts_status status;
	struct ts_rows *rows;
	struct ts_error err = { 0 };
	bool done = false;

	other.trace = x->trace;
	other.index = other.index && !strcmp(other.index, "none") ? other.index : NULL;
	if (ts_opened_init(&o, &other, &status) && ts_read_recording(o.model, &other, &status)) {
		rows = begin_diff(a, o.model, cli, &err);
		done = rows && find_first(rows, x, &err);
		ts_rows_close(rows);
		*is_stopped = rows && ts_is_interrupted();
		if (!done && !*is_stopped)
			ts_report_failure(x->trace, &err);
	}
	ts_opened_fini(&o);
	return done;
}

/* Print what was compared.  Returns false if it could not be: stderr says why. */
static bool show(struct against *x, struct ts_ask *a, const struct ts_cli *cli)
{
	struct ts_answer *answer;
	struct ts_error err = { 0 };
	bool is_stopped, done;

	make_verb();
	qsort(x->items, x->n, sizeof(*x->items), by_position);
	answer = ts_answer_of_rows(a, &verb, &x->rows, cli->first ? cli->first : TS_NO_LIMIT, ts_show_form(cli), &err);
	done = answer && ts_show_answer(answer, cli, "comparing", &is_stopped, &err);
	if (!done)
		ts_report_failure(NULL, &err);
	ts_answer_free(answer);
	return done;
}

/* Compare with all of them, or up to ^C.  Returns how many there are that were not compared. */
static size_t compare_all(struct against *x, struct ts_ask *a, const struct ts_cli *cli)
{
	bool is_stopped = false;

	for (size_t i = 1; i < cli->n_traces && !is_stopped; i++) {
		struct compared *item = &x->items[x->n];

		ts_row_init(&item->row);
		item->row.keeps_bytes = cli->is_json;
		item->trace = cli->traces[i];
		if (compare(a, cli, item, &is_stopped))
			x->n++;
		else
			ts_row_fini(&item->row);
	}
	return cli->n_traces - 1 - x->n;
}

static bool is_same_as_all(const struct against *x)
{
	for (size_t i = 0; i < x->n; i++) {
		if (x->items[i].has_row)
			return false;
	}
	return true;
}

static int run(struct against *x, struct ts_ask *a, const struct ts_cli *cli)
{
	size_t n_left = compare_all(x, a, cli);

	x->rows.is_cut = n_left;
	if (n_left)
		snprintf(x->rows.note, sizeof(x->rows.note), "%zu of %zu recordings were not compared", n_left, cli->n_traces - 1);
	if (!show(x, a, cli) || n_left)
		return TS_STATUS_TROUBLE;
	return is_same_as_all(x) ? (int)TS_STATUS_OK : TS_STATUS_DIFFERENT;
}

int ts_run_against(struct ts_model *a, const struct ts_cli *cli)
{
	struct against x = { .rows = { .ops = &ops, .go = TS_NO_POS } };
	int status = TS_STATUS_TROUBLE;
	struct ts_asker asker;
	struct ts_error err = { 0 };

	x.items = calloc(cli->n_traces, sizeof(*x.items));
	if (!x.items)
		ts_no_memory(&err, "the recordings of a folder");
	if (ts_asker_init(&asker, ts_model_query(a), cli, &err) && x.items)
		status = run(&x, &asker.ask, cli);
	else
		ts_report_failure(NULL, &err);
	for (size_t i = 0; i < x.n; i++)
		ts_row_fini(&x.items[i].row);
	free(x.items);
	ts_asker_fini(&asker);
	return status;
}
