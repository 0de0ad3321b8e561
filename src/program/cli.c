/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "folder_list.h"
#include "newest.h"
#include "picture.h"
#include "message.h"
#include "thread_logs.h"
#include "verb_help.h"
#include "src/ask/diff/diff.h"
#include "src/base/atomic_file.h"
#include "src/base/similar.h"
#include "src/index/index_parts.h"
#include "src/trace/unpack.h"

#define ON(command) (1u << TS_CMD_##command)
#define ON_ALL (ON(SERVE) | ON(GDB) | ON(LLDB) | ON(DAP) | ON(INFO) | ON(INDEX) | ON(EXPORT) | ON(QUERY) | ON(DIFF) | ON(MCP) | ON(PLOT) | ON(PACK) | ON(SQL))

enum option_id {
	OPT_ARCH,
	OPT_AS,
	OPT_AT,
	OPT_BOX,
	OPT_COLLECT,
	OPT_CPU,
	OPT_CSV,
	OPT_EXEC,
	OPT_EXPORT_DIR,
	OPT_FIRST,
	OPT_FOLLOW,
	OPT_FORMAT,
	OPT_FROM,
	OPT_FULL,
	OPT_FUNCTION,
	OPT_GRAMMAR,
	OPT_HELP,
	OPT_IMAGE,
	OPT_IN,
	OPT_INDEX,
	OPT_INDEX_KEY,
	OPT_INDEX_READS,
	OPT_JOBS,
	OPT_JSON,
	OPT_KIND,
	OPT_LAST,
	OPT_LIMIT,
	OPT_LOG,
	OPT_MAX_CLIENTS,
	OPT_MAX_MEMORY,
	OPT_MERGE,
	OPT_MODULE,
	OPT_NO_SANDBOX,
	OPT_NAMES,
	OPT_ONCE,
	OPT_AGAINST,
	OPT_ONLY,
	OPT_POSITIONS,
	OPT_QEMU,
	OPT_QUIET,
	OPT_REBASE,
	OPT_ALL,
	OPT_SAVE,
	OPT_SCAN,
	OPT_SEGMENT,
	OPT_SYSROOT,
	OPT_TSV,
	OPT_UNTIL,
	OPT_VERSION,
	OPT_WITH,
	N_LONG_OPTIONS,
	OPT_OUTPUT = N_LONG_OPTIONS, /* -o */
	OPT_FILE,                    /* -f */
	N_OPTIONS,
};

static const struct option long_options[] = {
	[OPT_ARCH] = { "arch", required_argument, NULL, OPT_ARCH },
	[OPT_AS] = { "as", required_argument, NULL, OPT_AS },
	[OPT_AT] = { "at", required_argument, NULL, OPT_AT },
	[OPT_BOX] = { "box", no_argument, NULL, OPT_BOX },
	[OPT_COLLECT] = { "collect", required_argument, NULL, OPT_COLLECT },
	[OPT_CPU] = { "cpu", required_argument, NULL, OPT_CPU },
	[OPT_CSV] = { "csv", no_argument, NULL, OPT_CSV },
	[OPT_EXEC] = { "exec", required_argument, NULL, OPT_EXEC },
	[OPT_EXPORT_DIR] = { "export-dir", required_argument, NULL, OPT_EXPORT_DIR },
	[OPT_FIRST] = { "first", required_argument, NULL, OPT_FIRST },
	[OPT_FOLLOW] = { "follow", no_argument, NULL, OPT_FOLLOW },
	[OPT_FORMAT] = { "format", required_argument, NULL, OPT_FORMAT },
	[OPT_FROM] = { "from", required_argument, NULL, OPT_FROM },
	[OPT_FULL] = { "full", no_argument, NULL, OPT_FULL },
	[OPT_FUNCTION] = { "function", required_argument, NULL, OPT_FUNCTION },
	[OPT_GRAMMAR] = { "grammar", required_argument, NULL, OPT_GRAMMAR },
	[OPT_HELP] = { "help", no_argument, NULL, OPT_HELP },
	[OPT_IMAGE] = { "image", required_argument, NULL, OPT_IMAGE },
	[OPT_IN] = { "in", required_argument, NULL, OPT_IN },
	[OPT_INDEX] = { "index", required_argument, NULL, OPT_INDEX },
	[OPT_INDEX_KEY] = { "index-key", required_argument, NULL, OPT_INDEX_KEY },
	[OPT_INDEX_READS] = { "index-reads", required_argument, NULL, OPT_INDEX_READS },
	[OPT_JOBS] = { "jobs", required_argument, NULL, OPT_JOBS },
	[OPT_JSON] = { "json", no_argument, NULL, OPT_JSON },
	[OPT_KIND] = { "kind", required_argument, NULL, OPT_KIND },
	[OPT_LAST] = { "last", required_argument, NULL, OPT_LAST },
	[OPT_LIMIT] = { "limit", required_argument, NULL, OPT_LIMIT },
	[OPT_LOG] = { "log", required_argument, NULL, OPT_LOG },
	[OPT_MAX_CLIENTS] = { "max-clients", required_argument, NULL, OPT_MAX_CLIENTS },
	[OPT_MAX_MEMORY] = { "max-memory", required_argument, NULL, OPT_MAX_MEMORY },
	[OPT_MERGE] = { "merge", no_argument, NULL, OPT_MERGE },
	[OPT_MODULE] = { "module", required_argument, NULL, OPT_MODULE },
	[OPT_NO_SANDBOX] = { "no-sandbox", no_argument, NULL, OPT_NO_SANDBOX },
	[OPT_NAMES] = { "names", required_argument, NULL, OPT_NAMES },
	[OPT_ONCE] = { "once", no_argument, NULL, OPT_ONCE },
	[OPT_AGAINST] = { "against", required_argument, NULL, OPT_AGAINST },
	[OPT_ONLY] = { "only", required_argument, NULL, OPT_ONLY },
	[OPT_POSITIONS] = { "positions", required_argument, NULL, OPT_POSITIONS },
	[OPT_QEMU] = { "qemu", required_argument, NULL, OPT_QEMU },
	[OPT_QUIET] = { "quiet", no_argument, NULL, OPT_QUIET },
	[OPT_REBASE] = { "rebase", no_argument, NULL, OPT_REBASE },
	[OPT_ALL] = { "all", no_argument, NULL, OPT_ALL },
	[OPT_SAVE] = { "save", required_argument, NULL, OPT_SAVE },
	[OPT_SCAN] = { "scan", no_argument, NULL, OPT_SCAN },
	[OPT_SEGMENT] = { "segment", required_argument, NULL, OPT_SEGMENT },
	[OPT_SYSROOT] = { "sysroot", required_argument, NULL, OPT_SYSROOT },
	[OPT_TSV] = { "tsv", no_argument, NULL, OPT_TSV },
	[OPT_UNTIL] = { "until", required_argument, NULL, OPT_UNTIL },
	[OPT_VERSION] = { "version", no_argument, NULL, OPT_VERSION },
	[OPT_WITH] = { "with", required_argument, NULL, OPT_WITH },
	[N_LONG_OPTIONS] = { NULL, 0, NULL, 0 },
};

