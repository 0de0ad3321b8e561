/* SPDX-License-Identifier: MIT */
#include "asker.h"

#include <stdlib.h>

#include "src/ask/grammar/machine.h"
#include "src/program/cli/report.h"
#include "src/program/open/kept.h"
#include "src/program/open/opening.h"
#include "src/symbols/find_symbols.h"

static bool find_symbols(const struct ts_asker *a, struct ts_symbols *symbols, struct ts_local_files *local,
			 struct ts_error *err)
{
	const struct ts_cli *cli = a->cli;
	struct ts_symbols_file images[TS_MAX_IMAGES];
	const struct ts_symbols_file names = { cli->names.path, cli->names.has_base ? &cli->names.base : NULL };
	const struct ts_symbols_places places = {
		.images = images,
		.n_images = cli->n_images,
		.names = names.path ? &names : NULL,
		.exec = cli->exec.path,
		.base = cli->exec.has_base ? &cli->exec.base : NULL,
		.local = cli->sysroot ? NULL : local,
		.process = cli->has_process ? &cli->process : NULL,
	};

	for (unsigned i = 0; i < cli->n_images; i++)
		images[i] = (struct ts_symbols_file){ cli->images[i].path,
						      cli->images[i].has_base ? &cli->images[i].base : NULL };
	if (cli->has_process && !ts_machine_check_process(a->ask.q, cli->process, err))
		return false;
	return ts_find_symbols(symbols, a->ask.q, &places, err);
}

bool ts_asker_init(struct ts_asker *a, struct ts_query *q, const struct ts_cli *cli, struct ts_error *err)
{
	*a = (struct ts_asker){ .cli = cli };
	a->marks = ts_marks_new(cli->trace);
	a->symbols = ts_symbols_new();
	ts_local_files_init(&a->local, q);
	a->local.packed = cli->libraries;
	a->local.n_packed = cli->n_libraries;
	a->local.debug = cli->debug;
	a->local.n_debug = cli->n_debug;
	a->local.kept = ts_kept_find(cli->trace, a->kept) ? a->kept : NULL;
	if (!a->marks || !a->symbols)
		return ts_no_memory(err, "a question");
	a->ask = (struct ts_ask){ .q = q,
				  .names = &a->names,
				  .process_names = cli->process_names,
				  .marks = a->marks,
				  .symbols = a->symbols,
				  .n_steps = ts_query_end(q),
				  .is_reading = !ts_query_is_complete(q) };
	return ts_names_init(&a->names, q, err) && find_symbols(a, a->symbols, &a->local, err);
}

bool ts_asker_refresh(struct ts_asker *a, struct ts_error *err)
{
	struct ts_symbols *symbols = ts_symbols_new();
	struct ts_names names = { 0 };

	if (!symbols)
		return ts_no_memory(err, "symbols");
	if (!ts_names_init(&names, a->ask.q, err) || !find_symbols(a, symbols, &a->local, err)) {
		ts_symbols_free(symbols);
		ts_names_fini(&names);
		return false;
	}
	ts_names_fini(&a->names);
	ts_symbols_free(a->symbols);
	a->names = names;
	a->symbols = a->ask.symbols = symbols;
	return true;
}

void ts_asker_fini(struct ts_asker *a)
{
	ts_names_fini(&a->names);
	ts_local_files_fini(&a->local);
	ts_symbols_free(a->symbols);
	ts_marks_free(a->marks);
	free(a->ask.shown);
}

/* ---------------------------------------------------------------------- one of several recordings */

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
