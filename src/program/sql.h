/* SPDX-License-Identifier: MIT */
/* `tracestub sql TRACE ["SELECT ..."]`: statements about a recording, or a prompt for them. */
#ifndef TS_RUN_SQL_H
#define TS_RUN_SQL_H

#include "cli.h"
#include "src/query/query.h"

/*
 * Run the statements of @cli on the recording of @q.
 *
 * Returns the status to exit with: 0 if the last statement had rows, 1 if it had none, 2 if a statement was not understood,
 * 3 if the recording or a file of statements could not be read, or a result not be written.
 */
int ts_run_sql(struct ts_query *q, const struct ts_cli *cli);

#endif
