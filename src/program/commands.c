/* SPDX-License-Identifier: MIT */
#include "src/program/cli/cli_commands.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "src/ask/grammar/question.h"
#include "src/base/log.h"
#include "src/base/text/suffix.h"
#include "src/base/text/utf8.h"
#include "src/export/call_file.h"
#include "src/export/export.h"
#include "src/export/listing.h"
#include "src/program/ask/asker.h"
#include "src/program/ask/info.h"
#include "src/program/cli/interrupt.h"
#include "src/program/cli/message.h"
#include "src/program/cli/meter.h"
#include "src/program/cli/report.h"
#include "src/query/query.h"
#include "src/symbols/symbols.h"

#define FRAMES_A_TURN 4096

static bool flush_stdout(struct ts_error *err)
{
	return (!fflush(stdout) && !ferror(stdout)) || ts_fail_errno(err, "cannot write to stdout");
}

/* ------------------------------------------------------------------------------------------------ info */

/* Several recordings are items of one JSON list, or texts with an empty line between them. */
static void put_separator(const struct ts_cli *cli)
{
	if (!cli->has_shown)
		return;
	if (cli->is_json)
		fputs(*cli->has_shown ? ",\n" : "[\n", stdout);
	else if (*cli->has_shown)
		putchar('\n');
	*cli->has_shown = true;
}

enum ts_status ts_run_info(struct ts_model *m, const struct ts_cli *cli)
{
	struct ts_error err = { 0 };
	struct ts_info info;
	bool done = true;

	if (!ts_info_init(&info, ts_model_query(m), cli->trace, &err))
		return ts_report_failure(cli->trace, &err);
	put_separator(cli);
	if (cli->is_json)
		done = ts_info_json(&info, &err);
	else
		ts_info_text(&info);
	ts_info_fini(&info);
	return done && flush_stdout(&err) ? TS_STATUS_OK : ts_report_failure(NULL, &err);
}

/* ----------------------------------------------------------------------------------------------- index */

/* Where the index is, and what it costs. */
static bool show_index(struct ts_model *m, struct ts_error *err)
{
	const struct ts_query *q = ts_model_query(m);
	struct ts_index_facts index = ts_model_index(m);
	uint64_t n = ts_query_end(q);

	if (ts_query_facts(q)->frames)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			       "trace files of gdb have no index: none is needed");
	if (!index.path || !index.is_finished)
		return ts_fail(err, TS_EIO, TS_NO_OFF, "it has no index file");
	ts_message(stdout, "%s: %" PRIu64 " instructions, %" PRIu64 " bytes, %.3f for each", index.path,
		   n, index.len, (double)index.len / (double)n);
	return flush_stdout(err);
}

enum ts_status ts_run_index(struct ts_model *m, const struct ts_cli *cli)
{
	struct ts_error err = { 0 };

	return show_index(m, &err) ? TS_STATUS_OK : ts_report_failure(cli->trace, &err);
}

/* ---------------------------------------------------------------------------------------------- export */

static void say_written(const struct ts_cli *cli, uint64_t n, const char *unit)
{
	if (!cli->is_quiet)
		ts_message(strcmp(cli->output, "-") ? stdout : stderr, "%s: %" PRIu64 " %s", cli->output, n, unit);
}

/* ^C (@next is TS_MORE) ends the process; @hint ends the message. */
static void end_writing(const struct ts_cli *cli, enum ts_next next, const char *hint)
{
	if (next == TS_MORE) {
		ts_message(stderr, "tracestub: %s: %s; it was not written%s", cli->output, ts_interrupt_text(), hint);
		ts_interrupt_end();
	}
	ts_interrupt_release();
}

static void warn_of_some(const char *what, struct ts_buf *names)
{
	if (names->len || !ts_buf_ok(names))
		ts_log(TS_LOG_WARN, "registers that %s:%s", what,
		       ts_buf_ok(names) ? ts_buf_text(names) : " (no memory to list them)");
	ts_buf_reset(names);
}

/* Warn of the registers that a trace file of gdb cannot hold. */
static void warn_of_registers(const struct ts_export *e)
{
	struct ts_buf names;

	ts_buf_init(&names);
	ts_export_left_out(e, &names);
	warn_of_some("some frame does not know are left out", &names);
	ts_export_zeros(e, &names);
	warn_of_some("gdb cannot do without are 0 where they are not known", &names);
	ts_buf_fini(&names);
}

static bool write_frames(struct ts_query *q, struct ts_selection *s, const struct ts_cli *cli,
			 struct ts_error *err)
{
	struct ts_export *e = ts_export_new(q, &s->frames, &s->tracing, cli->output, err);
	struct ts_meter meter;
	enum ts_next next;

