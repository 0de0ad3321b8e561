/* SPDX-License-Identifier: MIT */
#include "asked.h"

#include <stdlib.h>

#include "src/program/cli/report.h"
#include "src/program/open/beside.h"
#include "src/program/open/reading.h"

bool ts_asked_init(struct ts_asked *a, const struct ts_cli *cli, enum ts_status *status)
{
	struct ts_error err = { 0 };

	*a = (struct ts_asked){ 0 };
	if (!ts_opened_init(&a->opened, cli, status) || !ts_read_recording(a->opened.model, &a->opened.cli, status))
		return false;
	ts_beside_check(&a->opened.cli, ts_model_query(a->opened.model));
	a->program = ts_beside_find(&a->opened.cli, ts_model_query(a->opened.model));
	if (ts_asker_init(&a->asker, ts_model_query(a->opened.model), &a->opened.cli, &err))
		return true;
	*status = ts_report_failure(cli->trace, &err);
	return false;
}

void ts_asked_fini(struct ts_asked *a)
{
	ts_asker_fini(&a->asker);
	ts_opened_fini(&a->opened);
	free(a->program);
}
