/* SPDX-License-Identifier: MIT */
/*
 * The commands that process a complete recording and exit: info, index, export.
 */
#ifndef TS_COMMANDS_H
#define TS_COMMANDS_H

#include "src/model/model.h"
#include "src/program/cli/cli.h"

/* Each runs one command of @cli on a complete recording.  Returns the status to exit with. */
enum ts_status ts_run_info(struct ts_model *m, const struct ts_cli *cli);
enum ts_status ts_run_index(struct ts_model *m, const struct ts_cli *cli);
enum ts_status ts_run_export(struct ts_model *m, const struct ts_cli *cli);

#endif
