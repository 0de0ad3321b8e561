/* SPDX-License-Identifier: MIT */
#include "serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/server/listen.h"
#include "protocol/server/server.h"
#include "src/ask/grammar/machine.h"
#include "src/program/cli/message.h"
#include "src/program/cli/report.h"
#include "src/program/open/kept.h"
#include "src/program/open/opening.h"
#include "src/query/query.h"
#include "src/symbols/find_symbols.h"

/* Debuggers begin at once. */
#define SILENCE_S 15.

struct ts_service {
	struct ts_service_options opt;
	struct rsp_listener listener;
	struct ts_model *model; /* while it is served */
	const struct ts_cli *cli;
};

struct ts_service *ts_service_new(const struct ts_service_options *opt, enum ts_status *status)
{
	struct ts_service *s = calloc(1, sizeof(*s));
	struct ts_error err = { 0 };

	if (s)
		s->opt = *opt;
	else
		ts_no_memory(&err, "a server");
	if (s && rsp_listen(&s->listener, opt->comm, &err))
		return s;
	free(s);
	*status = ts_report_failure(NULL, &err);
	return NULL;
}

void ts_service_free(struct ts_service *s)
{
	if (s)
		rsp_listener_fini(&s->listener);
	free(s);
}

const char *ts_service_socket(const struct ts_service *s)
{
	return s->listener.unix_path;
}

static bool read_on(void *user)
{
	const struct ts_service *s = user;

	return ts_read_on(s->model, s->cli);
}

/* Read on until the process runs that sessions begin in. */
static bool read_to_process(struct ts_service *s, struct ts_query *q, struct ts_error *err)
{
	const struct ts_filter only = { .has_root = true, .root = s->cli->process };

	if (!ts_machine_check_process(q, s->cli->process, err))
		return false;
	while (ts_query_find_admitted(q, &only, 0, TS_FORWARDS) == TS_NO_POS && !ts_query_is_complete(q) && read_on(s))
		continue;
	return ts_machine_check_process(q, s->cli->process, err);
}

/* gdb reads libraries that are others than this machine's from the server; lldb wants files. */
static bool has_copies(const struct ts_cli *cli)
{
	return cli->command == TS_CMD_LLDB && !cli->sysroot && (cli->n_libraries || cli->has_other_libraries);
}

static void tell_debugger(const struct ts_service *s)
{
	const struct ts_cli *cli = s->cli;
	struct ts_query *q = ts_model_query(s->model);
	struct ts_served served = { ts_query_regset(q)->arch, cli->exec.path, cli->debug, cli->n_debug, NULL };
	struct ts_local_files copies;
	char kept[2 * PATH_MAX];

	ts_local_files_init(&copies, q);
	copies.packed = cli->libraries;
	copies.n_packed = cli->n_libraries;
	copies.kept = ts_kept_find(cli->trace, kept) ? kept : NULL;
	served.copies = has_copies(cli) ? &copies : NULL;
	s->opt.ready(s->opt.user, &served);
	ts_local_files_fini(&copies);
}

static void say_ready(void *user, const char *address)
{
	const struct ts_service *s = user;

	if (s->opt.ready)
		tell_debugger(s);
	else if (strcmp(address, "-"))
		ts_message(stderr, "Listening on %s", address);
}

int ts_service_run(struct ts_service *s, struct ts_model *m, const struct ts_cli *cli)
{
	struct ts_query *q = ts_model_query(m);
	struct ts_symbols_file images[TS_MAX_IMAGES];
	const struct ts_symbols_file names = { cli->names.path, cli->names.has_base ? &cli->names.base : NULL };
	char kept[2 * PATH_MAX];
	bool has_kept = ts_kept_find(cli->trace, kept);
	struct rsp_server_options opt = {
		.listener = &s->listener,
		.exec = cli->exec.path,
		.images = images,
		.n_images = cli->n_images,
		.name_list = names.path ? &names : NULL,
		.process = cli->has_process ? &cli->process : NULL,
		.process_names = cli->process_names,
		.has_local_files = !cli->sysroot,
		.libraries = cli->libraries,
		.n_libraries = cli->n_libraries,
		.debug = cli->debug,
		.n_debug = cli->n_debug,
		.kept = has_kept ? kept : NULL,
		.is_client_local = s->opt.ready && !cli->sysroot && !cli->n_libraries &&
				   !cli->has_other_libraries,
		.exec_base = cli->exec.has_base ? &cli->exec.base : NULL,
		.arch = cli->arch ? ts_arch_find(cli->arch) : NULL,
		.trace = cli->trace,
		.export_dir = cli->export_dir,
		.max_memory = cli->max_memory,
		.max_clients = cli->max_clients,
		.silence_s = SILENCE_S,
		.grow_user = s,
		.is_once = cli->is_once,
		.ready = say_ready,
		.user = s,
	};
	struct ts_error err = { 0 };

	for (unsigned i = 0; i < cli->n_images; i++)
		images[i] = (struct ts_symbols_file){ cli->images[i].path,
						      cli->images[i].has_base ? &cli->images[i].base : NULL };
	s->model = m;
	s->cli = cli;
	if (cli->has_process && !read_to_process(s, q, &err))
		return ts_report_failure(NULL, &err);
	opt.grow = ts_query_is_complete(q) ? NULL : read_on;
	/* NOLINTNEXTLINE(bugprone-narrowing-conversions): statuses are small */
	return rsp_server_run(q, &opt, &err) ? TS_STATUS_OK : ts_report_failure(NULL, &err);
}
