/* SPDX-License-Identifier: MIT */
#include "src/program/cli/cli_commands.h"

#include "asker.h"
#include "show.h"
#include "src/program/cli/report.h"

static int fail(const struct ts_cli *cli, const struct ts_error *err)
{
	bool is_usage = err->code == TS_EUSAGE;

	ts_report_failure(is_usage && !cli->names_recordings ? NULL : cli->trace, err);
	return is_usage ? TS_STATUS_USAGE : TS_STATUS_UNREADABLE;
}

/* Of several recordings: whose rows they are. */
static void name_recording(struct ts_answer *answer, const struct ts_cli *cli)
{
	if (!cli->names_recordings)
		return;
	ts_answer_name_recording(answer, cli->trace, *cli->has_shown);
	*cli->has_shown = true;
}

int ts_run_query(struct ts_query *q, const struct ts_cli *cli)
{
	enum ts_form_kind form = ts_show_form(cli);
	struct ts_answer *answer = NULL;
	struct ts_asker asker;
	struct ts_error err = { 0 };
	bool is_stopped = false;
	int status;

	if (ts_asker_init(&asker, q, cli, &err)) {
		asker.ask.may_write_files = true;
		answer = ts_answer_new(&asker.ask, cli->question, form, &err);
	}
	if (answer)
		name_recording(answer, cli);
	if (answer && ts_show_answer(answer, cli, "searching", &is_stopped, &err))
		status = ts_answer_has_any(answer) ? TS_STATUS_OK : TS_STATUS_NO_ROWS;
	else
		status = fail(cli, &err);
	ts_answer_free(answer);
	ts_asker_fini(&asker);
	return status;
}
