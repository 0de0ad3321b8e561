/* SPDX-License-Identifier: MIT */
#include "cli_options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_commands.h"
#include "src/ask/diff/diff.h"
#include "src/symbols/process_names.h"
#include "src/base/text/similar.h"
#include "src/base/text/suffix.h"
#include "src/index/index_parts.h"
#include "src/source/unpack.h"

#define ON(command) (1u << TS_CMD_##command)
#define ON_ALL (ON(SERVE) | ON(GDB) | ON(LLDB) | ON(DAP) | ON(INFO) | ON(INDEX) | ON(EXPORT) | ON(QUERY) | ON(DIFF) | ON(MCP) | ON(PLOT) | ON(PACK) | ON(SQL))

enum kind { OPTION_WORD, OPTION_FLAG, OPTION_VALUE, OPTION_TEXT, OPTION_SIZE };

/* The kind, and the offset of a member, which has the type. */
#define MEMBER(m, type) offsetof(struct ts_cli, m) + 0 * sizeof(&((struct ts_cli *)NULL)->m == (type *)NULL)
#define WORD    OPTION_WORD, 0
#define VALUE   OPTION_VALUE, 0
#define FLAG(m) OPTION_FLAG, MEMBER(m, bool)
#define TEXT(m) OPTION_TEXT, MEMBER(m, const char *)
#define SIZE(m) OPTION_SIZE, MEMBER(m, uint64_t)

#define FIRST_OF(kind, member)                kind
#define LONG_OPTION_OF(id, name, kind, commands) { name, (FIRST_OF(kind)) >= OPTION_VALUE ? required_argument : no_argument, NULL, TS_OPT_##id },
#define OPTION_OF(id, name, kind, commands)   { name, kind, commands },

const struct option ts_cli_long_options[TS_N_LONG_OPTIONS + 1] = { TS_LONG_OPTIONS(LONG_OPTION_OF) { NULL, 0, NULL, 0 } };

static const struct {
	const char *name;
	enum kind kind;
	size_t member;
	unsigned commands;
} options[TS_N_OPTIONS] = { TS_LONG_OPTIONS(OPTION_OF) TS_SHORT_OPTIONS(OPTION_OF) };

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

static bool read_processes(struct ts_cli *cli)
{
	struct ts_error err = { 0 };

	cli->process_names = ts_process_names_read(cli->process_list, &err);
	return cli->process_names || ts_cli_usage_error("--processes %s: %s", cli->process_list, err.text);
}

/* The process is a name of --processes, or an address. */
static bool find_process(struct ts_cli *cli)
{
	const char *arg = cli->process_text;
	size_t n = ts_process_names_find(cli->process_names, arg, &cli->process);
	char *end;

	cli->has_process = true;
	if (n == 1)
		return true;
	if (n)
		return ts_cli_usage_error("--process %s: %zu processes have this name: give the address", arg, n);
	errno = 0;
	cli->process = strtoull(arg, &end, 0);
	if (*arg < '0' || *arg > '9' || *end || errno || cli->process & 0xfff)
		return ts_cli_usage_error("--process %s: not the address of page tables, as cr3 has it%s", arg,
					  cli->process_names ? ", nor a name of --processes" : "");
	return true;
}

bool ts_cli_find_process(struct ts_cli *cli)
{
	return (!cli->process_list || read_processes(cli)) && (!cli->process_text || find_process(cli));
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
			"--%s %s: a size is a number of bytes, or a number followed by K, M or G", option, arg);
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
	struct ts_error err = { 0 };

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

