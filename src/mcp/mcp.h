/* SPDX-License-Identifier: MIT */
/*
 * `tracestub mcp`: recordings answer a client of the Model Context Protocol over stdio.
 *
 * Versions 2025-06-18, 2025-03-26 and 2024-11-05.  Calls are answered one after the other;
 * notifications/cancelled ends the one that runs.
 */
#ifndef TS_MCP_H
#define TS_MCP_H

#include <stdbool.h>
#include <stddef.h>

#include "src/ask/verb.h"
#include "src/base/error.h"
#include "src/model/model.h"

/* A recording that can be asked. */
struct ts_mcp_recording {
	const char *path;       /* borrowed; as it was named */
	struct ts_model *model; /* borrowed */
	struct ts_ask *ask;     /* borrowed */
	/* called when more of the recording has been read; false: memory is exhausted.  May be NULL */
	bool (*refresh)(void *user, struct ts_error *err);
	void *user;
};

/*
 * Serve @n recordings at the file descriptors @in and @out until the client closes its end.
 *
 * Returns false if @out cannot be written or memory is exhausted.
 */
bool ts_mcp_serve(struct ts_mcp_recording *recordings, size_t n, int in, int out, struct ts_error *err);

#endif
