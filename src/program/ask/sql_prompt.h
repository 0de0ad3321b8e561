/* SPDX-License-Identifier: MIT */
/*
 * The prompt of `tracestub sql` on a terminal: lines with history and completion (libedit).
 *
 * There are two processes: this process owns the terminal and reads keys; its child enters the sandbox, reads the
 * recording and runs the statements.  The child's standard input is a socket to its parent.  Therefore the sandbox
 * needs no system call that changes a terminal, and a hostile recording that takes over the child cannot read keys.
 * The child only returns single bytes, each at the end of a statement.
 */
#ifndef TS_SQL_PROMPT_H
#define TS_SQL_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "src/program/cli/cli.h"

/*
 * If @cli is a prompt on a terminal, fork.  The parent prompts until the end of input and returns true; *status is then
 * the status to exit with.  In the child, cli->is_prompted is set and false is returned, as for any other command.
 */
bool ts_prompt_sql(struct ts_cli *cli, int *status);

/*
 * In the child: report that it waits, and read the next statement; terminated.  The caller frees it.
 *
 * Returns NULL at the end of input.
 */
char *ts_prompt_read(void);

#endif
