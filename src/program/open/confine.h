/* SPDX-License-Identifier: MIT */
/*
 * A command's sandbox: the files that its command line names, and those that tracestub keeps for its user.
 */
#ifndef TS_CONFINE_H
#define TS_CONFINE_H

#include <stdbool.h>

#include "src/program/cli/cli.h"

/*
 * Enter the sandbox of the command, before its recording is opened; @socket is the unix socket that is
 * removed at the end, NULL for none.
 *
 * --no-sandbox, and a system that cannot have one, are a warning.
 *
 * Returns true if the command may go on.  Returns false if memory or open files do not suffice for a sandbox,
 * which is reported.
 */
bool ts_confine(const struct ts_cli *cli, const char *socket);

#endif
