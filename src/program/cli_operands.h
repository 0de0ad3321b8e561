/* SPDX-License-Identifier: MIT */
/* The operands of a command: traces, programs, questions, statements; and checks of operands against options. */
#ifndef TS_CLI_OPERANDS_H
#define TS_CLI_OPERANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "src/program/cli/cli.h"

/* Store the @n operands after the command in @cli.  Returns false after a message if they are wrong. */
bool ts_cli_set_operands(struct ts_cli *cli, int n, char **operands);

/* Returns the index of "--" among @n words; @n if no word is "--". */
int ts_cli_find_dashes(int n, char **words);

/* Returns false after a message if an output file is also an input file. */
bool ts_cli_check_outputs(const struct ts_cli *cli);

/* ------------------------------------------------------------------------------------ verb_help.c */

/* Print a line for each verb: its words, and its description. */
void ts_verb_help_list(FILE *out);

/* Print the page of the verb called @name, or of "formats" a line for each format.  Returns false for any other name. */
bool ts_verb_help_print(const char *name);

#endif