/* Which commands take an option; those that all commands on a trace take have no line. */
static const unsigned option_commands[N_OPTIONS] = {
	[OPT_AS] = ON(EXPORT),
	[OPT_AT] = ON(EXPORT),
	[OPT_BOX] = ON(QUERY) | ON(DIFF) | ON(SQL),
	[OPT_COLLECT] = ON(EXPORT),
	[OPT_CPU] = ON(RECORD),
	[OPT_CSV] = ON(QUERY) | ON(DIFF) | ON(SQL),
	[OPT_EXPORT_DIR] = ON(SERVE) | ON(GDB) | ON(LLDB) | ON(DAP),
	[OPT_FILE] = ON(SQL),
	[OPT_FIRST] = ON(DIFF),
	[OPT_FOLLOW] = ON(RECORD),
	[OPT_FROM] = ON(RECORD),
	[OPT_MODULE] = ON(RECORD),
	[OPT_FULL] = ON(QUERY) | ON(DIFF) | ON(SQL),
	[OPT_FUNCTION] = ON(DIFF),
	[OPT_IN] = ON(PLOT) | ON(DIFF),
	[OPT_JSON] = ON(INFO) | ON(QUERY) | ON(DIFF) | ON(SQL),
	[OPT_KIND] = ON(DIFF),
	[OPT_LAST] = ON(RECORD),
	[OPT_LIMIT] = ON(RECORD),
	[OPT_LOG] = ON_ALL | ON(RECORD) | ON(UNPACK),
	[OPT_MAX_CLIENTS] = ON(SERVE),
	[OPT_MAX_MEMORY] = ON_ALL | ON(RECORD),
	[OPT_MERGE] = ON(INDEX),
	[OPT_NAMES] = ON_ALL,
	[OPT_ONCE] = ON(SERVE),
	[OPT_AGAINST] = ON(DIFF),
	[OPT_ONLY] = ON(DIFF),
	[OPT_OUTPUT] = ON(EXPORT) | ON(PACK) | ON(PLOT) | ON(RECORD) | ON(UNPACK),
	[OPT_POSITIONS] = ON(EXPORT),
	[OPT_QEMU] = ON(RECORD),
	[OPT_QUIET] = ON_ALL | ON(RECORD) | ON(UNPACK),
	[OPT_REBASE] = ON(DIFF),
	[OPT_ALL] = ON(DIFF),
	[OPT_SAVE] = ON(SQL),
	[OPT_SCAN] = ON(SQL),
	[OPT_SEGMENT] = ON(INDEX),
	[OPT_SYSROOT] = ON_ALL | ON(RECORD),
	[OPT_TSV] = ON(QUERY) | ON(DIFF) | ON(SQL),
	[OPT_UNTIL] = ON(RECORD),
	[OPT_WITH] = ON(RECORD),
};

