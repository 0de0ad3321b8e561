/* SPDX-License-Identifier: MIT */
/*
 * `tracestub diff`: where two recordings of one program part.
 */
#ifndef TS_PROGRAM_DIFF_H
#define TS_PROGRAM_DIFF_H

#include "cli.h"
#include "src/model/model.h"

/* Statuses of `tracestub diff`, beside TS_STATUS_OK for no difference. */
#define TS_STATUS_DIFFERENT 1
#define TS_STATUS_TROUBLE   2

/*
 * Compare the recordings of two models: rows go to stdout, what is wrong to stderr.
 *
 * Returns the status to exit with.
 */
int ts_run_diff(struct ts_model *a, struct ts_model *b, const struct ts_cli *cli);

#endif
