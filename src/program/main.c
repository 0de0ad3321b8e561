/* SPDX-License-Identifier: MIT */
/*
 * The program: parses the command line, opens the trace, and runs one command.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/log.h"
#include "src/index/keys/trace_keys.h"
#include "src/model/model.h"
#include "src/program/ask/sql_prompt.h"
#include "src/program/cli/interrupt.h"
#include "src/program/cli/cli.h"
#include "src/program/cli/cli_commands.h"
#include "src/program/cli/files.h"
#include "src/program/cli/report.h"
#include "src/program/cli/thread_logs.h"
#include "src/program/debug/debugger.h"
#include "src/program/debug/serve.h"
#include "src/program/open/kept.h"
#include "src/program/open/opening.h"
#include "src/program/open/processes.h"

/* The other trace of a comparison, opened with the same options; --index names the first one's. */
static int compare(struct ts_model *m, const struct ts_cli *cli)
{
	struct ts_cli other = *cli;
	struct ts_opened o = { 0 };
	enum ts_status status;
	int result = TS_STATUS_TROUBLE;

	other.trace = cli->trace2;
	if (other.index && strcmp(other.index, "none"))
		other.index = NULL;
	if (ts_opened_init(&o, &other, &status) && ts_read_recording(o.model, &other, &status))
		result = ts_run_diff(m, o.model, cli);
	ts_opened_fini(&o);
	return result;
}

/* @service: of commands with clients, else NULL. */
static int run_command(struct ts_model *m, const struct ts_cli *cli, struct ts_service *service)
{
	switch (cli->command) {
	case TS_CMD_SERVE:
	case TS_CMD_GDB:
	case TS_CMD_LLDB:
	case TS_CMD_DAP:
		return ts_service_run(service, m, cli);
	case TS_CMD_INFO:
		return ts_run_info(m, cli);
	case TS_CMD_INDEX:
		return ts_run_index(m, cli);
	case TS_CMD_EXPORT:
		return ts_run_export(m, cli);
	case TS_CMD_DIFF:
		return cli->against ? ts_run_against(m, cli) : compare(m, cli);
	case TS_CMD_PLOT:
		return ts_run_plot(ts_model_query(m), cli);
	case TS_CMD_PACK:
		return (int)ts_run_pack(m, cli);
	case TS_CMD_UNPACK: /* reads no trace */
	case TS_CMD_RECORD: /* makes a trace */
	case TS_CMD_MCP: /* opens its traces itself */
	case TS_CMD_SQL: /* as that does */
		break;
	case TS_CMD_QUERY:
		return ts_run_query(ts_model_query(m), cli);
	}
	abort();
}

/* Some commands have a status of their own for a trace that cannot be read. */
static int unreadable(const struct ts_cli *cli, enum ts_status status)
{
	if (status == TS_STATUS_FAILED && (cli->command == TS_CMD_QUERY || cli->command == TS_CMD_SQL))
		return TS_STATUS_UNREADABLE;
	if (status == TS_STATUS_FAILED && cli->command == TS_CMD_DIFF)
		return TS_STATUS_TROUBLE;
	return (int)status;
}

/* Does the command show symbols? */
static bool needs_program(const struct ts_cli *cli)
{
	return ts_cli_is_server(cli) || cli->command == TS_CMD_QUERY ||
	       cli->command == TS_CMD_PLOT || cli->command == TS_CMD_DIFF ||
	       cli->command == TS_CMD_EXPORT || cli->command == TS_CMD_PACK;
}

/*
 * What was answered of a recording that the system did not let be read to its end is not all.  Damage of the
 * recording itself is a warning only: all that there is was read.
 */
static int check_reading(struct ts_model *m, const struct ts_cli *cli, int result)
{
	struct ts_error why;

	return !result && ts_query_is_abandoned(ts_model_query(m), &why) ? unreadable(cli, TS_STATUS_FAILED) : result;
}

