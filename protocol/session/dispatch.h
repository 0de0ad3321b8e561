/* SPDX-License-Identifier: MIT */
/*
 * The dispatch of packets to their handlers, which answer, begin a job, or wait for a part that has not been read yet.
 */
#ifndef RSP_DISPATCH_H
#define RSP_DISPATCH_H

#include "session.h"

/*
 * Answer one packet: the reply is added to @r, which must be empty.
 *
 * Returns true if there is a reply to send, false if not: a stop reply comes later, or the session ends
 * (is_closing).
 */
bool rsp_dispatch_packet(struct rsp_session *s, const uint8_t *payload, size_t len, struct rsp_reply *r);

#endif
