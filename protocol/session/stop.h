/* SPDX-License-Identifier: MIT */
/*
 * Stop replies: the position of a session, and the reason of the stop.
 */
#ifndef RSP_STOP_H
#define RSP_STOP_H

#include <stdbool.h>
#include <stdint.h>

struct rsp_reply;
struct rsp_session;
struct ts_found;

/*
 * Make the stop reply for the session's position, with the reason @found (NULL: none, as after '?').  @signal
 * is gdb's number: 5 (SIGTRAP) except for an interrupt (2).
 */
void rsp_stop_reply(struct rsp_session *s, struct rsp_reply *r, uint8_t signal, const struct ts_found *found);

/*
 * Name in the stop reply the watchpoints that the same step triggers besides the one of @found; for clients that
 * accept several (multi-wp-addr+).  Does nothing for another kind of stop.
 */
void rsp_stop_put_watches(struct rsp_session *s, struct rsp_reply *r, const struct ts_found *found,
			  bool is_reverse);

#endif
