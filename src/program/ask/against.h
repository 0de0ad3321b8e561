/* SPDX-License-Identifier: MIT */
/*
 * `diff TRACE --against FOLDER`: the first difference of one recording from each recording in a folder.
 */
#ifndef TS_AGAINST_H
#define TS_AGAINST_H

#include "src/model/model.h"
#include "src/program/cli/cli.h"

/*
 * Print a row for each recording cli->traces[1] to the last, with its first difference from @a, the recording
 * cli->traces[0].  Rows are ascending by position; equal recordings are the last.
 *
 * Returns the status to exit with: TS_STATUS_OK if all are equal, TS_STATUS_DIFFERENT if one differs, TS_STATUS_TROUBLE
 * if one could not be compared; stderr then says why.
 */
int ts_run_against(struct ts_model *a, const struct ts_cli *cli);

#endif
