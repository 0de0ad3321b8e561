/* SPDX-License-Identifier: MIT */
/*
 * The program: joins loaders, model and protocol, and runs one command.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "cli.h"
#include "commands.h"
#include "files.h"
#include "guard.h"
#include "loaders/loader.h"
#include "reading.h"
#include "report.h"
#include "serve.h"
#include "src/base/cache_dir.h"
#include "src/base/log.h"
#include "src/model/model.h"
#include "src/query/query.h"
#include "src/trace/unpack.h"

/* A trace on its way to be asked questions. */
struct job {
	struct ts_cli cli;
	struct ts_source *src;  /* owned */
	const struct ts_loader *loader;
	struct ts_model *model; /* owned */
};

/* ------------------------------------------------------------------------------------------ loaders */

static bool is_format_known(const char *name)
{
	if (!name || ts_loader_find(name))
		return true;
	fprintf(stderr, "tracestub: --format %s: the formats are", name);
	for (const struct ts_loader *const *l = ts_loaders; *l; l++)
		fprintf(stderr, "%s %s", l == ts_loaders ? "" : ",", (*l)->name);
	fputc('\n', stderr);
	return false;
}

/* Is it worth while to unpack data that begins like this? */
static bool check_head(void *user, const uint8_t *head, size_t len, struct ts_error *err)
{
	const struct job *job = user;
	struct ts_source *src;
	bool is_known;

	if (job->cli.format)
		return true;
	src = ts_source_from_memory(head, len, job->cli.trace, err);
	is_known = src && ts_loader_probe(src, err);
	ts_source_close(src);
	return is_known;
}

static void show_unpacking(void *user, const struct ts_unpacking *at)
{
	const struct job *job = user;

	if (!job->cli.is_quiet)
		ts_report_unpacking(at);
}

static bool open_source(struct job *job, struct ts_error *err)
{
	char dir[PATH_MAX];
	const struct ts_unpack_options opt = {
		.dir = ts_cache_dir(dir) ? dir : NULL,
		.check = check_head,
		.progress = show_unpacking,
		.user = job,
	};

	job->src = ts_trace_open(job->cli.trace, &opt, err);
	if (job->src)
		job->loader = job->cli.format ? ts_loader_find(job->cli.format) : ts_loader_probe(job->src, err);
	return job->loader != NULL;
}

/* For the model: its recording. */
static struct ts_recording *load(void *user, struct ts_error *err)
{
	const struct job *job = user;
	const struct ts_loader_options opt = { .exec = job->cli.exec.path, .arch = job->cli.arch };
	const struct ts_error *damage = ts_source_damage(job->src);
	struct ts_recording *rec = job->loader->open(job->src, &opt, err);

	if (!rec)
		ts_fail_prefix(err, "%s", job->loader->name);
	else if (damage->code != TS_OK)
		ts_recording_warn(rec, "%.180s; what comes before it is served", damage->text);
	return rec;
}

static bool open_model(struct job *job, enum ts_status *status)
{
	const struct ts_cli *cli = &job->cli;
	const struct ts_model_options opt = {
		.trace = cli->trace,
		.load = load,
		.user = job,
		.sysroot = cli->sysroot,
		.index = { cli->index, cli->command == TS_CMD_INDEX, cli->has_no_reads },
		.max_memory = cli->max_memory,
		.is_served = ts_cli_is_server(cli),
	};
	struct ts_index_facts index;
	struct ts_error err;

	ts_error_reset(&err);
	job->model = ts_model_new(&opt, &err);
	if (job->model && !ts_files_add(job->model, cli, status))
		return false;
	if (!job->model || !open_source(job, &err) || !ts_model_open(job->model, job->src, &err)) {
		*status = ts_report_failure(cli->trace, &err);
		return false;
	}
	index = ts_model_index(job->model);
	if (index.path)
		ts_guard_index(index.path);
	return true;
}

static bool is_readable(const struct job *job)
{
	return job->model && ts_model_query(job->model);
}

static int run_command(struct job *job)
{
	switch (job->cli.command) {
	case TS_CMD_SERVE:
		return ts_run_serve(job->model, &job->cli);
	case TS_CMD_GDB:
		return ts_run_gdb(job->model, &job->cli);
	case TS_CMD_INFO:
		return ts_run_info(job->model, &job->cli);
	case TS_CMD_INDEX:
		return ts_run_index(job->model, &job->cli);
	case TS_CMD_EXPORT:
		return ts_run_export(job->model, &job->cli);
	case TS_CMD_QUERY:
		return ts_ask_run(ts_model_query(job->model), &job->cli);
	}
	abort();
}

int main(int argc, char **argv)
{
	struct job job = { 0 };
	enum ts_status status;
	int result;

	if (ts_cli_parse(&job.cli, argc, argv, &status) && is_format_known(job.cli.format) &&
	    ts_files_is_arch(job.cli.arch)) {
		ts_log_set_level(job.cli.level);
		result = open_model(&job, &status) && ts_read_recording(job.model, &job.cli, &status) ? run_command(&job)
										       : (int)status;
	} else {
		result = (int)status;
	}
	if (job.cli.command == TS_CMD_QUERY && result == TS_STATUS_FAILED && !is_readable(&job))
		result = TS_STATUS_UNREADABLE;
	ts_model_free(job.model);
	ts_source_close(job.src);
	ts_cli_fini(&job.cli);
	return result;
}
