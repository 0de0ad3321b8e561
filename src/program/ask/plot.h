/* SPDX-License-Identifier: MIT */
/*
 * `tracestub plot`: a picture of a recording, as SVG or as a page.
 */
#ifndef TS_PROGRAM_PLOT_H
#define TS_PROGRAM_PLOT_H

#include "src/program/cli/cli.h"
#include "src/query/query.h"

/* Draw the complete recording @q.  Returns the status to exit with. */
enum ts_status ts_run_plot(struct ts_query *q, const struct ts_cli *cli);

#endif
