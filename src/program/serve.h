/* SPDX-License-Identifier: MIT */
/*
 * The commands that serve clients: serve, and gdb, which starts its client itself.
 */
#ifndef TS_SERVE_H
#define TS_SERVE_H

#include "cli.h"
#include "src/model/model.h"

/* Each serves until it is told to end, while the recording may still be read.  Returns the status to exit with. */
int ts_run_serve(struct ts_model *m, const struct ts_cli *cli);
int ts_run_debugger(struct ts_model *m, const struct ts_cli *cli);

#endif
