/* SPDX-License-Identifier: MIT */
/*
 * `tracestub plot`: a picture of a recording, as SVG or as a page.
 */
#ifndef TS_PROGRAM_PLOT_H
#define TS_PROGRAM_PLOT_H

#include "cli.h"
#include "src/query/query.h"

/* Can a picture be written to @path?  Its name says how: it ends in .svg, .html or .htm. */
bool ts_plot_is_output(const char *path);

/* Draw the complete recording @q.  Returns the status to exit with. */
enum ts_status ts_run_plot(struct ts_query *q, const struct ts_cli *cli);

#endif
