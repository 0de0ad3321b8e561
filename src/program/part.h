/* SPDX-License-Identifier: MIT */
/*
 * tracestub index TRACE --segment I/N: decode one part of a recording for tracestub index TRACE --merge.
 */
#ifndef TS_PROGRAM_PART_H
#define TS_PROGRAM_PART_H

#include "src/program/cli/cli.h"

/* Returns the status to exit with, after a message on failure. */
enum ts_status ts_run_part(const struct ts_cli *cli);

#endif
