/* SPDX-License-Identifier: MIT */
/* The commands of the command line, and usage errors. */
#ifndef TS_CLI_COMMANDS_H
#define TS_CLI_COMMANDS_H

#include <stdbool.h>

#include "cli.h"

struct ts_cli_command {
	const char *name;
	const char *synopsis;
	int n_operands;
	int n_optional; /* additional operands that are optional; INT_MAX: any number */
};

#define TS_N_COMMANDS (TS_CMD_RECORD + 1u)

/* By enum ts_command. */
extern const struct ts_cli_command ts_cli_commands[TS_N_COMMANDS];

/* The command with the name @name; TS_N_COMMANDS if there is none. */
unsigned ts_cli_command_named(const char *name);

/* Set the command to the one with the name @name.  Returns false after a message if there is none. */
bool ts_cli_find_command(struct ts_cli *cli, const char *name);

/* Print an error in the command line on stderr, with a reference to the help.  Returns false. */
bool ts_cli_usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
