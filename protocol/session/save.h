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
#include "src/trace/reader.h"

struct rsp_session;
struct ts_export;

struct rsp_save {
	struct ts_export *export; /* owned; NULL: nothing is being saved */
	int64_t next_note;        /* when the client hears of it again */
};

/*
 * Begin to save the session's frames as @name in the folder for exports, of which @name may have the path
 * before it.
 *
 * Returns false if there is no such folder or the name is none for it (TS_EUSAGE), if a run still collects
 * (TS_EUSAGE), or if the file cannot be made (TS_EIO).
 */
bool rsp_save_start(struct rsp_session *s, const char *name, struct ts_error *err);

/* Give up what is not complete. */
void rsp_save_cancel(struct rsp_session *s);

/*
 * Go on until @end_ns.  Returns TS_END when the file is there, TS_ITEM when there is more to do, TS_FAIL with
 * @err.
 */
enum ts_next rsp_save_slice(struct rsp_session *s, int64_t end_ns, struct ts_error *err);

#endif
