/* SPDX-License-Identifier: MIT */
/*
 * Packets that ask about something not available yet: a part of the recording that has not been read, or
 * frames that are being collected.
 *
 * The handler of such a packet returns RSP_WAIT before it has changed anything; it is run again when more is
 * available, until it can answer or the client sends ^C.
 */
#ifndef RSP_WAIT_H
#define RSP_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"

struct rsp_session;

/* The answer to a packet that is interrupted. */
enum rsp_wait_kind {
	RSP_WAIT_QUERY,   /* an error */
	RSP_WAIT_COMMAND, /* that of a refused monitor command */
	RSP_WAIT_RESUME,  /* a stop at the session's position */
};

struct rsp_wait {
	struct ts_buf packet; /* owned; the waiting packet */
	enum rsp_wait_kind kind;
	uint64_t pos;         /* it waits until this position has been read, TS_NO_POS: for any more */
	uint64_t tried;       /* the last position that was read when it was last run */
	int64_t next_try;     /* it is not run again before this time, to limit the load */
};

/* Has @pos been read?  If not, the handler must return RSP_WAIT. */
bool rsp_wait_until_read(struct rsp_session *s, uint64_t pos);

/*
 * Can the answer still change because more is read?  If this returns false, the handler must return RSP_WAIT,
 * and is run again when more has been read.
 */
bool rsp_wait_until_more(struct rsp_session *s);

/* Has the recording been read to its end?  If not, the handler must return RSP_WAIT. */
bool rsp_wait_until_complete(struct rsp_session *s);

/* Are all frames of the session available?  If not, the handler must return RSP_WAIT. */
bool rsp_wait_until_collected(struct rsp_session *s);

/*
 * The packet's handler returned RSP_WAIT: run it again later, as the session's job.
 *
 * Returns false if memory is exhausted.
 */
bool rsp_wait_start(struct rsp_session *s, const uint8_t *payload, size_t len);

/* Append "read so far: 7 %"; nothing if all has been read. */
void rsp_wait_put_read(const struct rsp_session *s, struct ts_buf *out);

#endif
