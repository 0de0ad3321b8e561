/* SPDX-License-Identifier: MIT */
/* The options of the command line: the commands that accept them, and their effects. */
#ifndef TS_CLI_OPTIONS_H
#define TS_CLI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli.h"

/*
 * The table of options: the name in enum ts_option, the name on the command line, the kind, and the commands that
 * accept it.
 *
 * FLAG(member) sets the member to true, TEXT(member) and SIZE(member) set it to a value.  ts_cli_set_option()
 * implements WORD (without a value) and VALUE.
 */
#define TS_LONG_OPTIONS(X) \
	X(ARCH, "arch", TEXT(arch), ON_ALL) \
	X(AS, "as", TEXT(form), ON(EXPORT)) \
	X(AT, "at", VALUE, ON(EXPORT)) \
	X(BOX, "box", WORD, ON(QUERY) | ON(DIFF) | ON(SQL)) \
	X(COLLECT, "collect", VALUE, ON(EXPORT)) \
	X(CPU, "cpu", TEXT(cpu), ON(RECORD)) \
	X(CSV, "csv", WORD, ON(QUERY) | ON(DIFF) | ON(SQL)) \
	X(EXEC, "exec", VALUE, ON_ALL) \
	X(EXPORT_DIR, "export-dir", TEXT(export_dir), ON(SERVE) | ON(GDB) | ON(LLDB) | ON(DAP)) \
	X(FIRST, "first", VALUE, ON(DIFF)) \
	X(FOLLOW, "follow", FLAG(is_following), ON(RECORD)) \
	X(FOR_SQLITE, "for-sqlite", FLAG(is_for_sqlite), ON(SQL)) \
	X(FORMAT, "format", TEXT(format), ON_ALL) \
	X(FROM, "from", VALUE, ON(RECORD)) \
	X(FULL, "full", FLAG(is_full), ON(QUERY) | ON(DIFF) | ON(SQL)) \
	X(FUNCTION, "function", TEXT(function), ON(DIFF)) \
	X(GRAMMAR, "grammar", VALUE, ON_ALL) \
	X(HELP, "help", WORD, ON_ALL) \
	X(IMAGE, "image", VALUE, ON_ALL) \
	X(IN, "in", TEXT(range), ON(PLOT) | ON(DIFF)) \
	X(INDEX, "index", VALUE, ON_ALL) \
	X(INDEX_KEY, "index-key", TEXT(index_key), ON_ALL) \
	X(INDEX_READS, "index-reads", VALUE, ON_ALL) \
	X(JOBS, "jobs", VALUE, ON_ALL) \
	X(JSON, "json", FLAG(is_json), ON(INFO) | ON(QUERY) | ON(DIFF) | ON(SQL)) \
	X(KIND, "kind", VALUE, ON(DIFF)) \
	X(LAST, "last", SIZE(last), ON(RECORD)) \
	X(LIMIT, "limit", SIZE(limit), ON(RECORD)) \
	X(LOG, "log", VALUE, ON_ALL | ON(RECORD) | ON(UNPACK)) \
	X(MAX_CLIENTS, "max-clients", VALUE, ON(SERVE)) \
	X(MAX_MEMORY, "max-memory", SIZE(max_memory), ON_ALL | ON(RECORD)) \
	X(MERGE, "merge", FLAG(is_merged), ON(INDEX)) \
	X(MODULE, "module", VALUE, ON(RECORD)) \
	X(NO_SANDBOX, "no-sandbox", FLAG(has_no_sandbox), ON_ALL) \
	X(NAMES, "names", VALUE, ON_ALL) \
	X(ONCE, "once", FLAG(is_once), ON(SERVE)) \
	X(AGAINST, "against", TEXT(against), ON(DIFF)) \
	X(ONLY, "only", VALUE, ON(DIFF)) \
	X(POSITIONS, "positions", VALUE, ON(EXPORT)) \
	X(PROCESS, "process", TEXT(process_text), ON(SERVE) | ON(GDB) | ON(LLDB) | ON(DAP) | ON(QUERY) | ON(SQL) | ON(MCP)) \
	X(PROCESSES, "processes", TEXT(process_list), ON(SERVE) | ON(GDB) | ON(LLDB) | ON(DAP) | ON(QUERY) | ON(SQL) | ON(MCP)) \
	X(QEMU, "qemu", TEXT(qemu), ON(RECORD)) \
	X(QUIET, "quiet", WORD, ON_ALL | ON(RECORD) | ON(UNPACK)) \
	X(REBASE, "rebase", FLAG(is_rebased), ON(DIFF)) \
	X(ALL, "all", FLAG(is_all), ON(DIFF)) \
	X(SAVE, "save", TEXT(save), ON(SQL)) \
	X(SCAN, "scan", FLAG(may_scan), ON(SQL)) \
	X(SEGMENT, "segment", VALUE, ON(INDEX)) \
	X(SYSROOT, "sysroot", TEXT(sysroot), ON_ALL | ON(RECORD)) \
	X(TSV, "tsv", WORD, ON(QUERY) | ON(DIFF) | ON(SQL)) \
	X(UNTIL, "until", VALUE, ON(RECORD)) \
	X(VERSION, "version", WORD, ON_ALL) \
	X(WITH, "with", VALUE, ON(RECORD))

/* The options of one letter. */
#define TS_SHORT_OPTIONS(X) \
	X(OUTPUT, "o", TEXT(output), ON(EXPORT) | ON(PACK) | ON(PLOT) | ON(RECORD) | ON(UNPACK)) \
	X(FILE, "f", TEXT(statements), ON(SQL))

#define TS_OPTION_ID(id, name, kind, commands) TS_OPT_##id,

enum ts_option {
	TS_LONG_OPTIONS(TS_OPTION_ID)
	TS_N_LONG_OPTIONS,
	TS_BEFORE_SHORT_OPTIONS = TS_N_LONG_OPTIONS - 1,
	TS_SHORT_OPTIONS(TS_OPTION_ID)
	TS_N_OPTIONS,
};

/* By enum ts_option, for getopt_long(). */
extern const struct option ts_cli_long_options[TS_N_LONG_OPTIONS + 1];

/* Apply the option @id with the value optarg to @cli.  Returns false after a message if the value is wrong. */
bool ts_cli_set_option(struct ts_cli *cli, int id);

/* Parse FILE[@BASE] of @option: the last @ separates, if a number follows it.  Returns false as ts_cli_set_option(). */
bool ts_cli_parse_file(struct ts_file_option *file, const char *option, const char *arg);

/*
 * Returns false after a message if the command does not accept one of the options (@seen is a mask of enum ts_option),
 * or two of them contradict each other.
 */
bool ts_cli_check_options(const struct ts_cli *cli, uint64_t seen);

/* Read the list of --processes, and find the process of --process.  Returns false after a message. */
bool ts_cli_find_process(struct ts_cli *cli);

/* Does the command @command accept the option @name, of @len bytes and without dashes? */
bool ts_cli_takes_option(const char *command, const char *name, size_t len);

/* Returns the number of arguments of the option at @argv[0], including itself; 0 if this program has no such option. */
int ts_cli_option_len(char **argv);

/* If there is an option similar to @arg, which getopt did not know, suggest it on stderr. */
void ts_cli_suggest_option(const char *arg);

/* Does the name of a picture end in .svg: is it a still picture, and not a page that zooms? */
bool ts_picture_is_svg(const char *path);

#endif
