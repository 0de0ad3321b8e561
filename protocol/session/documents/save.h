/* SPDX-License-Identifier: MIT */
/*
 * Saving the frames of a session in a trace file, for a client that may be on another machine than the
 * server.
 *
 * Files are created only in the directory of --export-dir, with plain names.  The file is written in slices, with
 * progress messages, while the client waits.
 */
#ifndef RSP_SAVE_H
#define RSP_SAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

struct rsp_session;

/*
 * Begin to save the session's frames, as its job: as @name in the directory for exports, whose path @name may
 * have as a prefix.  @is_command: a monitor command requested it.
 *
 * Returns false if the directory does not exist or the name is not a plain one in it (TS_EUSAGE), if a run
 * still collects (TS_EUSAGE), or if the file cannot be made (TS_EIO).
 */
bool rsp_save_start(struct rsp_session *s, const char *name, bool is_command, struct ts_error *err);

#endif