static const struct command {
	const char *name;
	const char *synopsis;
	int n_operands;
	int n_optional; /* operands that may follow those; INT_MAX: any number */
} commands[] = {
	[TS_CMD_SERVE] = { "serve", "COMM TRACE", 2 },
	[TS_CMD_GDB] = { "gdb", "[TRACE [PROG]] [-- GDB-ARGS...]", 0, 2 },
	[TS_CMD_LLDB] = { "lldb", "[TRACE [PROG]] [-- LLDB-ARGS...]", 0, 2 },
	[TS_CMD_DAP] = { "dap", "[TRACE [PROG]] [-- GDB-ARGS...]", 0, 2 },
	[TS_CMD_INFO] = { "info", "TRACE...", 1, INT_MAX },
	[TS_CMD_INDEX] = { "index", "TRACE", 1 },
	[TS_CMD_EXPORT] = { "export", "TRACE -o OUT [--as FORM]", 1 },
	[TS_CMD_QUERY] = { "query", "TRACE VERB ... | TRACE... -- VERB ...", 2 },
	[TS_CMD_SQL] = { "sql", "TRACE... [\"SELECT ...\"] [-f FILE] [--csv|--tsv|--json|--box] [--save OUT.db] [--scan]", 1, 1 },
	[TS_CMD_DIFF] = { "diff", "TRACE TRACE2|--against FOLDER [--only KIND] [--in A:B] [--function PATTERN] [--first N] [--rebase] [--all] [--json]", 1, INT_MAX },
	[TS_CMD_PLOT] = { "plot", "TRACE -o OUT.svg|OUT.html [--in A:B]", 1 },
	[TS_CMD_PACK] = { "pack", "TRACE -o FILE", 1 },
	[TS_CMD_UNPACK] = { "unpack", "FILE -o TRACE", 1 },
	[TS_CMD_MCP] = { "mcp", "TRACE...", 1, INT_MAX },
	[TS_CMD_RECORD] = { "record", "[-o OUT] [--] PROGRAM [ARGS...]", 1, INT_MAX },
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static bool usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static bool usage_error(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ts_message(stderr, "tracestub: %s", text);
	fputs("'tracestub --help' explains\n", stderr);
	return false;
}

/* A misspelt option of getopt's: the one that was meant, if there is a similar one. */
static void suggest_option(const char *arg)
{
	size_t len = strcspn(arg, "=");
	char typed[32];

	if (strncmp(arg, "--", 2) || len - 2 >= sizeof(typed))
		return;
	memcpy(typed, arg + 2, len - 2);
	typed[len - 2] = 0;
	for (unsigned i = 0; i < N_LONG_OPTIONS; i++) {
		if (ts_is_similar(long_options[i].name, typed))
			fprintf(stderr, "tracestub: did you mean '--%s'?\n", long_options[i].name);
	}
}

/* FILE[@BASE]: the last @ separates, if a number follows it. */
static bool parse_file(struct ts_file_option *file, const char *option, const char *arg)
{
	const char *at = strrchr(arg, '@');
	char *end = NULL;

	errno = 0;
	if (at && at[1] >= '0' && at[1] <= '9')
		file->base = strtoull(at + 1, &end, 0);
	file->has_base = end && !*end;
	if (file->has_base && errno)
		return usage_error("%s %s: no address is that large", option, arg);
	free(file->path);
	file->path = file->has_base ? strndup(arg, (size_t)(at - arg)) : strdup(arg);
	return file->path || usage_error("memory is exhausted");
}

static bool add_image(struct ts_cli *cli, const char *arg)
{
	if (cli->n_images == TS_MAX_IMAGES)
		return usage_error("more than %d images", TS_MAX_IMAGES);
	return parse_file(&cli->images[cli->n_images++], "--image", arg);
}

static bool set_index_reads(struct ts_cli *cli, const char *arg)
{
	cli->has_no_reads = !strcmp(arg, "no");
	if (cli->has_no_reads || !strcmp(arg, "yes"))
		return true;
	return usage_error("--index-reads %s: yes or no", arg);
}

/* A number of bytes, or of KiB, MiB, GiB. */
static bool set_size(uint64_t *size, const char *option, const char *arg)
{
	static const char units[] = "KMG";
	char *end;
	unsigned long long n = strtoull(arg, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

	if (*arg < '0' || *arg > '9' || (*end && (!unit || end[1])) || !n || n > UINT64_MAX >> shift)
		return usage_error(
			"%s %s: a size is a number of bytes, or a number followed by K, M or G", option, arg);
	*size = (uint64_t)n << shift;
	return true;
}

/* As many as the descriptors of a process usually allow, and more than people have debuggers. */
#define DEFAULT_MAX_CLIENTS 256u

#define MAX_JOBS 256u

/* A number from 1 to @max. */
static bool set_count(unsigned *count, unsigned max, const char *option, const char *arg)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (*arg < '1' || *arg > '9' || *end || n > max)
		return usage_error("%s %s: a number from 1 to %u", option, arg, max);
	*count = (unsigned)n;
	return true;
}

/* --segment I/N. */
static bool set_segment(struct ts_cli *cli, const char *arg)
{
	char *slash, *end;
	unsigned long i = strtoul(arg, &slash, 10), n = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;

	if (*arg < '1' || *arg > '9' || !n || slash[1] < '1' || slash[1] > '9' || *end || i > n || n > TS_MAX_PARTS)
		return usage_error("--segment %s: I/N, as 2/8: I from 1 to N, N up to %u", arg, TS_MAX_PARTS);
	cli->segment = (unsigned)i;
	cli->n_segments = (unsigned)n;
	return true;
}

/* A symbol's address is looked up when its file is open. */
static bool select_symbol(struct ts_cli *cli, const char *name)
{
	if (cli->n_at_symbols == TS_MAX_SELECTED)
		return usage_error("--at: more than %d symbols", TS_MAX_SELECTED);
	cli->at_symbols[cli->n_at_symbols++] = name;
	return true;
}

/* FIRST:LAST by numbers; marks, percentages and the like are looked up when the recording is open. */
static void select_positions(struct ts_cli *cli, const char *text, struct ts_error *err)
{
	bool is_named = strchr(text, ':') &&
			strpbrk(text, "_%abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

	cli->places = NULL;
	if (ts_selection_positions(&cli->selection, text, err) || !is_named)
		return;
	ts_error_reset(err);
	cli->places = text;
}

/* Which frames to export, and what of them. */
static bool select_frames(struct ts_cli *cli, int id)
{
	struct ts_error err;

	ts_error_reset(&err);
	if (id == OPT_AT && (isalpha((unsigned char)*optarg) || *optarg == '_'))
		return select_symbol(cli, optarg);
	if (id == OPT_AT)
		ts_selection_at(&cli->selection, optarg, &err);
	else if (id == OPT_POSITIONS)
		select_positions(cli, optarg, &err);
	else
		ts_selection_collect(&cli->selection, optarg, &err);
	return err.code == TS_OK || usage_error("--%s: %s", long_options[id].name, err.text);
}

static bool set_place(struct ts_record_place *place, const char *option, const char *arg)
{
	if (ts_record_place_parse(place, arg))
		return true;
	return usage_error("%s %s: a place is FUNC, FILE:LINE, an address (0x...) or SIGUSR1, then perhaps :N for the N-th time",
			   option, arg);
}

static bool add_module(struct ts_cli *cli, const char *pattern)
{
	unsigned n = 0;

	while (cli->modules[n])
		n++;
	if (!*pattern)
		return usage_error("--module: a pattern is missing");
	if (n == TS_MAX_MODULES)
		return usage_error("--module: more than %u patterns", TS_MAX_MODULES);
	cli->modules[n] = pattern;
	return true;
}

static bool set_with(struct ts_cli *cli, const char *name)
{
	if (!strcmp(name, "qemu"))
		cli->with = TS_WITH_QEMU;
	else if (!strcmp(name, "valgrind"))
		cli->with = TS_WITH_VALGRIND;
	else
		return usage_error("--with %s: the engines are qemu and valgrind", name);
	return true;
}

static bool set_kinds(struct ts_cli *cli, const char *arg)
{
	return ts_diff_parse_kinds(arg, &cli->kinds) ||
	       usage_error("--only %s: the kinds are path, register and memory; several are separated by commas", arg);
}

static bool set_option(struct ts_cli *cli, int id)
{
	switch (id) {
	case OPT_ARCH:
		cli->arch = optarg;
		break;
	case OPT_AS:
		cli->form = optarg;
		break;
	case OPT_AT:
	case OPT_COLLECT:
	case OPT_POSITIONS:
		return select_frames(cli, id);
	case OPT_CPU:
		cli->cpu = optarg;
		break;
	case OPT_EXEC:
		if (ts_is_stdin(optarg))
			return usage_error("--exec -: the program is read in parts: save it in a file");
		return parse_file(&cli->exec, "--exec", optarg);
	case OPT_EXPORT_DIR:
		cli->export_dir = optarg;
		break;
	case OPT_FORMAT:
		cli->format = optarg;
		break;
	case OPT_GRAMMAR:
		if (ts_is_stdin(optarg))
			return usage_error("--grammar -: save it in a file");
		cli->grammar = optarg;
		break;
	case OPT_IMAGE:
		return add_image(cli, optarg);
	case OPT_NAMES:
		return parse_file(&cli->names, "--names", optarg);
	case OPT_IN:
		cli->range = optarg;
		break;
	case OPT_INDEX:
		if (!*optarg)
			return usage_error("--index: a path, or none");
		cli->index = optarg;
		break;
	case OPT_INDEX_KEY:
		cli->index_key = optarg;
		break;
	case OPT_INDEX_READS:
		return set_index_reads(cli, optarg);
	case OPT_MAX_CLIENTS:
		return set_count(&cli->max_clients, 65535, "--max-clients", optarg);
	case OPT_JOBS:
		return set_count(&cli->n_jobs, MAX_JOBS, "--jobs", optarg);
	case OPT_MERGE: cli->is_merged = true; break;
	case OPT_SEGMENT: return set_segment(cli, optarg);
	case OPT_MAX_MEMORY:
		return set_size(&cli->max_memory, "--max-memory", optarg);
	case OPT_JSON:
		cli->is_json = true;
		break;
	case OPT_FOLLOW:
		cli->is_following = true;
		break;
	case OPT_FIRST:
		return set_count(&cli->first, UINT_MAX, "--first", optarg);
	case OPT_FULL: cli->is_full = true; break;
	case OPT_FUNCTION:
		cli->function = optarg;
		break;
	case OPT_AGAINST: cli->against = optarg; break;
	case OPT_KIND:
	case OPT_ONLY:
		return set_kinds(cli, optarg);
	case OPT_FROM:
		return set_place(&cli->from, "--from", optarg);
	case OPT_UNTIL:
		return set_place(&cli->until, "--until", optarg);
	case OPT_LAST:
		return set_size(&cli->last, "--last", optarg);
	case OPT_MODULE:
		return add_module(cli, optarg);
	case OPT_LIMIT:
		return set_size(&cli->limit, "--limit", optarg);
	case OPT_LOG:
		if (!ts_log_parse_level(optarg, &cli->level))
			return usage_error("--log %s: a level is error, warn, info, debug or trace", optarg);
		break;
	case OPT_NO_SANDBOX:
		cli->has_no_sandbox = true;
		break;
	case OPT_ONCE:
		cli->is_once = true;
		break;
	case OPT_OUTPUT:
		cli->output = optarg;
		break;
	case OPT_FILE:
		cli->statements = optarg;
		break;
	case OPT_BOX:
	case OPT_CSV:
	case OPT_TSV:
		cli->rows_form = id == OPT_BOX ? TS_FORM_OPTION_BOX : id == OPT_CSV ? TS_FORM_OPTION_CSV : TS_FORM_OPTION_TSV;
		break;
	case OPT_SAVE:
		cli->save = optarg;
		break;
	case OPT_SCAN:
		cli->may_scan = true;
		break;
	case OPT_QEMU:
		cli->qemu = optarg;
		break;
	case OPT_WITH:
		return set_with(cli, optarg);
	case OPT_REBASE: cli->is_rebased = true; break;
	case OPT_ALL: cli->is_all = true; break;
	case OPT_QUIET:
		cli->is_quiet = true;
		cli->level = TS_LOG_ERROR;
		break;
	case OPT_SYSROOT:
		cli->sysroot = optarg;
		break;
	default: /* of commands that come later: their values are not looked at */
		break;
	}
	return true;
}

/* N_COMMANDS: there is no such command. */
static unsigned command_named(const char *name)
{
	unsigned i = 0;

	while (i < N_COMMANDS && strcmp(commands[i].name, name))
		i++;
	return i;
}

static bool find_command(struct ts_cli *cli, const char *name)
{
	unsigned found = command_named(name);

	if (found < N_COMMANDS) {
		cli->command = (enum ts_command)found;
		return true;
	}
	for (unsigned i = 0; i < N_COMMANDS; i++) {
		if (ts_is_similar(commands[i].name, name))
			return usage_error("'%s' is not a command; did you mean '%s'?", name,
					   commands[i].name);
	}
	return usage_error(
		"'%s' is not a command; the commands are serve, gdb, lldb, dap, info, index, export, query, sql, diff, plot, mcp and record",
		name);
}

static bool takes_option(enum ts_command command, unsigned option)
{
	unsigned takers = option_commands[option] ? option_commands[option] : ON_ALL;

	return takers >> command & 1;
}

static bool takes_option_named(const char *command, const char *name, size_t len)
{
	for (unsigned i = 0; i < N_LONG_OPTIONS; i++) {
		if (!strncmp(long_options[i].name, name, len) && !long_options[i].name[len])
			return takes_option(command_named(command), i);
	}
	return false;
}

/* "help", "--help": the page, or what it says of a command. */
static void print_help(const char *command)
{
	if (command && command_named(command) < N_COMMANDS)
		ts_cli_print_help(command, takes_option_named);
	else
		fputs(ts_cli_help, stdout);
}

static bool check_options(const struct ts_cli *cli, uint64_t seen)
{
	const char *command = commands[cli->command].name;

	for (unsigned i = 0; i < N_OPTIONS; i++) {
		if (seen >> i & 1 && !takes_option(cli->command, i))
			return usage_error("'tracestub %s' has no option %s%s", command,
					   i >= N_LONG_OPTIONS ? "" : "--",
					   i == OPT_OUTPUT ? "-o" : i == OPT_FILE ? "-f" : long_options[i].name);
	}
	if (cli->command == TS_CMD_EXPORT && !cli->output)
		return usage_error("'tracestub export' needs -o OUT.tf, -o OUT.tenet, -o OUT.folded, or --as FORM");
	if (cli->last && cli->limit != UINT64_MAX)
		return usage_error("--last keeps the end of a run, --limit its beginning: one of them");
	if (cli->grammar && cli->format)
		return usage_error("--grammar names the format: --format says nothing beside it");
	if (cli->command == TS_CMD_PLOT && (!cli->output || !ts_picture_is_name(cli->output)))
		return usage_error("'tracestub plot' needs -o OUT.svg, or -o OUT.html for a page that zooms");
	if ((cli->command == TS_CMD_PACK || cli->command == TS_CMD_UNPACK) && !cli->output)
		return usage_error("'tracestub %s' needs -o %s", command, cli->command == TS_CMD_PACK ? "FILE" : "TRACE");
	if (cli->segment && cli->is_merged)
		return usage_error("--segment decodes a part, --merge puts all together: one of them");
	if (cli->command == TS_CMD_INDEX && cli->index && !strcmp(cli->index, "none"))
		return usage_error("'tracestub index' builds what --index none does without");
	return true;
}

/* The files of the first trace's other threads.  Returns how many operands they are. */
static int set_threads(struct ts_cli *cli, int n, char **operands)
{
	cli->trace = operands[0];
	cli->threads = operands + 1;
	cli->n_threads = ts_cli_count_threads(operands, (size_t)n);
	return (int)cli->n_threads;
}

static bool is_debugger(const struct ts_cli *cli)
{
	return cli->command == TS_CMD_GDB || cli->command == TS_CMD_LLDB || cli->command == TS_CMD_DAP;
}

/* A trace that comes through the standard input must have it for itself. */
static bool check_stdin(const struct ts_cli *cli)
{
	for (size_t i = 1; i < cli->n_traces; i++) {
		if (ts_is_stdin(cli->traces[i]))
			return usage_error(
				"%s: the standard input cannot be one of several: save the trace in a file",
				cli->traces[i]);
	}
	if (!ts_is_stdin(cli->trace))
		return true;
	if (is_debugger(cli))
		return usage_error("%s: %s needs the standard input: save the trace in a file", cli->trace,
				   commands[cli->command].name);
	if (cli->command == TS_CMD_MCP || cli->n_traces > 1)
		return usage_error(
			"%s: the standard input cannot be one of several, or the client's: save the trace in a file",
			cli->trace);
	if (cli->command == TS_CMD_SERVE && !strcmp(cli->comm, "-"))
		return usage_error("%s: the client and the trace cannot both be at the standard input",
				   cli->trace);
	if (cli->command == TS_CMD_DIFF && cli->trace2 && ts_is_stdin(cli->trace2))
		return usage_error("diff: only one of the traces can be at the standard input");
	if (cli->segment || cli->is_merged)
		return usage_error("%s: several machines cannot read the standard input: save the trace in a file", cli->trace);
	return cli->command != TS_CMD_INDEX || cli->index ||
	       usage_error("%s: say with --index PATH where its index is to be", cli->trace);
}

/* Where "--" is among @n operands; @n without one. */
static int find_dashes(int n, char **operands)
{
	int i = 0;

	while (i < n && strcmp(operands[i], "--") != 0)
		i++;
	return i;
}

/* The words of a question, with a blank between them. */
static bool join_question(struct ts_cli *cli, int n, char **words)
{
	size_t len = 1;

	for (int i = 0; i < n; i++)
		len += strlen(words[i]) + 1;
	cli->question = calloc(1, len);
	if (!cli->question)
		return usage_error("no memory");
	for (int i = 0; i < n; i++) {
		strcat(cli->question, i ? " " : "");
		strcat(cli->question, words[i]);
		cli->is_partial |= !strcmp(words[i], "--partial");
	}
	return true;
}

/* Each of several recordings has the index that its name leads to. */
static bool check_several(const struct ts_cli *cli)
{
	size_t first = 1 + ts_cli_count_threads(cli->traces, cli->n_traces);

	return first >= cli->n_traces || !cli->index || !strcmp(cli->index, "none") ||
	       usage_error("--index %s: several recordings cannot have one index", cli->index);
}

/* Does the text begin as a statement, or a command of the prompt, does? */
static bool begins_statement(const char *text)
{
	static const char *const words[] = { "select", "with", "values", "explain", "pragma", "attach", "detach", "insert",
					     "replace", "update", "delete", "create", "drop", "alter", "begin", "commit",
					     "end", "rollback", "savepoint", "release", "analyze", "vacuum", "reindex" };
	size_t len;

	text += strspn(text, " \t\r\n;(");
	len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i]) == len && !strncasecmp(words[i], text, len) && text[len] != '.' && text[len] != '/')
			return true;
	}
	return !strncmp(text, "--", 2) || !strncmp(text, "/*", 2) || (*text == '.' && !strchr(text, '/'));
}

