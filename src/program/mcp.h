/* SPDX-License-Identifier: MIT */
/*
 * `tracestub mcp TRACE...`: recordings for a client of the Model Context Protocol.
 */
#ifndef TS_RUN_MCP_H
#define TS_RUN_MCP_H

#include "src/program/cli/cli.h"

/*
 * Open the traces of @cli and serve them over stdio until the client leaves.  Returns the status to exit
 * with.
 */
enum ts_status ts_run_mcp(const struct ts_cli *cli);

#endif
