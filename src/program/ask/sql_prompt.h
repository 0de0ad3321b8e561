/* SPDX-License-Identifier: MIT */
/*
 * The prompt of `tracestub sql` on a terminal: lines with history and completion (libedit).
 *
 * Two processes: this one owns the terminal and reads keys, and its child, which enters the sandbox, reads the recording
 * and runs the statements.  The child's standard input is a socket to its parent; so the sandbox needs no call that
 * changes a terminal, and what is typed is no concern of a process that a hostile recording may have taken over.  Nothing
 * but single bytes comes back: a statement is done.
 */
#ifndef TS_SQL_PROMPT_H
#define TS_SQL_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "src/program/cli/cli.h"

/*
 * If @cli is a prompt on a terminal: fork.  In the parent, prompt until the end; it returns true, and *status is the
 * status to exit with.  In the child, cli->is_prompted is set, and false is returned, as it is for any other command.
 */
bool ts_prompt_sql(struct ts_cli *cli, int *status);

/*
 * In the child: say that it waits, and read what was typed; terminated, to be freed.
 *
 * Returns NULL at the end.
 */
char *ts_prompt_read(void);

#endif
