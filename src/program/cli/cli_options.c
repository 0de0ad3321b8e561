/* SPDX-License-Identifier: MIT */
#include "cli_options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_commands.h"
#include "picture.h"
#include "src/ask/diff/diff.h"
#include "src/base/similar.h"
#include "src/index/index_parts.h"
#include "src/source/unpack.h"

#define ON(command) (1u << TS_CMD_##command)
#define ON_ALL (ON(SERVE) | ON(GDB) | ON(LLDB) | ON(DAP) | ON(INFO) | ON(INDEX) | ON(EXPORT) | ON(QUERY) | ON(DIFF) | ON(MCP) | ON(PLOT) | ON(PACK) | ON(SQL))

const struct option ts_cli_long_options[TS_N_LONG_OPTIONS + 1] = {
	[TS_OPT_ARCH] = { "arch", required_argument, NULL, TS_OPT_ARCH },
	[TS_OPT_AS] = { "as", required_argument, NULL, TS_OPT_AS },
	[TS_OPT_AT] = { "at", required_argument, NULL, TS_OPT_AT },
	[TS_OPT_BOX] = { "box", no_argument, NULL, TS_OPT_BOX },
	[TS_OPT_COLLECT] = { "collect", required_argument, NULL, TS_OPT_COLLECT },
	[TS_OPT_CPU] = { "cpu", required_argument, NULL, TS_OPT_CPU },
	[TS_OPT_CSV] = { "csv", no_argument, NULL, TS_OPT_CSV },
	[TS_OPT_EXEC] = { "exec", required_argument, NULL, TS_OPT_EXEC },
	[TS_OPT_EXPORT_DIR] = { "export-dir", required_argument, NULL, TS_OPT_EXPORT_DIR },
	[TS_OPT_FIRST] = { "first", required_argument, NULL, TS_OPT_FIRST },
	[TS_OPT_FOLLOW] = { "follow", no_argument, NULL, TS_OPT_FOLLOW },
	[TS_OPT_FOR_SQLITE] = { "for-sqlite", no_argument, NULL, TS_OPT_FOR_SQLITE },
	[TS_OPT_FORMAT] = { "format", required_argument, NULL, TS_OPT_FORMAT },
	[TS_OPT_FROM] = { "from", required_argument, NULL, TS_OPT_FROM },
	[TS_OPT_FULL] = { "full", no_argument, NULL, TS_OPT_FULL },
	[TS_OPT_FUNCTION] = { "function", required_argument, NULL, TS_OPT_FUNCTION },
	[TS_OPT_GRAMMAR] = { "grammar", required_argument, NULL, TS_OPT_GRAMMAR },
	[TS_OPT_HELP] = { "help", no_argument, NULL, TS_OPT_HELP },
	[TS_OPT_IMAGE] = { "image", required_argument, NULL, TS_OPT_IMAGE },
	[TS_OPT_IN] = { "in", required_argument, NULL, TS_OPT_IN },
	[TS_OPT_INDEX] = { "index", required_argument, NULL, TS_OPT_INDEX },
	[TS_OPT_INDEX_KEY] = { "index-key", required_argument, NULL, TS_OPT_INDEX_KEY },
	[TS_OPT_INDEX_READS] = { "index-reads", required_argument, NULL, TS_OPT_INDEX_READS },
	[TS_OPT_JOBS] = { "jobs", required_argument, NULL, TS_OPT_JOBS },
	[TS_OPT_JSON] = { "json", no_argument, NULL, TS_OPT_JSON },
	[TS_OPT_KIND] = { "kind", required_argument, NULL, TS_OPT_KIND },
	[TS_OPT_LAST] = { "last", required_argument, NULL, TS_OPT_LAST },
	[TS_OPT_LIMIT] = { "limit", required_argument, NULL, TS_OPT_LIMIT },
	[TS_OPT_LOG] = { "log", required_argument, NULL, TS_OPT_LOG },
	[TS_OPT_MAX_CLIENTS] = { "max-clients", required_argument, NULL, TS_OPT_MAX_CLIENTS },
	[TS_OPT_MAX_MEMORY] = { "max-memory", required_argument, NULL, TS_OPT_MAX_MEMORY },
	[TS_OPT_MERGE] = { "merge", no_argument, NULL, TS_OPT_MERGE },
	[TS_OPT_MODULE] = { "module", required_argument, NULL, TS_OPT_MODULE },
	[TS_OPT_NO_SANDBOX] = { "no-sandbox", no_argument, NULL, TS_OPT_NO_SANDBOX },
	[TS_OPT_NAMES] = { "names", required_argument, NULL, TS_OPT_NAMES },
	[TS_OPT_ONCE] = { "once", no_argument, NULL, TS_OPT_ONCE },
	[TS_OPT_AGAINST] = { "against", required_argument, NULL, TS_OPT_AGAINST },
	[TS_OPT_ONLY] = { "only", required_argument, NULL, TS_OPT_ONLY },
	[TS_OPT_POSITIONS] = { "positions", required_argument, NULL, TS_OPT_POSITIONS },
	[TS_OPT_PROCESS] = { "process", required_argument, NULL, TS_OPT_PROCESS },
	[TS_OPT_QEMU] = { "qemu", required_argument, NULL, TS_OPT_QEMU },
	[TS_OPT_QUIET] = { "quiet", no_argument, NULL, TS_OPT_QUIET },
	[TS_OPT_REBASE] = { "rebase", no_argument, NULL, TS_OPT_REBASE },
	[TS_OPT_ALL] = { "all", no_argument, NULL, TS_OPT_ALL },
	[TS_OPT_SAVE] = { "save", required_argument, NULL, TS_OPT_SAVE },
	[TS_OPT_SCAN] = { "scan", no_argument, NULL, TS_OPT_SCAN },
	[TS_OPT_SEGMENT] = { "segment", required_argument, NULL, TS_OPT_SEGMENT },
	[TS_OPT_SYSROOT] = { "sysroot", required_argument, NULL, TS_OPT_SYSROOT },
	[TS_OPT_TSV] = { "tsv", no_argument, NULL, TS_OPT_TSV },
	[TS_OPT_UNTIL] = { "until", required_argument, NULL, TS_OPT_UNTIL },
	[TS_OPT_VERSION] = { "version", no_argument, NULL, TS_OPT_VERSION },
	[TS_OPT_WITH] = { "with", required_argument, NULL, TS_OPT_WITH },
	[TS_N_LONG_OPTIONS] = { NULL, 0, NULL, 0 },
};

