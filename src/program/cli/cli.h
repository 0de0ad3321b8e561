/* SPDX-License-Identifier: MIT */
/*
 * The command line: its options as a struct, and the page that explains it.
 *
 * Strings are borrowed from argv.  Errors in a command line are printed on stderr; main.c only exits.
 */
#ifndef TS_CLI_H
#define TS_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/log.h"
#include "src/export/selection.h"

enum ts_record_place_kind { TS_AT_NOTHING, TS_AT_ADDRESS, TS_AT_FUNCTION, TS_AT_LINE, TS_AT_SIGNAL };

struct ts_record_place {
	enum ts_record_place_kind kind;
	const char *text; /* the user's text; borrowed */
	const char *name; /* the function or the file: @n_name bytes in @text */
	int n_name;
	uint64_t addr, line;
	uint64_t count;   /* N: the number of the execution, from 1 */
};

/*
 * Parse @text.  A name with a dot or a slash, followed by a number, is a file name; an address begins with 0x.
 *
 * Returns false if it is malformed: nothing before the colon, or a number that is 0 or too large.
 */
bool ts_record_place_parse(struct ts_record_place *place, const char *text);

enum ts_command {
	TS_CMD_SERVE,
	TS_CMD_GDB,
	TS_CMD_LLDB,
	TS_CMD_DAP,
	TS_CMD_INFO,
	TS_CMD_INDEX,
	TS_CMD_EXPORT,
	TS_CMD_QUERY,
	TS_CMD_SQL,
	TS_CMD_DIFF,
	TS_CMD_PLOT,
	TS_CMD_PACK,
	TS_CMD_UNPACK,
	TS_CMD_MCP,
	TS_CMD_RECORD,
};

/* Statuses of the program. */
enum ts_status {
	TS_STATUS_OK,
	TS_STATUS_FAILED, /* an error in the recording or the system */
	TS_STATUS_USAGE,  /* an error in the command line */
};

#define TS_MAX_IMAGES 64

/* FILE[@BASE] of --exec and --image. */
struct ts_file_option {
	char *path; /* owned; NULL: not given */
	uint64_t base;
	bool has_base;
};

/* The engine that runs a program to record it. */
enum ts_with { TS_WITH_DEFAULT, TS_WITH_QEMU, TS_WITH_VALGRIND };

/* The form that sql prints. */
enum ts_form_option { TS_FORM_OPTION_DEFAULT, TS_FORM_OPTION_BOX, TS_FORM_OPTION_CSV, TS_FORM_OPTION_TSV };

/* Patterns of `record --module`. */
#define TS_MAX_MODULES 16u

