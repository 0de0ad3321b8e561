/* SPDX-License-Identifier: MIT */
/* One of the recordings that `tracestub mcp` serves. */
#ifndef TS_MCP_RECORDING_H
#define TS_MCP_RECORDING_H

#include <stdbool.h>

#include "src/ask/verb.h"
#include "src/base/error.h"
#include "src/model/model.h"

/* A recording for questions. */
struct ts_mcp_recording {
	const char *path;       /* borrowed; the path on the command line */
	struct ts_model *model; /* borrowed */
	struct ts_ask *ask;     /* borrowed */
	/* called when more of the recording has been read; false: memory is exhausted.  May be NULL */
	bool (*refresh)(void *user, struct ts_error *err);
	void *user;
	bool has_moved;         /* a goto has set the position; until then it is the end */
};

#endif