/* Set an option whose argument is a WORD or a VALUE. */
static bool set_special(struct ts_cli *cli, int id)
{
	switch (id) {
	case TS_OPT_AT:
	case TS_OPT_COLLECT:
	case TS_OPT_POSITIONS:
		return select_frames(cli, id);
	case TS_OPT_EXEC:
		if (ts_is_stdin(optarg))
			return ts_cli_usage_error("--exec -: the program is read in parts: save it in a file");
		return ts_cli_parse_file(&cli->exec, "--exec", optarg);
	case TS_OPT_GRAMMAR:
		if (ts_is_stdin(optarg))
			return ts_cli_usage_error("--grammar -: save it in a file");
		cli->grammar = optarg;
		break;
	case TS_OPT_IMAGE:
		return add_image(cli, optarg);
	case TS_OPT_NAMES:
		return ts_cli_parse_file(&cli->names, "--names", optarg);
	case TS_OPT_INDEX:
		if (!*optarg)
			return ts_cli_usage_error("--index: a path, or none");
		cli->index = optarg;
		break;
	case TS_OPT_INDEX_READS:
		return set_index_reads(cli, optarg);
	case TS_OPT_MAX_CLIENTS:
		return set_count(&cli->max_clients, 65535, "--max-clients", optarg);
	case TS_OPT_JOBS:
		return set_count(&cli->n_jobs, MAX_JOBS, "--jobs", optarg);
	case TS_OPT_SEGMENT: return set_segment(cli, optarg);
	case TS_OPT_FIRST:
		return set_count(&cli->first, UINT_MAX, "--first", optarg);
	case TS_OPT_KIND:
	case TS_OPT_ONLY:
		return set_kinds(cli, optarg);
	case TS_OPT_FROM:
		return set_place(&cli->from, "--from", optarg);
	case TS_OPT_UNTIL:
		return set_place(&cli->until, "--until", optarg);
	case TS_OPT_MODULE:
		return add_module(cli, optarg);
	case TS_OPT_LOG:
		if (!ts_log_parse_level(optarg, &cli->level))
			return ts_cli_usage_error("--log %s: a level is error, warn, info, debug or trace", optarg);
		break;
	case TS_OPT_BOX:
	case TS_OPT_CSV:
	case TS_OPT_TSV:
		cli->rows_form = id == TS_OPT_BOX ? TS_FORM_OPTION_BOX : id == TS_OPT_CSV ? TS_FORM_OPTION_CSV : TS_FORM_OPTION_TSV;
		break;
	case TS_OPT_WITH:
		return set_with(cli, optarg);
	case TS_OPT_QUIET:
		cli->is_quiet = true;
		cli->level = TS_LOG_ERROR;
		break;
	default: break;
	}
	return true;
}

bool ts_cli_set_option(struct ts_cli *cli, int id)
{
	void *member = (char *)cli + options[id].member;

	switch (options[id].kind) {
	case OPTION_FLAG: *(bool *)member = true; return true;
	case OPTION_TEXT: *(const char **)member = optarg; return true;
	case OPTION_SIZE: return set_size(member, options[id].name, optarg);
	case OPTION_WORD:
	case OPTION_VALUE: return set_special(cli, id);
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
	return options[option].commands >> command & 1;
}

bool ts_cli_takes_option(const char *command, const char *name, size_t len)
{
	for (unsigned i = 0; i < TS_N_LONG_OPTIONS; i++) {
		if (!strncmp(ts_cli_long_options[i].name, name, len) && !ts_cli_long_options[i].name[len])
			return takes_option(ts_cli_command_named(command), i);
	}
	return false;
}

/* ------------------------------------------------------------------------- file names of pictures */

bool ts_picture_is_svg(const char *path)
{
	return ts_has_suffix(path, ".svg");
}

/* Can a picture be written to @path? */
static bool is_picture(const char *path)
{
	return ts_picture_is_svg(path) || ts_has_suffix(path, ".html") || ts_has_suffix(path, ".htm");
}

/* -------------------------------------------------------------------------------- all of them */

bool ts_cli_check_options(const struct ts_cli *cli, uint64_t seen)
{
	const char *command = ts_cli_commands[cli->command].name;

	for (unsigned i = 0; i < TS_N_OPTIONS; i++) {
		if (seen >> i & 1 && !takes_option(cli->command, i))
			return ts_cli_usage_error("'tracestub %s' has no option %s%s", command,
						  i >= TS_N_LONG_OPTIONS ? "-" : "--", options[i].name);
	}
	if (cli->command == TS_CMD_EXPORT && !cli->output)
		return ts_cli_usage_error("'tracestub export' needs -o OUT.tf, -o OUT.tenet, -o OUT.folded, or --as FORM");
	if (cli->last && cli->limit != UINT64_MAX)
		return ts_cli_usage_error("--last keeps the end of a run, --limit its beginning: give one of them");
	if (cli->grammar && cli->format)
		return ts_cli_usage_error("--grammar names the format: --format is not allowed with it");
	if (cli->command == TS_CMD_PLOT && (!cli->output || !is_picture(cli->output)))
		return ts_cli_usage_error("'tracestub plot' needs -o OUT.svg, or -o OUT.html for a page that zooms");
	if ((cli->command == TS_CMD_PACK || cli->command == TS_CMD_UNPACK) && !cli->output)
		return ts_cli_usage_error("'tracestub %s' needs -o %s", command, cli->command == TS_CMD_PACK ? "FILE" : "TRACE");
	if (cli->segment && cli->is_merged)
		return ts_cli_usage_error("--segment decodes a part, --merge joins all parts: give one of them");
	if (cli->command == TS_CMD_INDEX && cli->index && !strcmp(cli->index, "none"))
		return ts_cli_usage_error("'tracestub index' builds an index: --index none is not allowed");
	return true;
}
