/* SPDX-License-Identifier: MIT */
/* The commands of the command line, and how a wrong one is refused. */
#ifndef TS_CLI_COMMANDS_H
#define TS_CLI_COMMANDS_H

#include <stdbool.h>

#include "cli.h"

struct ts_cli_command {
	const char *name;
	const char *synopsis;
	int n_operands;
	int n_optional; /* operands that may follow those; INT_MAX: any number */
};

#define TS_N_COMMANDS (TS_CMD_RECORD + 1u)

/* By enum ts_command. */
extern const struct ts_cli_command ts_cli_commands[TS_N_COMMANDS];

/* Which command @name is; TS_N_COMMANDS: there is no such command. */
unsigned ts_cli_command_named(const char *name);

/* Set the command to the one that is called @name.  Returns false if there is none, which is said on stderr. */
bool ts_cli_find_command(struct ts_cli *cli, const char *name);

/* Say on stderr what is wrong with the command line, and where it is explained.  Returns false. */
bool ts_cli_usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