static int run_on_trace(const struct ts_cli *cli, struct ts_service *service)
{
	enum ts_status status;
	char *program = NULL;
	struct ts_opened o;
	int result;

	if (ts_opened_init(&o, cli, &status) && ts_read_recording(o.model, cli, &status)) {
		ts_beside_check(&o.cli, ts_model_query(o.model));
		if (needs_program(cli))
			program = ts_beside_find(&o.cli, ts_model_query(o.model));
		result = check_reading(o.model, cli, run_command(o.model, &o.cli, service));
	} else {
		result = unreadable(cli, status);
	}
	ts_opened_fini(&o);
	free(program);
	return result;
}

/*
 * The status of a question to several recordings, some of which had the statuses @a and @b: trouble before a question that
 * one of them did not understand, before rows, before none.
 */
static int worse_answer(int a, int b)
{
	static const int order[] = { TS_STATUS_UNREADABLE, TS_STATUS_USAGE, TS_STATUS_OK };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (a == order[i] || b == order[i])
			return order[i];
	}
	return TS_STATUS_NO_ROWS;
}

/*
 * One trace after the other, each with its threads as if it were alone; the facts of several are one JSON
 * list. Returns the first status that is not 0; of a question worse_answer().
 */
static int run_on_traces(const struct ts_cli *cli)
{
	bool is_several = cli->n_traces > 1 &&
			  1 + ts_cli_count_threads(cli->traces, cli->n_traces) < cli->n_traces;
	bool has_shown = false, is_asked = cli->names_recordings;
	int result = is_asked ? TS_STATUS_NO_ROWS : 0;

	for (size_t i = 0; i < cli->n_traces;) {
		struct ts_cli one = ts_cli_of_trace(cli, i);
		int status;

		i += 1 + one.n_threads;
		one.has_shown = is_several || is_asked ? &has_shown : NULL;
		status = run_on_trace(&one, NULL);
		result = is_asked ? worse_answer(result, status) : result ? result : status;
	}
	if (is_several && cli->is_json && !is_asked)
		puts(has_shown ? "]" : "[]");
	return result;
}

static int serve(const struct ts_cli *cli, const struct ts_service_options *opt)
{
	enum ts_status status;
	struct ts_service *service = ts_service_new(opt, &status);
	int result;

	if (!service)
		return (int)status;
	result = ts_confine(cli, ts_service_socket(service)) ? run_on_trace(cli, service) : TS_STATUS_FAILED;
	ts_service_free(service);
	return result;
}

static int serve_debugger(void *user, const char *path,
			  void (*ready)(void *ready_user, const struct ts_served *served),
			  void *ready_user)
{
	return serve(user, &(struct ts_service_options){ path, ready, ready_user });
}

/*
 * May it be a packed recording, which brings its libraries along?  Those of this machine may be others.  More than the
 * first bytes is not examined here, outside of the sandbox.
 */
