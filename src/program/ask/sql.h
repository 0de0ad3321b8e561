/* SPDX-License-Identifier: MIT */
/* `tracestub sql TRACE... ["SELECT ..."]`: SQL statements on recordings, or a prompt for them. */
#ifndef TS_RUN_SQL_H
#define TS_RUN_SQL_H

#include "src/program/cli/cli.h"

/*
 * Open the recordings that @cli names, and run its statements on them.
 *
 * Returns the status to exit with: 0 if the last statement had rows, 1 if it had none, 2 if a statement was not understood,
 * 3 if the recording or a file of statements could not be read, or a result not be written.
 */
int ts_run_sql(const struct ts_cli *cli);

#endif