/* What names no file is a statement, unless it looks like the name of one. */
static bool is_statement(const char *text)
{
	if (ts_is_stdin(text) || !access(text, F_OK))
		return false;
	return begins_statement(text) || (strpbrk(text, " \t\n") && !strchr(text, '/'));
}

/* Traces, and a statement. */
static bool set_statement(struct ts_cli *cli, int n, char **operands)
{
	bool has_statement = n > 1 && is_statement(operands[n - 1]);

	if (!n || (has_statement && cli->statements))
		return usage_error("sql: usage: tracestub sql %s", commands[TS_CMD_SQL].synopsis);
	set_threads(cli, n - has_statement, operands);
	cli->traces = operands;
	cli->n_traces = cli->n_threads + 1 == (size_t)(n - has_statement) ? 1 : (size_t)(n - has_statement);
	if (has_statement)
		cli->question = strdup(operands[n - 1]);
	if (has_statement && !cli->question)
		return usage_error("no memory");
	if (cli->n_traces > 1 && (!check_several(cli) || !check_stdin(cli)))
		return false;
	return !ts_is_stdin(cli->trace) || cli->question || (cli->statements && strcmp(cli->statements, "-") != 0) ||
	       usage_error("%s: the trace and the statements cannot both be at the standard input", cli->trace);
}

