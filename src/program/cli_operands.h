/* SPDX-License-Identifier: MIT */
/* What follows a command: traces, programs, questions, statements; and whether they agree with the options. */
#ifndef TS_CLI_OPERANDS_H
#define TS_CLI_OPERANDS_H

#include <stdbool.h>

#include "src/program/cli/cli.h"

/* Set what the @n operands after the command say.  Returns false if they are wrong, which is said on stderr. */
bool ts_cli_set_operands(struct ts_cli *cli, int n, char **operands);

/* Where "--" is among @n words; @n without one. */
int ts_cli_find_dashes(int n, char **words);

/* Returns false if a file that is to be written is one that is to be read, which is said on stderr. */
bool ts_cli_check_outputs(const struct ts_cli *cli);

#endif
