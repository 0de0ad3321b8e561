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
 * Of the debuggers' commands: if cli->trace is a folder of recordings, one of them takes its place: the one whose
 * failure matters (ts_processes_failed()), else the one that is typed at the terminal.
 *
 * Returns 0 on success, also if it is no such folder.  Otherwise why was said on stderr, and this is the status to exit
 * with.
 */
int ts_folder_choose(struct ts_cli *cli);

#endif