/* TRACE and the words of a question, or any number of traces and "--" before these words. */
static bool set_question(struct ts_cli *cli, int n, char **operands)
{
	int dashes = find_dashes(n, operands), first = n ? 1 + set_threads(cli, n, operands) : 1;

	cli->names_recordings = dashes < n;
	if (dashes < n)
		first = dashes + 1;
	if (n <= first || !dashes) {
		fprintf(stderr, "usage: tracestub query %s\n", commands[TS_CMD_QUERY].synopsis);
		ts_verb_help_list(stderr);
		return false;
	}
	cli->traces = operands;
	cli->n_traces = dashes < n ? (size_t)dashes : 1;
	if (dashes < n && (!check_several(cli) || !check_stdin(cli)))
		return false;
	return join_question(cli, n - first, operands + first);
}

/* `gdb TRACE PROG` is `gdb TRACE --exec PROG`. */
static bool set_program(struct ts_cli *cli, const char *prog)
{
	if (cli->exec.path)
		return usage_error("%s: the program is named twice, also by --exec", prog);
	return parse_file(&cli->exec, "PROG", prog);
}

/* Of the debuggers' commands. */
static bool set_newest(struct ts_cli *cli)
{
	cli->newest = ts_newest_recording();
	if (!cli->newest)
		return usage_error("there is no recording (NAME.ucir) in this folder: usage: tracestub %s %s",
				   commands[cli->command].name, commands[cli->command].synopsis);
	cli->trace = cli->newest;
	if (!cli->is_quiet)
		fprintf(stderr, "tracestub: %s: the newest recording in this folder\n", cli->newest);
	return true;
}

