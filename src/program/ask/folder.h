/* SPDX-License-Identifier: MIT */
/*
 * Folders of recordings (processes.h) on the command line.
 */
#ifndef TS_FOLDER_H
#define TS_FOLDER_H

#include "src/program/cli/cli.h"

/*
 * Print the recordings of the folder cli->trace as a tree, with --json as an object.
 *
 * Returns the status to exit with.
 */
int ts_folder_info(const struct ts_cli *cli);

/*
 * For the debuggers' commands: if cli->trace is a folder of recordings, replace it with one of them: the recording of
 * ts_processes_failed(), or else the one that the user types at the terminal.
 *
 * Returns 0 on success, also if cli->trace is no such folder.  Otherwise returns the status to exit with, after a
 * message.
 */
int ts_folder_choose(struct ts_cli *cli);

#endif
