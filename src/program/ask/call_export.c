/* SPDX-License-Identifier: MIT */
#include "call_export.h"

#include <inttypes.h>
#include <string.h>

#include "asker.h"
#include "src/export/call_file.h"
#include "src/program/cli/interrupt.h"
#include "src/program/cli/message.h"
#include "src/program/cli/meter.h"
#include "src/program/cli/report.h"
#include "src/symbols/symbols.h"

#define CALLS_A_TURN 4096u
#define SUFFIX       ".folded"

static bool find_form(const struct ts_cli *cli, enum ts_call_form *form)
{
	size_t len = strlen(cli->output), n = strlen(SUFFIX);

	if (cli->form)
		return ts_call_form_find(cli->form, form);
	*form = TS_CALLS_FOLDED;
	return len > n && !strcmp(cli->output + len - n, SUFFIX);
}

bool ts_is_call_export(const struct ts_cli *cli)
{
	enum ts_call_form form;

	return find_form(cli, &form);
}

static const char *function_at(void *user, uint64_t addr)
{
	const struct ts_ask *ask = user;
	const struct ts_symbol *s = ts_symbols_function_at(ask->symbols, addr);

	return s ? s->name : NULL;
}

static uint64_t number_of_thread(void *user, uint32_t thread)
{
	const struct ts_ask *ask = user;

	return thread < ask->names->n_tids ? (uint64_t)ask->names->tids[thread] : thread;
}

static uint64_t number_of_process(void *user, uint32_t process)
{
	const struct ts_ask *ask = user;

	return process < ask->names->n_pids ? (uint64_t)ask->names->pids[process] : process;
}

static enum ts_next write_all(struct ts_call_file *f, const struct ts_cli *cli, struct ts_error *err)
{
	struct ts_meter meter;
	enum ts_next next;

	ts_meter_init(&meter, cli, cli->output, "exporting", "calls");
	ts_interrupt_catch();
	do {
		next = ts_call_file_run(f, CALLS_A_TURN, err);
		ts_meter_show(&meter, TS_NO_SHARE, ts_call_file_n_calls(f));
	} while (next == TS_ITEM && !ts_is_interrupted());
	ts_meter_clear(&meter);
	if (next == TS_END && ts_call_file_n_deeper(f))
		ts_log(TS_LOG_WARN, "%" PRIu64 " instructions were executed below %u calls: their frame is \"...\"",
		       ts_call_file_n_deeper(f), TS_MAX_FOLDED);
	if (next == TS_END && !cli->is_quiet)
		ts_message(strcmp(cli->output, "-") ? stdout : stderr, "%s: %" PRIu64 " calls", cli->output,
			   ts_call_file_n_calls(f));
	return next;
}

static bool is_selected(const struct ts_cli *cli)
{
	return cli->selection.has_positions || cli->selection.has_collect || cli->selection.n_at || cli->n_at_symbols ||
	       cli->places;
}

enum ts_status ts_run_call_export(struct ts_query *q, const struct ts_cli *cli)
{
	enum ts_call_form form;
	struct ts_call_file *f;
	struct ts_asker asker;
	enum ts_next next = TS_FAIL;
	struct ts_error err;

	ts_error_reset(&err);
	find_form(cli, &form);
	if (is_selected(cli)) {
		ts_fail(&err, TS_EUSAGE, TS_NO_OFF, "calls are exported of the whole recording: without --positions, --at and --collect");
		return ts_report_failure(NULL, &err);
	}
	if (ts_asker_init(&asker, q, cli, &err)) {
		f = ts_call_file_new(q, form,
				     &(struct ts_call_names){ function_at, number_of_thread, number_of_process, &asker.ask },
				     cli->output, &err);
		next = f ? write_all(f, cli, &err) : TS_FAIL;
		ts_call_file_free(f);
	}
	ts_asker_fini(&asker);
	if (next == TS_ITEM) {
		ts_message(stderr, "tracestub: %s: %s; it was not written", cli->output, ts_interrupt_text());
		ts_interrupt_end();
	}
	ts_interrupt_release();
	return next == TS_END ? TS_STATUS_OK : ts_report_failure(cli->output, &err);
}