/* Which ts_cli_commands take an option; those that all ts_cli_commands on a trace take have no line. */
static const unsigned option_commands[TS_N_OPTIONS] = {
	[TS_OPT_AS] = ON(EXPORT),
	[TS_OPT_AT] = ON(EXPORT),
	[TS_OPT_BOX] = ON(QUERY) | ON(DIFF) | ON(SQL),
	[TS_OPT_COLLECT] = ON(EXPORT),
	[TS_OPT_CPU] = ON(RECORD),
	[TS_OPT_CSV] = ON(QUERY) | ON(DIFF) | ON(SQL),
	[TS_OPT_EXPORT_DIR] = ON(SERVE) | ON(GDB) | ON(LLDB) | ON(DAP),
	[TS_OPT_FILE] = ON(SQL),
	[TS_OPT_FIRST] = ON(DIFF),
	[TS_OPT_FOLLOW] = ON(RECORD),
	[TS_OPT_FOR_SQLITE] = ON(SQL),
	[TS_OPT_FROM] = ON(RECORD),
	[TS_OPT_MODULE] = ON(RECORD),
	[TS_OPT_FULL] = ON(QUERY) | ON(DIFF) | ON(SQL),
	[TS_OPT_FUNCTION] = ON(DIFF),
	[TS_OPT_IN] = ON(PLOT) | ON(DIFF),
	[TS_OPT_JSON] = ON(INFO) | ON(QUERY) | ON(DIFF) | ON(SQL),
	[TS_OPT_KIND] = ON(DIFF),
	[TS_OPT_LAST] = ON(RECORD),
	[TS_OPT_LIMIT] = ON(RECORD),
	[TS_OPT_LOG] = ON_ALL | ON(RECORD) | ON(UNPACK),
	[TS_OPT_MAX_CLIENTS] = ON(SERVE),
	[TS_OPT_MAX_MEMORY] = ON_ALL | ON(RECORD),
	[TS_OPT_MERGE] = ON(INDEX),
	[TS_OPT_NAMES] = ON_ALL,
	[TS_OPT_ONCE] = ON(SERVE),
	[TS_OPT_AGAINST] = ON(DIFF),
	[TS_OPT_ONLY] = ON(DIFF),
	[TS_OPT_OUTPUT] = ON(EXPORT) | ON(PACK) | ON(PLOT) | ON(RECORD) | ON(UNPACK),
	[TS_OPT_POSITIONS] = ON(EXPORT),
	[TS_OPT_PROCESS] = ON(SERVE) | ON(GDB) | ON(LLDB) | ON(DAP) | ON(QUERY) | ON(SQL) | ON(MCP),
	[TS_OPT_QEMU] = ON(RECORD),
	[TS_OPT_QUIET] = ON_ALL | ON(RECORD) | ON(UNPACK),
	[TS_OPT_REBASE] = ON(DIFF),
	[TS_OPT_ALL] = ON(DIFF),
	[TS_OPT_SAVE] = ON(SQL),
	[TS_OPT_SCAN] = ON(SQL),
	[TS_OPT_SEGMENT] = ON(INDEX),
	[TS_OPT_SYSROOT] = ON_ALL | ON(RECORD),
	[TS_OPT_TSV] = ON(QUERY) | ON(DIFF) | ON(SQL),
	[TS_OPT_UNTIL] = ON(RECORD),
	[TS_OPT_WITH] = ON(RECORD),
};

