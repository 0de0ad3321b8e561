/* SPDX-License-Identifier: MIT */
/*
 * A command's sandbox: the files that its command line names, and tracestub's own files of the user.
 */
#include "opening.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packed.h"
#include "src/base/cache_dir.h"
#include "src/base/log.h"
#include "src/index/keys/trace_keys.h"
#include "src/program/cli/thread_logs.h"
#include "src/sandbox/sandbox.h"

/* The path of a rule is made of two parts. */
static void allow_joined(struct ts_sandbox_rules *rules, enum ts_rule_kind kind, const char *folder, const char *name)
{
	char *path;

	if (asprintf(&path, "%s%s", folder, name) < 0) {
		rules->is_failed = true;
		return;
	}
	ts_sandbox_allow(rules, kind, path);
	free(path);
}

/* A file beside a trace, by its suffix. */
static void allow_beside(struct ts_sandbox_rules *rules, const char *trace, const char *suffix)
{
	allow_joined(rules, TS_RULE_BESIDE, trace, suffix);
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

/* The index and the marks of the trace, where they cannot lie beside it. */
static void allow_cached(struct ts_sandbox_rules *rules, const char *trace, bool is_real)
{
	char path[PATH_MAX];

	if (!ts_cache_dir_name(trace, is_real, path))
		return;
	allow_beside(rules, path, ".tsindex");
	allow_beside(rules, path, ".tsmarks");
}

/* What this trace has in the cache directory; what others have there may be removed if it is not used for longest. */
static void allow_cache_of(struct ts_sandbox_rules *rules, const char *folder, const char *trace)
{
	struct ts_trace_keys keys;
	struct ts_error ignored = { 0 };

	allow_cached(rules, trace, true);
	allow_cached(rules, trace, false);
	if (ts_trace_keys(trace, &keys, &ignored))
		allow_joined(rules, TS_RULE_KEPT, folder, keys.tag);
	explicit_bzero(&keys, sizeof(keys));
}

static void allow_cache(struct ts_sandbox_rules *rules, const struct ts_cli *cli)
{
	char folder[PATH_MAX + 1];

	if (!ts_cache_dir(folder))
		return;
	ts_sandbox_allow(rules, TS_RULE_TEMPORARY, folder);
	strcat(folder, "/");
	allow_cache_of(rules, folder, cli->trace);
	for (size_t i = 1; i < cli->n_traces; i++)
		allow_cache_of(rules, folder, cli->traces[i]);
	if (cli->trace2)
		allow_cache_of(rules, folder, cli->trace2);
	allow_joined(rules, TS_RULE_SPARE, folder, ".unpacked");
	allow_joined(rules, TS_RULE_SPARE, folder, ".program");
	allow_joined(rules, TS_RULE_SPARE, folder, ".origin");
}

static void allow_files(struct ts_sandbox_rules *rules, const struct ts_cli *cli)
{
	const char *tmp = getenv("TMPDIR");

	allow_traces(rules, cli);
	if (cli->statements && strcmp(cli->statements, "-") != 0)
		ts_sandbox_allow(rules, TS_RULE_READ, cli->statements);
	ts_sandbox_allow(rules, TS_RULE_WRITE, cli->save);
	ts_sandbox_allow(rules, TS_RULE_READ, cli->exec.path);
	ts_sandbox_allow(rules, TS_RULE_READ, cli->grammar);
	ts_sandbox_allow(rules, TS_RULE_READ, cli->names.path);
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
	if (cli->command == TS_CMD_QUERY)
		allow_written(rules, cli->question);
	allow_cache(rules, cli);
	ts_sandbox_allow(rules, TS_RULE_FOLDER, cli->export_dir);
	ts_sandbox_allow(rules, TS_RULE_TEMPORARY, tmp && *tmp == '/' ? tmp : "/tmp");
	if (cli->command == TS_CMD_MCP)
		ts_sandbox_allow(rules, TS_RULE_SOURCES, NULL);
	ts_sandbox_allow(rules, cli->sysroot ? TS_RULE_ROOT : TS_RULE_IMAGES, cli->sysroot);
}

/* Do what needs the user's secret, and make the directory: neither is possible inside the sandbox. */
static void make_cache(struct ts_sandbox_rules *rules, const struct ts_cli *cli)
{
	const char *const others[] = { cli->trace, cli->trace2 };
	char folder[PATH_MAX];

	if (ts_cache_dir(folder))
		ts_cache_dir_make(folder);
	if (!ts_trace_keys_prepare(others, 2) || !ts_trace_keys_prepare((const char *const *)cli->traces, cli->n_traces))
		rules->is_failed = true;
}

bool ts_confine(const struct ts_cli *cli, const char *socket)
{
	struct ts_sandbox_rules rules = { 0 };
	bool has_landlock = false, done;
	struct ts_error err = { 0 };

	if (cli->has_no_sandbox) {
		ts_log(TS_LOG_WARN,
		       "--no-sandbox: a fault in reading a hostile recording could reach this user's files");
		return true;
	}
	make_cache(&rules, cli);
	allow_files(&rules, cli);
	ts_sandbox_allow(&rules, TS_RULE_REMOVE, socket);
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
