/* SPDX-License-Identifier: MIT */
/*
 * Packets that need data that is not available yet: a part of the recording that has not been read, frames
 * that are being collected, or the table of symbols.
 *
 * The handler of such a packet returns RSP_WAIT before it has changed anything; it is run again when more is
 * available, until it can answer or the client sends ^C.
 */
#ifndef RSP_WAIT_H
#define RSP_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/session/session.h"
#include "src/symbols/symbols.h"
#include "src/base/error.h"

/* Has @pos been read?  If not, the handler must return RSP_WAIT. */
bool rsp_wait_until_read(struct rsp_session *s, uint64_t pos);

/*
 * Can the answer still change because more is read?  If this returns false, the handler must return RSP_WAIT,
 * and is run again when more has been read.
 */
bool rsp_wait_until_more(struct rsp_session *s);

/* Has the recording been read to its end?  If not, the handler must return RSP_WAIT. */
bool rsp_wait_until_complete(struct rsp_session *s);

/*
 * Is the table of symbols ready?
 *
 * Returns true with *symbols set to the table, borrowed.
 * Returns true with *symbols NULL and *err set if it cannot be loaded (TS_EIO, TS_ENOMEM).
 * Returns false if it is not ready; the handler must then return RSP_WAIT.
 */
bool rsp_wait_until_symbols_read(struct rsp_session *s, struct ts_symbols **symbols, struct ts_error *err);

/* Are all frames of the session available?  If not, the handler must return RSP_WAIT. */
bool rsp_wait_until_collected(struct rsp_session *s);

/*
 * Are all frames available and their number final, except for those that a run still collects?  If not, the
 * handler must return RSP_WAIT.
 */
bool rsp_wait_until_frames_known(struct rsp_session *s);

/*
 * After the packet's handler returned RSP_WAIT: run it again later with @handle, as the session's job.
 *
 * Returns false if memory is exhausted.
 */
bool rsp_wait_start(struct rsp_session *s, const uint8_t *payload, size_t len,
		    bool (*handle)(struct rsp_session *s, const uint8_t *payload, size_t len,
				   struct rsp_reply *r));

#endif