#define MAX_JOBS 256u

bool ts_cli_parse_file(struct ts_file_option *file, const char *option, const char *arg)
{
	const char *at = strrchr(arg, '@');
	char *end = NULL;

	errno = 0;
	if (at && at[1] >= '0' && at[1] <= '9')
		file->base = strtoull(at + 1, &end, 0);
	file->has_base = end && !*end;
	if (file->has_base && errno)
		return ts_cli_usage_error("%s %s: no address is that large", option, arg);
	free(file->path);
	file->path = file->has_base ? strndup(arg, (size_t)(at - arg)) : strdup(arg);
	return file->path || ts_cli_usage_error("memory is exhausted");
}

static bool add_image(struct ts_cli *cli, const char *arg)
{
	if (cli->n_images == TS_MAX_IMAGES)
		return ts_cli_usage_error("more than %d images", TS_MAX_IMAGES);
	return ts_cli_parse_file(&cli->images[cli->n_images++], "--image", arg);
}

static bool set_index_reads(struct ts_cli *cli, const char *arg)
{
	cli->has_no_reads = !strcmp(arg, "no");
	if (cli->has_no_reads || !strcmp(arg, "yes"))
		return true;
	return ts_cli_usage_error("--index-reads %s: yes or no", arg);
}

static bool set_process(struct ts_cli *cli, const char *arg)
{
	char *end;

	errno = 0;
	cli->process = strtoull(arg, &end, 0);
	cli->has_process = true;
	if (*arg < '0' || *arg > '9' || *end || errno || cli->process & 0xfff)
		return ts_cli_usage_error("--process %s: not the address of page tables, as cr3 has it", arg);
	return true;
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
		return ts_cli_usage_error(
			"%s %s: a size is a number of bytes, or a number followed by K, M or G", option, arg);
	*size = (uint64_t)n << shift;
	return true;
}

