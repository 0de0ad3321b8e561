/* SPDX-License-Identifier: MIT */
/* The options of the command line: which commands take one, and what its value sets. */
#ifndef TS_CLI_OPTIONS_H
#define TS_CLI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli.h"

enum ts_option {
	TS_OPT_ARCH,
	TS_OPT_AS,
	TS_OPT_AT,
	TS_OPT_BOX,
	TS_OPT_COLLECT,
	TS_OPT_CPU,
	TS_OPT_CSV,
	TS_OPT_EXEC,
	TS_OPT_EXPORT_DIR,
	TS_OPT_FIRST,
	TS_OPT_FOLLOW,
	TS_OPT_FOR_SQLITE,
	TS_OPT_FORMAT,
	TS_OPT_FROM,
	TS_OPT_FULL,
	TS_OPT_FUNCTION,
	TS_OPT_GRAMMAR,
	TS_OPT_HELP,
	TS_OPT_IMAGE,
	TS_OPT_IN,
	TS_OPT_INDEX,
	TS_OPT_INDEX_KEY,
	TS_OPT_INDEX_READS,
	TS_OPT_JOBS,
	TS_OPT_JSON,
	TS_OPT_KIND,
	TS_OPT_LAST,
	TS_OPT_LIMIT,
	TS_OPT_LOG,
	TS_OPT_MAX_CLIENTS,
	TS_OPT_MAX_MEMORY,
	TS_OPT_MERGE,
	TS_OPT_MODULE,
	TS_OPT_NO_SANDBOX,
	TS_OPT_NAMES,
	TS_OPT_ONCE,
	TS_OPT_AGAINST,
	TS_OPT_ONLY,
	TS_OPT_POSITIONS,
	TS_OPT_PROCESS,
	TS_OPT_QEMU,
	TS_OPT_QUIET,
	TS_OPT_REBASE,
	TS_OPT_ALL,
	TS_OPT_SAVE,
	TS_OPT_SCAN,
	TS_OPT_SEGMENT,
	TS_OPT_SYSROOT,
	TS_OPT_TSV,
	TS_OPT_UNTIL,
	TS_OPT_VERSION,
	TS_OPT_WITH,
	TS_N_LONG_OPTIONS,
	TS_OPT_OUTPUT = TS_N_LONG_OPTIONS, /* -o */
	TS_OPT_FILE,                       /* -f */
	TS_N_OPTIONS,
};

/* By enum ts_option, for getopt_long(). */
extern const struct option ts_cli_long_options[TS_N_LONG_OPTIONS + 1];

/* Set what the option @id says; its value is optarg.  Returns false if it cannot be, which is said on stderr. */
bool ts_cli_set_option(struct ts_cli *cli, int id);

/* Parse FILE[@BASE] of @option: the last @ separates, if a number follows it.  Returns false as ts_cli_set_option(). */
bool ts_cli_parse_file(struct ts_file_option *file, const char *option, const char *arg);

/*
 * Returns false if one of the options, @seen as a mask of enum ts_option, is not of the command, or two of them
 * contradict each other, which is said on stderr.
 */
bool ts_cli_check_options(const struct ts_cli *cli, uint64_t seen);

/* Does the command called @command take the option @name, of @len bytes and without dashes? */
bool ts_cli_takes_option(const char *command, const char *name, size_t len);

/* How many arguments the option at @argv[0] has, itself included; 0 if it is none of this program's. */
int ts_cli_option_len(char **argv);

/* Of @arg, which getopt did not know: say on stderr which option was meant, if there is a similar one. */
void ts_cli_suggest_option(const char *arg);

#endif