static bool may_be_packed(const char *trace)
{
	static const uint8_t zstd[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	uint8_t head[4] = { 0 };
	int fd = open(trace, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is_it = fd >= 0 && pread(fd, head, 4, 0) == 4 && !memcmp(head, zstd, 4);

	if (fd >= 0)
		close(fd);
	return is_it;
}

/* Only bytes are compared, outside of the sandbox. */
static bool has_other_libraries(const char *trace)
{
	char folder[2 * PATH_MAX];

	return ts_kept_find(trace, folder) && ts_kept_is_needed(folder);
}

static int run_debugger(struct ts_cli *cli)
{
	bool has_others = cli->has_other_libraries = has_other_libraries(cli->trace);
	const struct ts_debugger_options opt = {
		.kind = cli->command == TS_CMD_LLDB ? TS_DEBUGGER_LLDB
			: cli->command == TS_CMD_DAP ? TS_DEBUGGER_DAP : TS_DEBUGGER_GDB,
		.has_sysroot = cli->sysroot != NULL || has_others || may_be_packed(cli->trace),
		.args = cli->gdb_args,
		.serve = serve_debugger,
		.user = cli,
	};
	struct ts_error err = { 0 };
	int status;

	status = ts_debugger_run(&opt, &err);
	return status < 0 ? (int)ts_report_failure(NULL, &err) : status;
}

/* Is what the command makes for the reader of its output only? */
static bool is_for_output(const struct ts_cli *cli)
{
	return cli->command == TS_CMD_QUERY || cli->command == TS_CMD_INFO || cli->command == TS_CMD_DIFF ||
	       (cli->command == TS_CMD_SQL && !cli->save);
}

/* The commands that read recordings and have no clients. */
static int run_confined(const struct ts_cli *cli)
{
	if (is_for_output(cli))
		ts_interrupt_watch_output();
	if (!ts_confine(cli, NULL))
		return unreadable(cli, TS_STATUS_FAILED);
	if (cli->command == TS_CMD_UNPACK)
		return (int)ts_run_unpack(cli);
	if (cli->command == TS_CMD_MCP)
		return (int)ts_run_mcp(cli);
	if (cli->command == TS_CMD_SQL)
		return ts_run_sql(cli);
	if (cli->segment)
		return (int)ts_run_part(cli);
	return cli->against ? run_on_trace(cli, NULL) : run_on_traces(cli);
}

/* The key of --index-key, before anything is signed.  Returns false if it cannot be used: *status says how to exit. */
static bool share_key(const struct ts_cli *cli, int *status)
{
	struct ts_error err = { 0 };

	if (!cli->index_key || ts_trace_keys_share(cli->index_key, &err))
		return true;
	ts_fail_prefix(&err, "--index-key %s", cli->index_key);
	*status = unreadable(cli, ts_report_failure(NULL, &err));
	return false;
}

static int run(struct ts_cli *cli)
{
	int status;

	if (!share_key(cli, &status))
		return status;
	switch (cli->command) {
	case TS_CMD_RECORD:
		return ts_run_record(cli);
	case TS_CMD_SERVE:
		return serve(cli, &(struct ts_service_options){ .comm = cli->comm });
	case TS_CMD_GDB:
	case TS_CMD_LLDB:
	case TS_CMD_DAP:
		status = ts_folder_choose(cli);
		return status ? status : run_debugger(cli);
	case TS_CMD_INFO:
		return ts_processes_is_folder(cli->trace) ? ts_run_folder_info(cli) : run_confined(cli);
	default:
		return ts_prompt_sql(cli, &status) ? status : run_confined(cli);
	}
}

/* Writing the rest of stdout may fail, too. */
static int finish(const struct ts_cli *cli, int result)
{
	struct ts_error err = { 0 };

	if (result || (!fflush(stdout) && !ferror(stdout)))
		return result;
	ts_fail_errno(&err, "cannot write to stdout");
	return unreadable(cli, ts_report_failure(NULL, &err));
}

/*
 * A descriptor that was closed when the program started would be given to a file, and what is written to stdout would
 * go there.  One of the wrong direction takes its place: reading or writing fails, as it would have.
 */
static void open_standard(void)
{
	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			return; /* the lowest that is free is fd */
	}
}

/* A file that may not get longer (ulimit -f) is an error like a full disk.  Programs that are started do not inherit it. */
static void on_long_file(int)
{
}

int main(int argc, char **argv)
{
	enum ts_status status;
	struct ts_cli cli;
	int result;

	open_standard();
	signal(SIGXFSZ, on_long_file);
	if (ts_cli_parse(&cli, argc, argv, &status) && ts_opening_knows_format(&cli) &&
	    ts_files_is_arch(cli.arch) && ts_opening_is_no_folder(&cli, &status)) {
		ts_log_set_level(cli.level);
		result = run(&cli);
	} else {
		result = (int)status;
	}
	result = finish(&cli, result);
	ts_cli_fini(&cli);
	return result;
}