/* A number from 1 to @max. */
static bool set_count(unsigned *count, unsigned max, const char *option, const char *arg)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (*arg < '1' || *arg > '9' || *end || n > max)
		return ts_cli_usage_error("%s %s: a number from 1 to %u", option, arg, max);
	*count = (unsigned)n;
	return true;
}

/* --segment I/N. */
static bool set_segment(struct ts_cli *cli, const char *arg)
{
	char *slash, *end;
	unsigned long i = strtoul(arg, &slash, 10), n = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;

	if (*arg < '1' || *arg > '9' || !n || slash[1] < '1' || slash[1] > '9' || *end || i > n || n > TS_MAX_PARTS)
		return ts_cli_usage_error("--segment %s: I/N, as 2/8: I from 1 to N, N up to %u", arg, TS_MAX_PARTS);
	cli->segment = (unsigned)i;
	cli->n_segments = (unsigned)n;
	return true;
}

/* A symbol's address is looked up when its file is open. */
static bool select_symbol(struct ts_cli *cli, const char *name)
{
	if (cli->n_at_symbols == TS_MAX_SELECTED)
		return ts_cli_usage_error("--at: more than %d symbols", TS_MAX_SELECTED);
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
	if (id == TS_OPT_AT && (isalpha((unsigned char)*optarg) || *optarg == '_'))
		return select_symbol(cli, optarg);
	if (id == TS_OPT_AT)
		ts_selection_at(&cli->selection, optarg, &err);
	else if (id == TS_OPT_POSITIONS)
		select_positions(cli, optarg, &err);
	else
		ts_selection_collect(&cli->selection, optarg, &err);
	return err.code == TS_OK || ts_cli_usage_error("--%s: %s", ts_cli_long_options[id].name, err.text);
}

static bool set_place(struct ts_record_place *place, const char *option, const char *arg)
{
	if (ts_record_place_parse(place, arg))
		return true;
	return ts_cli_usage_error("%s %s: a place is FUNC, FILE:LINE, an address (0x...) or SIGUSR1, then perhaps :N for the N-th time",
				  option, arg);
}

static bool add_module(struct ts_cli *cli, const char *pattern)
{
	unsigned n = 0;

	while (cli->modules[n])
		n++;
	if (!*pattern)
		return ts_cli_usage_error("--module: a pattern is missing");
	if (n == TS_MAX_MODULES)
		return ts_cli_usage_error("--module: more than %u patterns", TS_MAX_MODULES);
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
		return ts_cli_usage_error("--with %s: the engines are qemu and valgrind", name);
	return true;
}

static bool set_kinds(struct ts_cli *cli, const char *arg)
{
	return ts_diff_parse_kinds(arg, &cli->kinds) ||
	       ts_cli_usage_error("--only %s: the kinds are path, register and memory; several are separated by commas", arg);
}