	if (!e)
		return false;
	ts_meter_init(&meter, cli, cli->output, "exporting", "frames");
	ts_interrupt_catch();
	do {
		next = ts_export_run(e, FRAMES_A_TURN, err);
		ts_meter_show(&meter, ts_export_progress(e),
			      (uint64_t)(ts_export_progress(e) * (double)s->frames.n_frames));
	} while (next == TS_MORE && !ts_is_interrupted());
	ts_meter_clear(&meter);
	if (next == TS_END)
		warn_of_registers(e);
	if (next == TS_END && s->is_cut)
		ts_log(TS_LOG_WARN,
		       "some steps access more memory than is exported: a frame has at most %" PRIu64
		       " bytes of accesses that are longer than a page",
		       TS_MAX_ACCESSED);
	ts_export_free(e);
	end_writing(cli, next, ", and --positions A:B exports a part");
	return next == TS_END;
}

/* The addresses of symbols that --at names. */
static bool select_symbols(struct ts_selection_options *o, struct ts_symbols *symbols,
			   const struct ts_cli *cli, struct ts_error *err)
{
	for (unsigned i = 0; i < cli->n_at_symbols; i++) {
		const char *name = cli->at_symbols[i];
		const struct ts_symbol *symbol = ts_symbols_find(symbols, name, strlen(name));
		char addr[32];

		if (!symbol)
			return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "--at %s: there is no such symbol%s", name,
				       cli->exec.path ? "" : " (--exec FILE names the program)");
		snprintf(addr, sizeof(addr), "0x%" PRIx64, symbol->addr);
		if (!ts_selection_at(o, addr, err))
			return false;
	}
	return true;
}

static bool find_position(struct ts_ask *ask, const char *text, size_t len, uint64_t *pos,
			  struct ts_error *err)
{
	struct ts_ask_place place;

	if (!len)
		return true;
	if (!ts_place_parse(&place, ask, text, len, 0, err))
		return false;
	*pos = place.pos;
	return place.kind == TS_PLACE_POSITION ||
	       ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'%.*s' is not a position", (int)len, text);
}

/* The positions of places: FIRST:LAST, either may be missing. */
static bool select_places(struct ts_selection_options *o, struct ts_ask *ask, const char *places,
			  struct ts_error *err)
{
	const char *colon = strchr(places, ':');

	o->has_positions = true;
	o->first = 0;
	o->last = UINT64_MAX;
	if (!find_position(ask, places, (size_t)(colon - places), &o->first, err) ||
	    !find_position(ask, colon + 1, strlen(colon + 1), &o->last, err))
		return ts_fail_prefix(err, "--positions %s", places);
	return o->first <= o->last ||
	       ts_fail(err, TS_EUSAGE, TS_NO_OFF, "--positions %s: position %" PRIu64 " comes after %" PRIu64,
		       places, o->first, o->last);
}

static bool find_selection(struct ts_selection_options *o, struct ts_query *q, const struct ts_cli *cli,
			   struct ts_error *err)
{
	struct ts_asker asker;
	bool done;

	*o = cli->selection;
	if (!cli->n_at_symbols && !cli->places)
		return true;
	done = ts_asker_init(&asker, q, cli, err) && select_symbols(o, asker.symbols, cli, err) &&
	       (!cli->places || select_places(o, &asker.ask, cli->places, err));
	ts_asker_fini(&asker);
	return done;
}

/* ------------------------------------------------------------------------------------- lines of text */

static bool write_lines(struct ts_query *q, enum ts_listing_form form, const struct ts_selection_options *o,
			const struct ts_cli *cli, struct ts_error *err)
{
	uint64_t first = o->has_positions ? o->first : 0, last = o->has_positions ? o->last : UINT64_MAX;
	struct ts_listing *l = ts_listing_new(q, form, cli->output, first, last, err);
	uint64_t end = last < ts_query_end(q) ? last : ts_query_end(q);
	struct ts_meter meter;
	enum ts_next next;

	if (!l)
		return false;
	ts_meter_init(&meter, cli, cli->output, "exporting", "positions");
	ts_interrupt_catch();
	do {
		next = ts_listing_run(l, FRAMES_A_TURN, err);
		ts_meter_show(&meter, (double)(ts_listing_done(l) - first) / (double)(end - first + 1),
			      ts_listing_done(l) - first);
	} while (next == TS_MORE && !ts_is_interrupted());
	ts_meter_clear(&meter);
	if (next == TS_END && ts_listing_lost(l)->n_left_out)
		ts_log(TS_LOG_WARN, "%" PRIu64 " writes are too long for a line and are omitted: readers see the earlier bytes",
		       ts_listing_lost(l)->n_left_out);
	if (next == TS_END && ts_listing_lost(l)->n_unmapped)
		ts_log(TS_LOG_WARN, "%" PRIu64 " times memory was mapped, was unmapped or became unknown, which the form cannot express: readers see the earlier bytes",
		       ts_listing_lost(l)->n_unmapped);
	if (next == TS_END && form != TS_LISTING_CSV && ts_listing_lost(l)->n_forgotten)
		ts_log(TS_LOG_WARN, "%" PRIu64 " times a register became unknown, which the form cannot express: readers see the earlier value",
		       ts_listing_lost(l)->n_forgotten);
	if (next == TS_END)
		say_written(cli, ts_listing_done(l) - first, "positions");
	ts_listing_free(l);
	end_writing(cli, next, "");
	return next == TS_END;
}

