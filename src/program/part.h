/* SPDX-License-Identifier: MIT */
/*
 * tracestub index TRACE --segment I/N: one part of a recording is decoded for tracestub index TRACE --merge.
 */
#ifndef TS_PROGRAM_PART_H
#define TS_PROGRAM_PART_H

#include "src/program/cli/cli.h"

/* Returns the status to exit with; what failed was said on stderr. */
enum ts_status ts_run_part(const struct ts_cli *cli);

#endif