bool ts_cli_set_option(struct ts_cli *cli, int id)
{
	switch (id) {
	case TS_OPT_ARCH:
		cli->arch = optarg;
		break;
	case TS_OPT_AS:
		cli->form = optarg;
		break;
	case TS_OPT_AT:
	case TS_OPT_COLLECT:
	case TS_OPT_POSITIONS:
		return select_frames(cli, id);
	case TS_OPT_CPU:
		cli->cpu = optarg;
		break;
	case TS_OPT_EXEC:
		if (ts_is_stdin(optarg))
			return ts_cli_usage_error("--exec -: the program is read in parts: save it in a file");
		return ts_cli_parse_file(&cli->exec, "--exec", optarg);
	case TS_OPT_EXPORT_DIR:
		cli->export_dir = optarg;
		break;
	case TS_OPT_FORMAT:
		cli->format = optarg;
		break;
	case TS_OPT_GRAMMAR:
		if (ts_is_stdin(optarg))
			return ts_cli_usage_error("--grammar -: save it in a file");
		cli->grammar = optarg;
		break;
	case TS_OPT_IMAGE:
		return add_image(cli, optarg);
	case TS_OPT_PROCESS:
		return set_process(cli, optarg);
	case TS_OPT_NAMES:
		return ts_cli_parse_file(&cli->names, "--names", optarg);
	case TS_OPT_IN:
		cli->range = optarg;
		break;
	case TS_OPT_INDEX:
		if (!*optarg)
			return ts_cli_usage_error("--index: a path, or none");
		cli->index = optarg;
		break;
	case TS_OPT_INDEX_KEY:
		cli->index_key = optarg;
		break;
	case TS_OPT_INDEX_READS:
		return set_index_reads(cli, optarg);
	case TS_OPT_MAX_CLIENTS:
		return set_count(&cli->max_clients, 65535, "--max-clients", optarg);
	case TS_OPT_JOBS:
		return set_count(&cli->n_jobs, MAX_JOBS, "--jobs", optarg);
	case TS_OPT_MERGE: cli->is_merged = true; break;
	case TS_OPT_SEGMENT: return set_segment(cli, optarg);
	case TS_OPT_MAX_MEMORY:
		return set_size(&cli->max_memory, "--max-memory", optarg);
	case TS_OPT_JSON:
		cli->is_json = true;
		break;
	case TS_OPT_FOLLOW:
		cli->is_following = true;
		break;
	case TS_OPT_FIRST:
		return set_count(&cli->first, UINT_MAX, "--first", optarg);
	case TS_OPT_FULL: cli->is_full = true; break;
	case TS_OPT_FUNCTION:
		cli->function = optarg;
		break;
	case TS_OPT_AGAINST: cli->against = optarg; break;
	case TS_OPT_KIND:
	case TS_OPT_ONLY:
		return set_kinds(cli, optarg);
	case TS_OPT_FROM:
		return set_place(&cli->from, "--from", optarg);
	case TS_OPT_UNTIL:
		return set_place(&cli->until, "--until", optarg);
	case TS_OPT_LAST:
		return set_size(&cli->last, "--last", optarg);
	case TS_OPT_MODULE:
		return add_module(cli, optarg);
	case TS_OPT_LIMIT:
		return set_size(&cli->limit, "--limit", optarg);
	case TS_OPT_LOG:
		if (!ts_log_parse_level(optarg, &cli->level))
			return ts_cli_usage_error("--log %s: a level is error, warn, info, debug or trace", optarg);
		break;
	case TS_OPT_NO_SANDBOX:
		cli->has_no_sandbox = true;
		break;
	case TS_OPT_ONCE:
		cli->is_once = true;
		break;
	case TS_OPT_OUTPUT:
		cli->output = optarg;
		break;
	case TS_OPT_FILE:
		cli->statements = optarg;
		break;
	case TS_OPT_BOX:
	case TS_OPT_CSV:
	case TS_OPT_TSV:
		cli->rows_form = id == TS_OPT_BOX ? TS_FORM_OPTION_BOX : id == TS_OPT_CSV ? TS_FORM_OPTION_CSV : TS_FORM_OPTION_TSV;
		break;
	case TS_OPT_SAVE:
		cli->save = optarg;
		break;
	case TS_OPT_FOR_SQLITE: cli->is_for_sqlite = true; break;
	case TS_OPT_SCAN:
		cli->may_scan = true;
		break;
	case TS_OPT_QEMU:
		cli->qemu = optarg;
		break;
	case TS_OPT_WITH:
		return set_with(cli, optarg);
	case TS_OPT_REBASE: cli->is_rebased = true; break;
	case TS_OPT_ALL: cli->is_all = true; break;
	case TS_OPT_QUIET:
		cli->is_quiet = true;
		cli->level = TS_LOG_ERROR;
		break;
	case TS_OPT_SYSROOT:
		cli->sysroot = optarg;
		break;
	default: /* of ts_cli_commands that come later: their values are not looked at */
		break;
	}
	return true;
}

