/* SPDX-License-Identifier: MIT */
/*
 * An answer on stdout: rows as they are found; ^C ends it with what there is.
 */
#ifndef TS_PROGRAM_SHOW_H
#define TS_PROGRAM_SHOW_H

#include <stdbool.h>

#include "src/ask/output/answer.h"
#include "src/program/cli/cli.h"

/* The form that the command line asks for: JSON Lines, else text on a terminal and TSV elsewhere. */
enum ts_form_kind ts_show_form(const struct ts_cli *cli);

/* The places of the terminal that rows are cut to; 0: they are not, as with --full or if stdout is no terminal. */
unsigned ts_show_width(const struct ts_cli *cli);

/*
 * Drive the answer, which prints in the form that @cli asks for, to its end; @doing ("searching") is what
 * progress calls that.  *is_stopped gets whether ^C ended it before.
 *
 * Returns false if the trace cannot be read, stdout cannot be written, or memory is exhausted.
 */
bool ts_show_answer(struct ts_answer *a, const struct ts_cli *cli, const char *doing, bool *is_stopped,
		    struct ts_error *err);

#endif
