/* SPDX-License-Identifier: MIT */
/*
 * The command `export` for a recording's calls: --as folded, --as chrome.
 */
#ifndef TS_CALL_EXPORT_H
#define TS_CALL_EXPORT_H

#include <stdbool.h>

#include "src/program/cli/cli.h"
#include "src/query/query.h"

/* Does the command line select calls, with --as or the name of the file? */
bool ts_is_call_export(const struct ts_cli *cli);

/*
 * Write the file of @cli's output.
 *
 * Returns TS_STATUS_OK if the file was written.
 * Returns another status after a message, without a file, if --positions, --at or --collect were given, the file cannot
 * be written, the trace cannot be read, memory is exhausted, or the user interrupts the command.
 */
enum ts_status ts_run_call_export(struct ts_query *q, const struct ts_cli *cli);

#endif
