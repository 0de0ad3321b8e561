/* SPDX-License-Identifier: MIT */
#include "diff.h"

#include <stdio.h>
#include <unistd.h>

#include "report.h"
#include "src/ask/diff.h"
#include "src/ask/form.h"

#define CHUNKS_A_SLICE 1024
#define ROWS_A_WRITE   1000

/* Write what is there; the end of a table for programs goes to stderr. */
static bool flush(struct ts_buf *out, FILE *to, struct ts_error *err)
{
	bool done = (!out->len || fwrite(out->data, 1, out->len, to) == out->len) && fflush(to) == 0;

	if (!ts_buf_ok(out))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the rows of a comparison");
	ts_buf_reset(out);
	return done || ts_fail_errno(err, "cannot write to stdout");
}

/* All rows to @out and, when it is full, to stdout. */
static bool drive(struct ts_diff *d, struct ts_form *form, uint64_t *n_rows, struct ts_buf *out,
		  struct ts_error *err)
{
	enum ts_got got = TS_GOT_PENDING;
	struct ts_row row;
	bool done = true;

	ts_row_init(&row);
	ts_form_begin(form, out);
	while (done && got != TS_GOT_END && got != TS_GOT_FAIL) {
		struct ts_budget budget = { CHUNKS_A_SLICE };

		ts_row_reset(&row);
		got = ts_diff_next(d, &row, &budget, err);
		if (got == TS_GOT_ROW) {
			ts_form_row(form, &row, out);
			++*n_rows;
		}
		if (*n_rows % ROWS_A_WRITE == 0 && out->len)
			done = flush(out, stdout, err);
	}
	ts_row_fini(&row);
	return done && got == TS_GOT_END;
}

static bool compare(struct ts_diff *d, const struct ts_cli *cli, uint64_t *n_rows, struct ts_error *err)
{
	enum ts_form_kind kind = cli->is_json            ? TS_FORM_JSON
				 : isatty(STDOUT_FILENO) ? TS_FORM_TEXT
							 : TS_FORM_TSV;
	struct ts_form *form = ts_form_new(kind, &ts_verb_diff);
	struct ts_end_facts facts = { .is_complete = true, .has_total = true, .note = "" };
	struct ts_buf out, end;
	bool done;

	if (!form)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a comparison");
	ts_buf_init(&out);
	ts_buf_init(&end);
	done = drive(d, form, n_rows, &out, err);
	facts.n_rows = facts.total = *n_rows;
	if (done) {
		ts_form_end(form, &facts, &out, &end);
		done = flush(&out, stdout, err) && flush(&end, kind == TS_FORM_TSV ? stderr : stdout, err);
	}
	ts_buf_fini(&out);
	ts_buf_fini(&end);
	ts_form_free(form);
	return done;
}

int ts_run_diff(struct ts_model *a, struct ts_model *b, const struct ts_cli *cli)
{
	struct ts_diff *d;
	struct ts_error err;
	uint64_t n_rows = 0;
	bool done;

	ts_error_reset(&err);
	d = ts_diff_new(ts_model_query(a), ts_model_query(b), cli->is_rebased, &err);
	done = d && compare(d, cli, &n_rows, &err);
	ts_diff_free(d);
	if (!done) {
		ts_report_failure(NULL, &err);
		return TS_STATUS_TROUBLE;
	}
	return n_rows ? TS_STATUS_DIFFERENT : TS_STATUS_OK;
}
