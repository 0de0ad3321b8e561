/* SPDX-License-Identifier: MIT */
#include "diff.h"

#include "report.h"
#include "show.h"
#include "src/ask/output/answer.h"
#include "src/ask/diff/diff.h"
#include "src/ask/grammar/question.h"

static struct ts_answer *begin(struct ts_ask *ask, struct ts_model *b, const struct ts_cli *cli,
			       struct ts_error *err)
{
	struct ts_rows *rows = ts_diff_open(ask->q, ts_model_query(b), cli->is_rebased, cli->is_all, err);

	return rows ? ts_answer_of_rows(ask, &ts_verb_diff, rows, TS_NO_LIMIT, ts_show_form(cli), err) : NULL;
}

int ts_run_diff(struct ts_model *a, struct ts_model *b, const struct ts_cli *cli)
{
	struct ts_ask ask = { .q = ts_model_query(a), .n_steps = ts_query_end(ts_model_query(a)) };
	int status = TS_STATUS_TROUBLE;
	bool is_stopped = false;
	struct ts_answer *answer;
	struct ts_error err;

	ts_error_reset(&err);
	answer = begin(&ask, b, cli, &err);
	if (!answer || !ts_show_answer(answer, cli, "comparing", &is_stopped, &err))
		ts_report_failure(NULL, &err);
	else if (ts_answer_n_rows(answer))
		status = TS_STATUS_DIFFERENT;
	else if (!is_stopped)
		status = TS_STATUS_OK;
	ts_answer_free(answer);
	return status;
}
