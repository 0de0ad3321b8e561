/* SPDX-License-Identifier: MIT */
/*
 * The command `export` for a recording's calls: --as folded, --as chrome.
 */
#ifndef TS_CALL_EXPORT_H
#define TS_CALL_EXPORT_H

#include <stdbool.h>

#include "src/program/cli/cli.h"
#include "src/query/query.h"

/* Does the command line, by --as or the name of the file, ask for calls? */
bool ts_is_call_export(const struct ts_cli *cli);

/*
 * Write the file of @cli's output.
 *
 * Returns TS_STATUS_OK if it is written.
 * Returns another status after a message if --positions, --at or --collect were given, it cannot be written, the trace
 * cannot be read, memory is exhausted, or the user interrupts it: there is no file then.
 */
enum ts_status ts_run_call_export(struct ts_query *q, const struct ts_cli *cli);

#endif
