/* SPDX-License-Identifier: MIT */
/*
 * `tracestub mcp`: a server of recordings for a client of the Model Context Protocol over stdio.
 *
 * Versions 2025-06-18, 2025-03-26 and 2024-11-05.  Calls are answered in sequence;
 * notifications/cancelled ends the running call.
 */
#ifndef TS_MCP_H
#define TS_MCP_H

#include <stdbool.h>
#include <stddef.h>

#include "recording.h"
#include "src/base/error.h"

/*
 * Serve @n recordings at the file descriptors @in and @out until the client closes its end.
 *
 * Returns false if @out cannot be written.
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_mcp_serve(struct ts_mcp_recording *recordings, size_t n, int in, int out, struct ts_error *err);

#endif
