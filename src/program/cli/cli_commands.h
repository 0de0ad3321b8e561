/* SPDX-License-Identifier: MIT */
/* The commands: their names, the functions that run them, and usage errors. */
#ifndef TS_CLI_COMMANDS_H
#define TS_CLI_COMMANDS_H

#include <stdbool.h>

#include "cli.h"
#include "src/model/model.h"

struct ts_cli_command {
	const char *name;
	const char *synopsis;
	int n_operands;
	int n_optional; /* additional operands that are optional; INT_MAX: any number */
};

#define TS_N_COMMANDS (TS_CMD_RECORD + 1u)

/* By enum ts_command. */
extern const struct ts_cli_command ts_cli_commands[TS_N_COMMANDS];

/* The command with the name @name; TS_N_COMMANDS if no command has this name. */
unsigned ts_cli_command_named(const char *name);

/* Set the command to the one with the name @name.  Returns false after a message if no command has this name. */
bool ts_cli_find_command(struct ts_cli *cli, const char *name);

/* Print an error in the command line on stderr, with a reference to the help.  Returns false. */
bool ts_cli_usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------------------------------------- the commands */

/* Statuses to exit with, beside those of enum ts_status. */
#define TS_STATUS_NO_ROWS 1    /* query */
#define TS_STATUS_UNREADABLE 3 /* query, sql */
#define TS_STATUS_DIFFERENT 1  /* diff */
#define TS_STATUS_TROUBLE 2    /* diff: two recordings could not be compared */

/*
 * Each function runs a command of @cli, prints its answer on stdout and messages on stderr, and returns the status to
 * exit with.  The caller has read the recording.
 */
enum ts_status ts_run_info(struct ts_model *m, const struct ts_cli *cli);
enum ts_status ts_run_index(struct ts_model *m, const struct ts_cli *cli);
enum ts_status ts_run_export(struct ts_model *m, const struct ts_cli *cli);
enum ts_status ts_run_plot(struct ts_query *q, const struct ts_cli *cli);
enum ts_status ts_run_pack(struct ts_model *m, const struct ts_cli *cli);
int ts_run_query(struct ts_query *q, const struct ts_cli *cli);
int ts_run_diff(struct ts_model *a, struct ts_model *b, const struct ts_cli *cli);

/*
 * diff --against: print a row for each recording cli->traces[1] to the last, with its first difference from @a, the recording
 * cli->traces[0].  Rows are ascending by position; equal recordings are the last.  Returns a status as ts_run_diff() does.
 */
int ts_run_against(struct ts_model *a, const struct ts_cli *cli);

/* These open the recordings that @cli names.  Each returns the status to exit with. */
enum ts_status ts_run_unpack(const struct ts_cli *cli);
enum ts_status ts_run_mcp(const struct ts_cli *cli);
enum ts_status ts_run_part(const struct ts_cli *cli); /* index --segment */

/* Returns 0 if the last statement had rows, 1 if it had none, 2 if a statement was not understood, else 3. */
int ts_run_sql(const struct ts_cli *cli);

/* info of a folder of recordings (open/processes.h).  Returns the status to exit with. */
int ts_run_folder_info(const struct ts_cli *cli);

/*
 * The program's exit status.  If a signal killed the program, this process ends by the same signal, and the function
 * does not return.
 */
int ts_run_record(const struct ts_cli *cli);

/*
 * For the debuggers' commands: if cli->trace is a folder of recordings, replace it with one of them: the recording of
 * ts_processes_failed(), or else the one that the user types at the terminal.
 *
 * Returns 0 on success, also if cli->trace is no such folder.  Otherwise returns the status to exit with, after a
 * message.
 */
int ts_folder_choose(struct ts_cli *cli);

#endif
