/* SPDX-License-Identifier: MIT */
#include "confine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packed.h"
#include "src/base/cache_dir.h"
#include "src/base/log.h"
#include "src/sandbox/sandbox.h"

/* A file beside a trace, by its suffix. */
static void allow_beside(struct ts_sandbox_rules *rules, const char *trace, const char *suffix)
{
	char *path;

	if (asprintf(&path, "%s%s", trace, suffix) < 0) {
		rules->is_failed = true;
		return;
	}
	ts_sandbox_allow(rules, TS_RULE_BESIDE, path);
	free(path);
}

static void allow_images_of(struct ts_sandbox_rules *rules, const char *trace)
{
	char *path = ts_cli_images_of(trace);

	rules->is_failed |= !path && ts_cli_thread_number(trace);
	ts_sandbox_allow(rules, TS_RULE_SEE, path);
	free(path);
}

static void allow_trace(struct ts_sandbox_rules *rules, const struct ts_cli *cli, const char *trace)
{
	ts_sandbox_allow(rules, TS_RULE_READ, trace);
	allow_images_of(rules, trace);
	allow_beside(rules, trace, ".tsmarks");
	if (!cli->index)
		allow_beside(rules, trace, ".tsindex");
}

static void allow_traces(struct ts_sandbox_rules *rules, const struct ts_cli *cli)
{
	allow_trace(rules, cli, cli->trace);
	for (size_t i = 0; i < cli->n_threads; i++)
		ts_sandbox_allow(rules, TS_RULE_READ, cli->threads[i]);
	for (size_t i = 1; i < cli->n_traces; i++)
		allow_trace(rules, cli, cli->traces[i]);
	if (cli->trace2) {
		allow_trace(rules, cli, cli->trace2);
		allow_beside(rules, cli->trace2, ".tsindex");
	}
}

/* The files that a question writes: --lcov FILE, --drcov FILE. */
static void allow_written(struct ts_sandbox_rules *rules, const char *question)
{
	char *words = question ? strdup(question) : NULL, *save = NULL;
	bool is_file = false;

	rules->is_failed |= question && !words;
	for (char *w = words ? strtok_r(words, " ", &save) : NULL; w; w = strtok_r(NULL, " ", &save)) {
		if (is_file)
			ts_sandbox_allow(rules, TS_RULE_WRITE, w);
		is_file = !strcmp(w, "--lcov") || !strcmp(w, "--drcov");
	}
	free(words);
}

static void allow_files(struct ts_sandbox_rules *rules, const struct ts_cli *cli)
{
	const char *tmp = getenv("TMPDIR");
	char cache[PATH_MAX];

	allow_traces(rules, cli);
	ts_sandbox_allow(rules, TS_RULE_READ, cli->exec.path);
	for (unsigned i = 0; i < cli->n_images; i++)
		ts_sandbox_allow(rules, TS_RULE_READ, cli->images[i].path);
	if (cli->index && strcmp(cli->index, "none"))
		ts_sandbox_allow(rules, TS_RULE_WRITE, cli->index);
	if (cli->command == TS_CMD_UNPACK && ts_is_folder(cli->output))
		ts_sandbox_allow(rules, TS_RULE_FOLDER, cli->output);
	else if (cli->output && strcmp(cli->output, "-"))
		ts_sandbox_allow(rules, TS_RULE_WRITE, cli->output);
	if (cli->command == TS_CMD_UNPACK)
		allow_beside(rules, cli->output, ".tsmarks");
	allow_written(rules, cli->question);
	if (ts_cache_dir(cache))
		ts_sandbox_allow(rules, TS_RULE_FOLDER, cache);
	ts_sandbox_allow(rules, TS_RULE_FOLDER, cli->export_dir);
	ts_sandbox_allow(rules, TS_RULE_TEMPORARY, tmp && *tmp == '/' ? tmp : "/tmp");
	ts_sandbox_allow(rules, cli->sysroot ? TS_RULE_ROOT : TS_RULE_IMAGES, cli->sysroot);
}

bool ts_confine(const struct ts_cli *cli, const char *socket)
{
	struct ts_sandbox_rules rules = { 0 };
	bool has_landlock = false, done;
	struct ts_error err;

	if (cli->has_no_sandbox) {
		ts_log(TS_LOG_WARN,
		       "--no-sandbox: a fault in reading a hostile recording could reach this user's files");
		return true;
	}
	ts_error_reset(&err);
	allow_files(&rules, cli);
	ts_sandbox_allow(&rules, TS_RULE_WRITE, socket);
	done = ts_sandbox_enter(&rules, &has_landlock, &err);
	ts_sandbox_rules_fini(&rules);
	if (done)
		ts_log(TS_LOG_INFO, has_landlock ? "in a sandbox: seccomp and landlock" :
						   "in a sandbox: seccomp; this kernel has no landlock");
	else if (err.code == TS_ENOMEM)
		ts_log(TS_LOG_ERROR, "no sandbox: %s", err.text);
	else
		ts_log(err.code == TS_EUNSUPPORTED ? TS_LOG_INFO : TS_LOG_WARN, "no sandbox: %s", err.text);
	return done || err.code != TS_ENOMEM;
}
