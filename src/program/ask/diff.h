/* SPDX-License-Identifier: MIT */
/*
 * `tracestub diff`: the differences of two recordings of one program.
 */
#ifndef TS_PROGRAM_DIFF_H
#define TS_PROGRAM_DIFF_H

#include "src/ask/verb.h"
#include "src/model/model.h"
#include "src/program/cli/cli.h"

/* Statuses of `tracestub diff`, beside TS_STATUS_OK for no difference. */
#define TS_STATUS_DIFFERENT 1
#define TS_STATUS_TROUBLE   2

/*
 * A cursor over the differences of the recordings of @a and @b with the options of @cli.  All three are borrowed.
 *
 * Returns NULL as ts_diff_open() does, or if cli->range is not a range of positions of @a (TS_EUSAGE).
 */
struct ts_rows *ts_diff_begin(struct ts_ask *a, struct ts_model *b, const struct ts_cli *cli, struct ts_error *err);

/*
 * Compare the recordings of two models: rows go to stdout, messages to stderr.
 *
 * Returns the status to exit with.
 */
int ts_run_diff(struct ts_model *a, struct ts_model *b, const struct ts_cli *cli);

#endif