/* The traces are the one that is given, and those of the folder. */
static bool set_against(struct ts_cli *cli)
{
	struct ts_error err;
	size_t n;
	char **list;

	ts_error_reset(&err);
	list = ts_folder_list(cli->trace, cli->against, &n, &err);
	if (!list)
		return usage_error("--against %s: %s", cli->against, err.text);
	cli->compared = list;
	cli->traces = list;
	cli->n_traces = n;
	return true;
}

/* Of diff: TRACE, TRACE2, and words as questions have them: in A:B, first N, only KIND, function PATTERN. */
static bool set_compared(struct ts_cli *cli, int n, char **operands)
{
	static const struct {
		const char *word;
		int id;
	} words[] = { { "first", OPT_FIRST }, { "function", OPT_FUNCTION }, { "in", OPT_IN }, { "only", OPT_ONLY } };
	const size_t n_words = sizeof(words) / sizeof(*words);

	cli->trace = operands[0];
	if (cli->against ? !set_against(cli) : n < 2)
		return cli->against ? false : usage_error("too few arguments: usage: tracestub diff %s", commands[TS_CMD_DIFF].synopsis);
	cli->trace2 = cli->against ? NULL : operands[1];
	for (int i = cli->against ? 1 : 2; i < n; i += 2) {
		size_t k = 0;

		while (k < n_words && strcmp(words[k].word, operands[i]) != 0)
			k++;
		if (k == n_words || i + 1 == n)
			return usage_error("%s: usage: tracestub diff %s", k == n_words ? "too many arguments" : "too few arguments",
					   commands[TS_CMD_DIFF].synopsis);
		optarg = operands[i + 1];
		if (!set_option(cli, words[k].id))
			return false;
	}
	return true;
}

