/* SPDX-License-Identifier: MIT */
#include "opening.h"

#include <inttypes.h>
#include <stdio.h>

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/program/cli/interrupt.h"
#include "src/program/cli/message.h"
#include "src/program/cli/meter.h"
#include "src/program/cli/report.h"

#define STEPS_A_GROW (UINT64_C(1) << 16)

/* Print what the reading of the recording found. */
static void say_read(struct ts_model *m, const struct ts_cli *cli)
{
	struct ts_index_facts index = ts_model_index(m);

	if (index.path && index.error)
		ts_log(TS_LOG_WARN, "%s: %s; the rest of the index is kept in memory", index.path,
		       index.error->text);
	ts_report_warnings(ts_model_query(m), cli->trace);
}

/*
 * A server begins when this much time has passed and something can be asked about; it reads the rest.  A
 * question with --partial is answered then.
 */
#define READ_FIRST_NS INT64_C(250000000)

/* The time for which a server continues to read while no client waits. */
#define READ_ON_NS INT64_C(2000000)

static bool is_enough(struct ts_model *m, const struct ts_cli *cli, int64_t start)
{
	return (ts_cli_is_server(cli) || cli->is_partial) && ts_model_query(m) &&
	       ts_now_ns() - start > READ_FIRST_NS;
}

/* End the process after ^C.  The message says how many instructions the unfinished index file keeps, or that nothing is kept. */
static _Noreturn void end_reading(struct ts_model *m, const struct ts_cli *cli)
{
	struct ts_index_facts index = ts_model_index(m);

	if (index.path && index.n_steps)
		ts_message(stderr,
			   "tracestub: %s: %s; %s.part keeps the first %" PRIu64 " instructions, from where the next run goes on",
			   cli->trace, ts_interrupt_text(), index.path, index.n_steps);
	else
		ts_message(stderr, "tracestub: %s: %s; nothing is kept%s", cli->trace, ts_interrupt_text(),
			   index.path ? " yet: the next run begins again" : ": the index is in memory");
	ts_interrupt_end();
}

bool ts_read_recording(struct ts_model *m, const struct ts_cli *cli, enum ts_status *status)
{
	int64_t start = ts_now_ns();
	struct ts_meter meter;
	struct ts_error err = { 0 };
	enum ts_next next;

	ts_meter_init(&meter, cli, cli->trace, "reading", "instructions");
	if (!ts_cli_is_server(cli))
		ts_interrupt_catch();
	do {
		next = ts_model_grow(m, STEPS_A_GROW, &err);
		if (next == TS_ITEM)
			ts_meter_show(&meter, ts_model_permille(m) / 1000.0, ts_model_n_read(m));
	} while (next == TS_ITEM && !ts_is_interrupted() && !is_enough(m, cli, start));
	ts_meter_clear(&meter);
	if (next == TS_ITEM && ts_is_interrupted())
		end_reading(m, cli);
	if (!ts_cli_is_server(cli))
		ts_interrupt_release();
	if (next == TS_FAIL)
		*status = ts_report_failure(cli->trace, &err);
	else if (next == TS_END)
		say_read(m, cli);
	return next != TS_FAIL;
}

bool ts_read_on(struct ts_model *m, const struct ts_cli *cli)
{
	if (ts_model_grow_for(m, READ_ON_NS) == TS_ITEM)
		return true;
	say_read(m, cli);
	return false;
}
