/* SPDX-License-Identifier: MIT */
#include "src/program/cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_operands.h"
#include "src/program/cli/cli_commands.h"
#include "src/program/cli/cli_options.h"
#include "src/symbols/process_names.h"

/* As many as the descriptors of a process usually allow, and more than people have debuggers. */
#define DEFAULT_MAX_CLIENTS 256u

/* "help", "--help": the page, or what it says of a command. */
static void print_help(const char *command)
{
	if (command && ts_cli_command_named(command) < TS_N_COMMANDS)
		ts_cli_print_help(command, ts_cli_takes_option);
	else
		fputs(ts_cli_help, stdout);
}

/* --help and --version are answered at any place. */
static bool answer(int id, const char *command)
{
	if (id == TS_OPT_HELP)
		print_help(command);
	else if (id == TS_OPT_VERSION)
		puts("tracestub " PACKAGE_VERSION);
	return id == TS_OPT_HELP || id == TS_OPT_VERSION;
}

static bool parse_options(struct ts_cli *cli, int argc, char **argv, uint64_t *seen, enum ts_status *status)
{
	static char name[] = "tracestub"; /* in getopt's messages */
	const char *first = argv[1];      /* getopt sorts argv */
	int id;

	argv[0] = name;
	while ((id = getopt_long(argc, argv, "o:f:hV", ts_cli_long_options, NULL)) != -1) {
		if (id == '?') {
			ts_cli_suggest_option(argv[optind - 1]);
			fputs("'tracestub --help' explains\n", stderr);
			return false;
		}
		if (id == 'o')
			id = TS_OPT_OUTPUT;
		else if (id == 'f')
			id = TS_OPT_FILE;
		else if (id == 'h')
			id = TS_OPT_HELP;
		else if (id == 'V')
			id = TS_OPT_VERSION;
		if (answer(id, first)) {
			*status = TS_STATUS_OK;
			return false;
		}
		if (!ts_cli_set_option(cli, id))
			return false;
		*seen |= UINT64_C(1) << id;
	}
	return true;
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
		len = strncmp(argv[i], "--", 2) || !argv[i][2] ? 0 : ts_cli_option_len(argv + i);
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

/*
 * Of `record`, what follows the program belongs to it.
 *
 * Returns how many arguments at the front are tracestub's; 0 if it is another command.
 */
static int find_program(int argc, char **argv)
{
	bool is_record = false;

	for (int i = 1, len; i < argc; i += len) {
		len = strncmp(argv[i], "--", 2) ? 0 : ts_cli_option_len(argv + i);
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
		return ts_cli_usage_error("too few arguments: usage: tracestub record %s",
					  ts_cli_commands[TS_CMD_RECORD].synopsis);
	return ts_cli_check_options(cli, seen);
}

bool ts_cli_parse(struct ts_cli *cli, int argc, char **argv, enum ts_status *status)
{
	int n_record = find_program(argc, argv), sorted = n_record ? argc : sort_query(argc, argv), separator = sorted, n;
	char **operands, **rest;
	uint64_t seen = 0;

	if (separator == argc && argc) /* what follows "--" belongs to gdb, or is no option */
		separator = 1 + ts_cli_find_dashes(argc - 1, argv + 1);
	rest = argv + separator + (separator < argc);
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
		bool is_verb = n > 1 && ts_cli_command_named(operands[1]) == TS_N_COMMANDS && ts_verb_help_print(operands[1]);

		if (n > 1 && !is_verb && !ts_cli_find_command(cli, operands[1]))
			return false;
		*status = TS_STATUS_OK;
		if (!is_verb)
			print_help(n > 1 ? operands[1] : NULL);
		return false;
	}
	if (!ts_cli_find_command(cli, operands[0]) || !ts_cli_check_options(cli, seen) ||
	    !ts_cli_find_process(cli))
		return false;
	if (ts_cli_is_debugger(cli)) {
		cli->gdb_args = rest;
	} else if (sorted == argc) {
		memmove(argv + separator, rest, (size_t)(argv + argc - rest) * sizeof(*argv));
		n += (int)(argv + argc - rest);
	}
	return ts_cli_set_operands(cli, n - 1, operands + 1) && ts_cli_check_outputs(cli);
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
	ts_process_names_free(cli->process_names);
	cli->process_names = NULL;
	free(cli->question);
	cli->question = NULL;
}
