/* SPDX-License-Identifier: MIT */
#include "src/program/cli/cli_commands.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/mcp/mcp.h"
#include "src/program/ask/asker.h"
#include "src/program/cli/report.h"

/* One trace of several. */
struct part {
	struct ts_asked asked;
	char *folders[3]; /* owned; of the program and of the trace, NULL after the last */
};

static bool refresh(void *user, struct ts_error *err)
{
	return ts_asker_refresh(user, err);
}

/* The folder of the file, as an absolute path; NULL if it is not known. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	int len = slash ? (int)(slash - path) : 0;
	char here[PATH_MAX], *folder = NULL;

	if (*path == '/')
		return strndup(path, (size_t)len);
	if (!getcwd(here, sizeof(here)) || asprintf(&folder, "%s%s%.*s", here, len ? "/" : "", len, path) < 0)
		return NULL;
	return folder;
}

static void find_folders(struct part *p, const char *trace)
{
	const char *program = p->asked.opened.cli.exec.path;
	unsigned n = 0;

	if (program && (p->folders[n] = folder_of(program)))
		n++;
	p->folders[n] = folder_of(trace);
}

static bool part_init(struct part *p, const struct ts_cli *cli, const char *trace, struct ts_mcp_recording *r,
		      enum ts_status *status)
{
	struct ts_ask *ask = &p->asked.asker.ask;
	struct ts_cli one = *cli;

	one.trace = trace;
	if (!ts_asked_init(&p->asked, &one, status))
		return false;
	find_folders(p, trace);
	ask->has_here = true;
	ask->here = ask->n_steps;
	ask->folders = (const char *const *)p->folders;
	*r = (struct ts_mcp_recording){
		.path = trace,
		.model = p->asked.opened.model,
		.ask = ask,
		.refresh = refresh,
		.user = &p->asked.asker,
	};
	return true;
}

static void part_fini(struct part *p)
{
	ts_asked_fini(&p->asked);
	free(p->folders[0]);
	free(p->folders[1]);
}

enum ts_status ts_run_mcp(const struct ts_cli *cli)
{
	struct ts_mcp_recording *recordings = calloc(cli->n_traces, sizeof(*recordings));
	struct part *parts = calloc(cli->n_traces, sizeof(*parts));
	enum ts_status status = TS_STATUS_OK;
	struct ts_error err = { 0 };
	size_t n = 0;

	if (!recordings || !parts) {
		ts_fail(&err, TS_ENOMEM, TS_NO_OFF, "no memory for %zu recordings", cli->n_traces);
		status = ts_report_failure(NULL, &err);
	}
	signal(SIGPIPE, SIG_IGN); /* a client that has left is an error of write() */
	while (status == TS_STATUS_OK && n < cli->n_traces &&
	       part_init(&parts[n], cli, cli->traces[n], &recordings[n], &status))
		n++;
	if (status == TS_STATUS_OK && !ts_mcp_serve(recordings, n, STDIN_FILENO, STDOUT_FILENO, &err))
		status = ts_report_failure(NULL, &err);
	for (size_t i = 0; parts && i < cli->n_traces; i++)
		part_fini(&parts[i]);
	free(parts);
	free(recordings);
	return status;
}
