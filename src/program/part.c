/* SPDX-License-Identifier: MIT */
#include "src/program/cli/cli_commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "src/model/part.h"
#include "src/program/cli/message.h"
#include "src/program/cli/meter.h"
#include "src/program/cli/report.h"
#include "src/program/open/opening.h"

/* The rest of the recording is passed over, and the part is decoded. */
static bool run(struct ts_part *p, const struct ts_cli *cli, struct ts_error *err)
{
	struct ts_meter meter;
	enum ts_next next;

	ts_meter_init(&meter, cli, cli->trace, "decoding a segment", "instructions");
	do {
		struct ts_part_facts facts = ts_part_facts(p);

		ts_meter_show(&meter, TS_NO_SHARE, facts.is_passing ? facts.n_passed : facts.n_steps);
		next = ts_part_run(p, err);
	} while (next == TS_ITEM);
	ts_meter_clear(&meter);
	return next == TS_END;
}

enum ts_status ts_run_part(const struct ts_cli *cli)
{
	enum ts_status status = TS_STATUS_OK;
	struct ts_part_facts facts;
	struct ts_part *p = NULL;
	struct ts_opened o;
	struct ts_error err = { 0 };

	if (ts_opened_init_part(&o, cli, &p, &status)) {
		if (!run(p, cli, &err))
			status = ts_report_failure(cli->trace, &err);
		facts = ts_part_facts(p);
		if (facts.path)
			ts_message(stdout, "%s: segment %u/%u, %" PRIu64 " instructions, %" PRIu64 " bytes", facts.path,
				   cli->segment, cli->n_segments, facts.n_steps, facts.len);
	}
	ts_part_free(p);
	ts_opened_fini(&o);
	return status;
}
