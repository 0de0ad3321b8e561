/* SPDX-License-Identifier: MIT */
/*
 * A command's sandbox: the files that its command line names, and tracestub's own files of the user.
 */
#ifndef TS_CONFINE_H
#define TS_CONFINE_H

#include <stdbool.h>

#include "src/program/cli/cli.h"

/*
 * Enter the sandbox of the command, before its recording is opened; @socket is the unix socket that is
 * removed at the end, NULL for none.
 *
 * With --no-sandbox, or on a system without the needed features, a warning is printed instead.
 *
 * Returns true if the command may continue.  Returns false after a message if memory or open files are too few for a
 * sandbox.
 */
bool ts_confine(const struct ts_cli *cli, const char *socket);

#endif
