/* SPDX-License-Identifier: MIT */
/*
 * `tracestub record PROGRAM ARGS...`: runs a program in QEMU's user mode, with the plugin of src/recorder,
 * and writes the recording.
 */
#ifndef TS_RUN_RECORD_H
#define TS_RUN_RECORD_H

#include "src/program/cli/cli.h"

/*
 * Record the program of @cli.
 *
 * Returns the program's exit status.  If a signal killed the program, this process ends by the same signal, and the
 * function does not return.
 */
int ts_run_record(const struct ts_cli *cli);

#endif