void ts_cli_suggest_option(const char *arg)
{
	size_t len = strcspn(arg, "=");
	char typed[32];

	if (strncmp(arg, "--", 2) || len - 2 >= sizeof(typed))
		return;
	memcpy(typed, arg + 2, len - 2);
	typed[len - 2] = 0;
	for (unsigned i = 0; i < TS_N_LONG_OPTIONS; i++) {
		if (ts_is_similar(ts_cli_long_options[i].name, typed))
			fprintf(stderr, "tracestub: did you mean '--%s'?\n", ts_cli_long_options[i].name);
	}
}

int ts_cli_option_len(char **argv)
{
	const char *name = argv[0] + 2, *value = strchr(name, '=');
	size_t len = value ? (size_t)(value - name) : strlen(name);

	for (unsigned i = 0; i < TS_N_LONG_OPTIONS && len; i++) {
		const struct option *o = &ts_cli_long_options[i];

		if (i != TS_OPT_AT && i != TS_OPT_IN && strlen(o->name) == len && !strncmp(o->name, name, len))
			return 1 + (o->has_arg == required_argument && !value && argv[1]);
	}
	return 0;
}

static bool takes_option(enum ts_command command, unsigned option)
{
	unsigned takers = option_commands[option] ? option_commands[option] : ON_ALL;

	return takers >> command & 1;
}

bool ts_cli_takes_option(const char *command, const char *name, size_t len)
{
	for (unsigned i = 0; i < TS_N_LONG_OPTIONS; i++) {
		if (!strncmp(ts_cli_long_options[i].name, name, len) && !ts_cli_long_options[i].name[len])
			return takes_option(ts_cli_command_named(command), i);
	}
	return false;
}

bool ts_cli_check_options(const struct ts_cli *cli, uint64_t seen)
{
	const char *command = ts_cli_commands[cli->command].name;

	for (unsigned i = 0; i < TS_N_OPTIONS; i++) {
		if (seen >> i & 1 && !takes_option(cli->command, i))
			return ts_cli_usage_error("'tracestub %s' has no option %s%s", command,
						  i >= TS_N_LONG_OPTIONS ? "" : "--",
						  i == TS_OPT_OUTPUT ? "-o" : i == TS_OPT_FILE ? "-f" : ts_cli_long_options[i].name);
	}
	if (cli->command == TS_CMD_EXPORT && !cli->output)
		return ts_cli_usage_error("'tracestub export' needs -o OUT.tf, -o OUT.tenet, -o OUT.folded, or --as FORM");
	if (cli->last && cli->limit != UINT64_MAX)
		return ts_cli_usage_error("--last keeps the end of a run, --limit its beginning: one of them");
	if (cli->grammar && cli->format)
		return ts_cli_usage_error("--grammar names the format: --format says nothing beside it");
	if (cli->command == TS_CMD_PLOT && (!cli->output || !ts_picture_is_name(cli->output)))
		return ts_cli_usage_error("'tracestub plot' needs -o OUT.svg, or -o OUT.html for a page that zooms");
	if ((cli->command == TS_CMD_PACK || cli->command == TS_CMD_UNPACK) && !cli->output)
		return ts_cli_usage_error("'tracestub %s' needs -o %s", command, cli->command == TS_CMD_PACK ? "FILE" : "TRACE");
	if (cli->segment && cli->is_merged)
		return ts_cli_usage_error("--segment decodes a part, --merge puts all together: one of them");
	if (cli->command == TS_CMD_INDEX && cli->index && !strcmp(cli->index, "none"))
		return ts_cli_usage_error("'tracestub index' builds what --index none does without");
	return true;
}
