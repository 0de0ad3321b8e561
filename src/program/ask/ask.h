/* SPDX-License-Identifier: MIT */
/*
 * `tracestub query`: one question, answered on stdout.
 */
#ifndef TS_PROGRAM_ASK_H
#define TS_PROGRAM_ASK_H

#include "src/program/cli/cli.h"
#include "src/query/query.h"

/* Statuses of `tracestub query`, beside TS_STATUS_OK for rows and TS_STATUS_USAGE. */
#define TS_STATUS_NO_ROWS 1
#define TS_STATUS_UNREADABLE 3

/*
 * Answer the question of @cli: rows go to stdout, messages to stderr.
 *
 * Returns the status to exit with.
 */
int ts_ask_run(struct ts_query *q, const struct ts_cli *cli);

#endif
