/* SPDX-License-Identifier: MIT */
#include "serve.h"

#include <stdio.h>
#include <string.h>

#include "debugger.h"
#include "protocol/server/server.h"
#include "reading.h"
#include "report.h"
#include "src/query/query.h"

/* What is served, and by which options. */
struct service {
	struct ts_model *model;
	const struct ts_cli *cli;
};

static bool read_on(void *user)
{
	const struct service *s = user;

	return ts_read_on(s->model, s->cli);
}

static int serve(struct service *s, const char *comm, void (*ready)(void *user, const char *address),
		 void *user)
{
	const struct ts_cli *cli = s->cli;
	struct ts_query *q = ts_model_query(s->model);
	const struct rsp_server_options opt = {
		.comm = comm,
		.exec = cli->exec.path,
		.has_local_files = !cli->sysroot,
		.exec_base = cli->exec.has_base ? &cli->exec.base : NULL,
		.arch = cli->arch ? ts_arch_find(cli->arch) : NULL,
		.trace = cli->trace,
		.export_dir = cli->export_dir,
		.max_memory = cli->max_memory,
		.grow = ts_query_is_complete(q) ? NULL : read_on,
		.grow_user = s,
		.is_once = cli->is_once,
		.ready = ready,
		.user = user,
	};
	struct ts_error err;

	ts_error_reset(&err);
	return rsp_server_run(q, &opt, &err) ? TS_STATUS_OK : ts_report_failure(NULL, &err);
}

static void say_listening(void *user, const char *address)
{
	(void)user;
	if (strcmp(address, "-"))
		fprintf(stderr, "Listening on %s\n", address);
}

int ts_run_serve(struct ts_model *m, const struct ts_cli *cli)
{
	struct service s = { m, cli };

	return serve(&s, cli->comm, say_listening, NULL);
}

static int serve_debugger(void *user, const char *path, void (*ready)(void *ready_user, const char *path),
		     void *ready_user)
{
	return serve(user, path, ready, ready_user);
}

int ts_run_debugger(struct ts_model *m, const struct ts_cli *cli)
{
	struct service s = { m, cli };
	const struct ts_debugger_options opt = {
		.is_lldb = cli->command == TS_CMD_LLDB,
		.arch = ts_query_regset(ts_model_query(m))->arch,
		.exec = cli->exec.path,
		.args = cli->gdb_args,
		.serve = serve_debugger,
		.user = &s,
	};
	struct ts_error err;
	int status;

	ts_error_reset(&err);
	ts_model_rest(m); /* the server goes on in a process of its own */
	status = ts_debugger_run(&opt, &err);
	return status < 0 ? (int)ts_report_failure(NULL, &err) : status;
}
