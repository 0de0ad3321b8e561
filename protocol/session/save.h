/* SPDX-License-Identifier: MIT */
/*
 * The frames of a session into a trace file, for a client that may not be where the server is.
 *
 * Files appear in one folder only, which the user named when the server was started, and under plain names.
 * Writing goes in slices; the client waits for the end of it and is told now and then how far it is.
 */
#ifndef RSP_SAVE_H
#define RSP_SAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

struct rsp_session;
struct ts_export;

struct rsp_save {
	struct ts_export *export; /* owned; NULL: nothing is being saved */
	bool is_command;          /* a monitor command wants it, not a packet of its own */
};

/*
 * Begin to save the session's frames, as its job: as @name in the folder for exports, of which @name may have
 * the path before it.  @is_command says who asks.
 *
 * Returns false if there is no such folder or the name is not a plain one in it (TS_EUSAGE), if a run still
 * collects (TS_EUSAGE), or if the file cannot be made (TS_EIO).
 */
bool rsp_save_start(struct rsp_session *s, const char *name, bool is_command, struct ts_error *err);

#endif
