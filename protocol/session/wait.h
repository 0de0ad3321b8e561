/* SPDX-License-Identifier: MIT */
/*
 * Packets that ask about what is not there yet: a part of the recording that has not been read, or frames that
 * are being collected.
 *
 * The handler of such a packet returns RSP_WAIT, before it has changed anything; it is run again when there is
 * more, until it can answer or the client sends ^C.
 */
#ifndef RSP_WAIT_H
#define RSP_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"

struct rsp_session;

/* How a packet that is interrupted is answered. */
enum rsp_wait_kind {
	RSP_WAIT_QUERY,   /* by an error */
	RSP_WAIT_COMMAND, /* as a monitor command that was refused */
	RSP_WAIT_RESUME,  /* by a stop where the session stands */
};

struct rsp_wait {
	struct ts_buf packet; /* owned; the one that waits */
	enum rsp_wait_kind kind;
	uint64_t pos;         /* it waits until a session may stand there, TS_NO_POS: until there is more */
	uint64_t tried;       /* the last position when it was run last */
	int64_t next_try;     /* it is not run again before, so as not to do little else */
};

/* May a session stand at @pos?  If not, the handler is to return RSP_WAIT. */
bool rsp_wait_until_read(struct rsp_session *s, uint64_t pos);

/* Is all there that may tell?  If not, the handler is to return RSP_WAIT, and is run again when there is more. */
bool rsp_wait_until_more(struct rsp_session *s);

/* Has the recording been read to its end?  If not, the handler is to return RSP_WAIT. */
bool rsp_wait_until_complete(struct rsp_session *s);

/* Are all frames there that the session can look at?  If not, the handler is to return RSP_WAIT. */
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
