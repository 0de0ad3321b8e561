/* SPDX-License-Identifier: MIT */
/*
 * An answer on stdout: rows as they are found; ^C ends the answer with the rows found so far.
 */
#ifndef TS_PROGRAM_SHOW_H
#define TS_PROGRAM_SHOW_H

#include <stdbool.h>

#include "src/ask/output/answer.h"
#include "src/program/cli/cli.h"

/* Returns the output form of the command line: JSON Lines, else text on a terminal and TSV elsewhere. */
enum ts_form_kind ts_show_form(const struct ts_cli *cli);

/* The terminal width to which rows are truncated; 0: never, with --full or if stdout is no terminal. */
unsigned ts_show_width(const struct ts_cli *cli);

/*
 * Print the answer to its end, in the form that @cli selects; @doing ("searching") is the word for progress lines.
 * *is_stopped is set to whether ^C ended it.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if stdout cannot be written (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_show_answer(struct ts_answer *a, const struct ts_cli *cli, const char *doing, bool *is_stopped,
		    struct ts_error *err);

#endif
