/* SPDX-License-Identifier: MIT */
#include "diff.h"

#include "asker.h"
#include "show.h"
#include "src/ask/diff/diff.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/range.h"
#include "src/ask/output/answer.h"
#include "src/program/cli/report.h"

struct ts_rows *ts_diff_begin(struct ts_ask *ask, struct ts_model *b, const struct ts_cli *cli, struct ts_error *err)
{
	struct ts_diff_options options = { .is_rebased = cli->is_rebased,
					   .is_all = cli->is_all,
					   .kinds = cli->kinds,
					   .has_range = cli->range != NULL,
					   .function = cli->function };

	if (cli->range && !ts_range_find(ask, cli->range, &options.from, &options.to, err))
		return NULL;
	return ts_diff_open(ask, ts_model_query(b), &options, err);
}

static struct ts_answer *begin(struct ts_ask *ask, struct ts_model *b, const struct ts_cli *cli, struct ts_error *err)
{
	struct ts_rows *rows = ts_diff_begin(ask, b, cli, err);

	return rows ? ts_answer_of_rows(ask, &ts_verb_diff, rows, cli->first ? cli->first : TS_NO_LIMIT, ts_show_form(cli), err) :
		      NULL;
}

int ts_run_diff(struct ts_model *a, struct ts_model *b, const struct ts_cli *cli)
{
	int status = TS_STATUS_TROUBLE;
	struct ts_answer *answer = NULL;
	bool is_stopped = false;
	struct ts_asker asker;
	struct ts_error err;

	ts_error_reset(&err);
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