/* ---------------------------------------------------------------------------------------------- calls */

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

static enum ts_next write_calls(struct ts_call_file *f, const struct ts_cli *cli, struct ts_error *err)
{
	struct ts_meter meter;
	enum ts_next next;

	ts_meter_init(&meter, cli, cli->output, "exporting", "calls");
	ts_interrupt_catch();
	do {
		next = ts_call_file_run(f, FRAMES_A_TURN, err);
		ts_meter_show(&meter, TS_NO_SHARE, ts_call_file_n_calls(f));
	} while (next == TS_MORE && !ts_is_interrupted());
	ts_meter_clear(&meter);
	if (next == TS_END && ts_call_file_n_deeper(f))
		ts_log(TS_LOG_WARN, "%" PRIu64 " instructions were executed below %u calls: their frame is \"...\"",
		       ts_call_file_n_deeper(f), TS_MAX_FOLDED);
	if (next == TS_END)
		say_written(cli, ts_call_file_n_calls(f), "calls");
	return next;
}

static bool is_selected(const struct ts_cli *cli)
{
	return cli->selection.has_positions || cli->selection.has_collect || cli->selection.n_at || cli->n_at_symbols ||
	       cli->places;
}

static enum ts_status export_calls(struct ts_query *q, enum ts_call_form form, const struct ts_cli *cli)
{
	struct ts_call_file *f;
	struct ts_asker asker;
	enum ts_next next = TS_FAIL;
	struct ts_error err = { 0 };

	if (is_selected(cli)) {
		ts_fail(&err, TS_EUSAGE, TS_NO_OFF,
			"calls are exported of the whole recording: without --positions, --at and --collect");
		return ts_report_failure(NULL, &err);
	}
	if (ts_asker_init(&asker, q, cli, &err)) {
		f = ts_call_file_new(q, form,
				     &(struct ts_call_names){ function_at, number_of_thread, number_of_process, &asker.ask },
				     cli->output, &err);
		next = f ? write_calls(f, cli, &err) : TS_FAIL;
		ts_call_file_free(f);
	}
	ts_asker_fini(&asker);
	end_writing(cli, next, "");
	return next == TS_END ? TS_STATUS_OK : ts_report_failure(cli->output, &err);
}

/* ------------------------------------------------------------------------------------------ which form */

/* Does the command line select calls, with --as or the name of the file? */
static bool is_call_form(const struct ts_cli *cli, enum ts_call_form *form)
{
	if (cli->form)
		return ts_call_form_find(cli->form, form);
	*form = TS_CALLS_FOLDED;
	return ts_has_suffix(cli->output, ".folded");
}

/* By --as, or by the name of the file.  *is_frames: it is a trace file of gdb. */
static bool choose_form(const struct ts_cli *cli, enum ts_listing_form *form, bool *is_frames, struct ts_error *err)
{
	bool is_plus = ts_has_suffix(cli->output, ".tenet") || ts_has_suffix(cli->output, ".trace");

	*is_frames = cli->form ? !strcmp(cli->form, "tfile") : !is_plus && !ts_has_suffix(cli->output, ".csv");
	if (!cli->form)
		*form = is_plus ? TS_LISTING_TENETPP : TS_LISTING_CSV;
	if (!cli->form || *is_frames || ts_listing_find(cli->form, form))
		return true;
	return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "--as %s: the forms are tfile, tenet, tenetpp, execlog, csv, folded and chrome",
		       cli->form);
}

enum ts_status ts_run_export(struct ts_model *m, const struct ts_cli *cli)
{
	enum ts_listing_form form;
	enum ts_call_form calls;
	bool is_frames;
	struct ts_query *q = ts_model_query(m);
	struct ts_selection_options selected;
	struct ts_selection s;
	struct ts_error err = { 0 };

	if (is_call_form(cli, &calls))
		return export_calls(q, calls, cli);
	if (!choose_form(cli, &form, &is_frames, &err) || !find_selection(&selected, q, cli, &err))
		return ts_report_failure(NULL, &err);
	if (!is_frames)
		return write_lines(q, form, &selected, cli, &err) || err.code == TS_OK ? TS_STATUS_OK : ts_report_failure(cli->output, &err);
	if (!ts_selection_init(&s, q, &selected, &err)) {
		ts_selection_fini(&s);
		return ts_report_failure(cli->trace, &err);
	}
	if (write_frames(q, &s, cli, &err))
		say_written(cli, s.frames.n_frames, "frames");
	ts_selection_fini(&s);
	return err.code == TS_OK ? TS_STATUS_OK : ts_report_failure(NULL, &err);
}