static bool set_operands(struct ts_cli *cli, int n, char **operands)
{
	const struct command *c = &commands[cli->command];
	const int first = cli->command == TS_CMD_SERVE;
	int n_threads = 0;

	if (cli->command == TS_CMD_QUERY)
		return set_question(cli, n, operands);
	if (cli->command == TS_CMD_SQL)
		return set_statement(cli, n, operands);
	if (is_debugger(cli) && !n)
		return set_newest(cli);
	if (n > first && c->n_optional != INT_MAX)
		n_threads = set_threads(cli, n - first, operands + first);
	if (n < c->n_operands || n - n_threads - c->n_operands > c->n_optional)
		return usage_error("%s: usage: tracestub %s %s", n < c->n_operands ? "too few arguments" :
				   "too many arguments", c->name, c->synopsis);
	if (first)
		cli->comm = *operands++;
	cli->traces = operands;
	cli->n_traces = c->n_optional == INT_MAX && cli->command != TS_CMD_DIFF ? (size_t)n : 1;
	cli->trace = operands[0];
	if (cli->command == TS_CMD_DIFF && !set_compared(cli, n, operands))
		return false;
	if (is_debugger(cli) && n > 1 + n_threads && !set_program(cli, operands[1 + n_threads]))
		return false;
	return check_stdin(cli);
}

/* What is written must not take the place of what is read. */
static bool check_written(const struct ts_cli *cli, const char *option, const char *path)
{
	bool is_read = ts_atomic_file_is_same(path, cli->trace) ||
		       (cli->exec.path && ts_atomic_file_is_same(path, cli->exec.path));

	for (unsigned i = 0; i < cli->n_images; i++)
		is_read |= ts_atomic_file_is_same(path, cli->images[i].path);
	return !is_read || usage_error("%s %s: that file is to be read, not written", option, path);
}

static bool check_outputs(const struct ts_cli *cli)
{
	char part[PATH_MAX];

	if (cli->output && !check_written(cli, "-o", cli->output))
		return false;
	if (cli->save && !check_written(cli, "--save", cli->save))
		return false;
	if (!cli->index || !strcmp(cli->index, "none"))
		return true;
	if (snprintf(part, sizeof(part), "%s.part", cli->index) >= (int)sizeof(part))
		return true;
	return check_written(cli, "--index", cli->index) && check_written(cli, "--index", part);
}

/* --help and --version are answered wherever they stand. */
static bool answer(int id, const char *command)
{
	if (id == OPT_HELP)
		print_help(command);
	else if (id == OPT_VERSION)
		puts("tracestub " PACKAGE_VERSION);
	return id == OPT_HELP || id == OPT_VERSION;
}

static bool parse_options(struct ts_cli *cli, int argc, char **argv, uint64_t *seen, enum ts_status *status)
{
	static char name[] = "tracestub"; /* in getopt's messages */
	const char *first = argv[1];      /* getopt sorts argv */
	int id;

	argv[0] = name;
	while ((id = getopt_long(argc, argv, "o:f:hV", long_options, NULL)) != -1) {
		if (id == '?') {
			suggest_option(argv[optind - 1]);
			fputs("'tracestub --help' explains\n", stderr);
			return false;
		}
		if (id == 'o')
			id = OPT_OUTPUT;
		else if (id == 'f')
			id = OPT_FILE;
		else if (id == 'h')
			id = OPT_HELP;
		else if (id == 'V')
			id = OPT_VERSION;
		if (answer(id, first)) {
			*status = TS_STATUS_OK;
			return false;
		}
		if (!set_option(cli, id))
			return false;
		*seen |= UINT64_C(1) << id;
	}
	return true;
}

