/* SPDX-License-Identifier: MIT */
/*
 * A command's sandbox: the files that its command line names, and those that tracestub keeps for its user.
 */
#ifndef TS_CONFINE_H
#define TS_CONFINE_H

#include "cli.h"

/*
 * Enter the sandbox of the command, before its recording is opened; @socket is the unix socket that is removed at the end,
 * NULL for none.
 *
 * --no-sandbox, and a system that cannot have one, are a warning.
 */
void ts_confine(const struct ts_cli *cli, const char *socket);

#endif