struct ts_cli {
	enum ts_command command;
	const char *comm;  /* serve */
	const char *trace;
	char *newest;       /* owned; trace, if the command line names none; else NULL */
	const char *trace2; /* diff: the other one */
	const char *against; /* diff: a folder, whose recordings are traces[1] to the last; NULL when not given */
	char **compared;    /* owned; traces of --against */
	char **threads;    /* of trace: files of its other threads, which follow it on the command line */
	size_t n_threads;
	char **traces;     /* of commands that take several; trace is the first */
	size_t n_traces;
	const char *grammar; /* a file; NULL when not given */
	const char *format, *arch, *sysroot, *index; /* NULL when not given */
	struct ts_file_option exec;
	const char *process_text; /* of --process; NULL when not given */
	const char *process_list; /* of --processes, a file; NULL when not given */
	struct ts_process_names *process_names; /* owned; read from it */
	bool has_process;   /* --process: names are those of the process with the page tables at process */
	uint64_t process;
	struct ts_file_option names; /* a list of names; BASE is added to its addresses */
	struct ts_file_option images[TS_MAX_IMAGES];
	unsigned n_images;
	struct ts_packed_library *libraries; /* borrowed; those that were packed with the trace */
	size_t n_libraries;
	struct ts_packed_debug *debug; /* borrowed; their debug files, and the program's */
	size_t n_debug;
	bool is_quiet, is_once, is_json, is_rebased, is_all;
	const char *index_key; /* a file; NULL when not given */
	bool names_recordings; /* query: rows begin with the name of their recording */
	bool *has_shown;     /* borrowed; info, query of several recordings: has one been printed?  NULL: there is only one */
	bool has_other_libraries; /* gdb: some libraries of this machine differ from their copies beside the recording (kept.h) */
	bool has_no_sandbox; /* --no-sandbox */
	bool has_no_reads;   /* --index-reads=no */
	uint64_t max_memory; /* bytes; UINT64_MAX without --max-memory */
	unsigned n_jobs;     /* 0 without --jobs: as many as the length of the trace is worth */
	unsigned segment, n_segments; /* index: --segment I/N; 0 without it */
	bool is_merged;      /* index: --merge */
	unsigned max_clients; /* serve */
	enum ts_level level; /* of the log */
	const char *export_dir; /* serve, gdb; NULL when not given */
	const char *output; /* export, plot, record */
	const char *form;   /* export: --as; NULL when not given */
	const char *range;  /* plot, diff: A:B; NULL when not given */
	const char *function; /* diff: a pattern; NULL when not given */
	unsigned kinds;     /* diff: mask of enum ts_diff_rows; 0: all */
	unsigned first;     /* diff: the maximum number of rows; 0: all */
	char **program;     /* record: the program and its arguments, NULL-terminated */
	enum ts_with with;  /* record: the engine */
	const char *qemu;   /* record: QEMU's file or name; NULL when not given */
	const char *cpu;    /* record: the processor's model; NULL when not given */
	uint64_t limit;     /* record: bytes; UINT64_MAX without --limit */
	uint64_t last;      /* record: bytes; 0 without --last */
	bool is_following;  /* record: --follow */
	const char *modules[TS_MAX_MODULES + 1]; /* record: patterns, the last one followed by NULL; none: all */
	struct ts_record_place from, until; /* record: the places of its begin and end */
	struct ts_selection_options selection; /* export */
	const char *at_symbols[TS_MAX_SELECTED]; /* export: the symbols of --at; n_at_symbols of them */
	unsigned n_at_symbols;
	const char *places; /* export: the places FIRST:LAST of --positions; NULL: numbers, or not given */
	char *question;    /* owned; query: its words, a blank between them; sql: the statement, or NULL */
	const char *statements; /* sql: a file with statements, "-" is the standard input; NULL: none */
	enum ts_form_option rows_form; /* query, diff, sql */
	const char *save;  /* sql: the database that is written; NULL: none */
	bool is_full;      /* query, diff, sql: cells are not truncated to the width of the terminal */
	bool is_prompted;  /* sql: statements come from the process of the terminal (sql_prompt.h) */
	bool is_for_sqlite; /* sql: serve the SQLite extension, whose messages come from the standard input */
	bool may_scan;     /* sql: statements may decode any number of steps */
	bool is_partial;   /* query: --partial is among them */
	char **gdb_args;   /* gdb: the arguments after "--", NULL-terminated */
};

/*
 * Parse a command line.
 *
 * Returns true if @cli holds a command to run.  Returns false if no command is to be run: --help or
 * --version was answered on stdout (*status is TS_STATUS_OK), or a message was printed on stderr
 * (TS_STATUS_USAGE).  The caller must call ts_cli_fini() in both cases.
 */
bool ts_cli_parse(struct ts_cli *cli, int argc, char **argv, enum ts_status *status);
void ts_cli_fini(struct ts_cli *cli);

/* Does the command start a debugger: gdb, lldb, dap? */
static inline bool ts_cli_is_debugger(const struct ts_cli *cli)
{
	return cli->command == TS_CMD_GDB || cli->command == TS_CMD_LLDB || cli->command == TS_CMD_DAP;
}

/* Does the command serve clients while the recording is still being read? */
static inline bool ts_cli_is_server(const struct ts_cli *cli)
{
	return ts_cli_is_debugger(cli) || cli->command == TS_CMD_SERVE || cli->command == TS_CMD_MCP;
}

/*
 * A copy of the command line with the trace at index @i of @cli, and the files of its threads, as the only trace.
 * The next trace is at index @i + 1 + n_threads.
 */
struct ts_cli ts_cli_of_trace(const struct ts_cli *cli, size_t i);

/* The page of --help (cli_help.c). */
extern const char ts_cli_help[];

/*
 * Print the part of the page about one command on stdout: its usage, and the options for which @takes returns
 * true (the name, of @len bytes, has no dashes).
 */
void ts_cli_print_help(const char *command,
		       bool (*takes)(const char *command, const char *option, size_t len));

#endif