/* How many arguments the option at @argv[0] has, itself included; 0 if it is none of this program's. */
static int option_len(char **argv)
{
	const char *name = argv[0] + 2, *value = strchr(name, '=');
	size_t len = value ? (size_t)(value - name) : strlen(name);

	for (unsigned i = 0; i < N_LONG_OPTIONS && len; i++) {
		const struct option *o = &long_options[i];

		if (i != OPT_AT && i != OPT_IN && strlen(o->name) == len && !strncmp(o->name, name, len))
			return 1 + (o->has_arg == required_argument && !value && argv[1]);
	}
	return 0;
}

/*
 * Of `query`, what is no option of this program belongs to the question, which has words that begin with '-'.
 * Options are moved to the front.
 *
 * Returns how many arguments at the front are for getopt; @argc if it is another command.
 */
static int sort_query(int argc, char **argv)
{
	char **rest = calloc((size_t)argc, sizeof(*rest));
	int n_options = 1, n_rest = 0;

	for (int i = 1, len; rest && i < argc; i += len ? len : 1) {
		len = strncmp(argv[i], "--", 2) || !argv[i][2] ? 0 : option_len(argv + i);
		if (!len && !n_rest && strcmp(argv[i], "query")) {
			free(rest);
			return argc;
		}
		if (!len)
			rest[n_rest++] = argv[i];
		for (int k = 0; k < len; k++)
			argv[n_options++] = argv[i + k];
	}
	if (rest)
		memcpy(argv + n_options, rest, (size_t)n_rest * sizeof(*rest));
	free(rest);
	return n_rest ? n_options : argc;
}

/* Where "--" stands, argc without one: what follows it belongs to gdb, or is no option. */
static int find_separator(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--"))
			return i;
	}
	return argc;
}

/*
 * Of `record`, what follows the program belongs to it.
 *
 * Returns how many arguments at the front are tracestub's; 0 if it is another command.
 */
static int find_program(int argc, char **argv)
{
	bool is_record = false;

	for (int i = 1, len; i < argc; i += len) {
		len = strncmp(argv[i], "--", 2) ? 0 : option_len(argv + i);
		if (!strcmp(argv[i], "--") && is_record)
			return i;
		if (argv[i][0] == '-' && !len)
			len = strcmp(argv[i], "-o") ? 1 : 2;
		if (!len && is_record)
			return i;
		if (!len && strcmp(argv[i], "record"))
			return 0;
		is_record |= !len;
		len += !len;
	}
	return is_record ? argc : 0;
}

/* The first @n arguments are ours. */
static bool parse_record(struct ts_cli *cli, int n, int argc, char **argv, enum ts_status *status)
{
	uint64_t seen = 0;

	if (!parse_options(cli, n, argv, &seen, status))
		return false;
	cli->command = TS_CMD_RECORD;
	cli->program = argv + n + (n < argc && !strcmp(argv[n], "--"));
	if (!*cli->program)
		return usage_error("too few arguments: usage: tracestub record %s",
				   commands[TS_CMD_RECORD].synopsis);
	return check_options(cli, seen);
}

bool ts_cli_parse(struct ts_cli *cli, int argc, char **argv, enum ts_status *status)
{
	int n_record = find_program(argc, argv), sorted = n_record ? argc : sort_query(argc, argv), separator = sorted < argc ? sorted : find_separator(argc, argv), n;
	char **operands, **rest = argv + separator + (separator < argc);
	uint64_t seen = 0;

	*cli = (struct ts_cli){ .level = TS_LOG_WARN,
				.max_clients = DEFAULT_MAX_CLIENTS,
				.max_memory = UINT64_MAX,
				.limit = UINT64_MAX };
	ts_selection_options_init(&cli->selection);
	*status = TS_STATUS_USAGE;
	if (n_record)
		return parse_record(cli, n_record, argc, argv, status);
	if (!parse_options(cli, separator, argv, &seen, status))
		return false;
	operands = argv + optind;
	n = (sorted < argc ? argc : separator) - optind;
	if (!n) {
		fputs("usage: tracestub gdb|lldb|dap|serve|info|index|export|query|sql|diff|plot|mcp|record TRACE [option]...\n"
		      "'tracestub --help' explains\n",
		      stderr);
		return false;
	}
	if (!strcmp(operands[0], "help")) {
		bool is_verb = n > 1 && command_named(operands[1]) == N_COMMANDS && ts_verb_help_print(operands[1]);

		if (n > 1 && !is_verb && !find_command(cli, operands[1]))
			return false;
		*status = TS_STATUS_OK;
		if (!is_verb)
			print_help(n > 1 ? operands[1] : NULL);
		return false;
	}
	if (!find_command(cli, operands[0]) || !check_options(cli, seen))
		return false;
	if (is_debugger(cli)) {
		cli->gdb_args = rest;
	} else if (sorted == argc) {
		memmove(argv + separator, rest, (size_t)(argv + argc - rest) * sizeof(*argv));
		n += (int)(argv + argc - rest);
	}
	return set_operands(cli, n - 1, operands + 1) && check_outputs(cli);
}

void ts_cli_fini(struct ts_cli *cli)
{
	for (unsigned i = 0; i < cli->n_images; i++)
		free(cli->images[i].path);
	cli->n_images = 0;
	free(cli->newest);
	cli->newest = NULL;
	for (char **path = cli->compared; path && *path; path++)
		free(*path);
	free(cli->compared);
	cli->compared = NULL;
	free(cli->exec.path);
	cli->exec.path = NULL;
	free(cli->names.path);
	cli->names.path = NULL;
	free(cli->question);
	cli->question = NULL;
}
