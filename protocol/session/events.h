/* SPDX-License-Identifier: MIT */
/*
 * The events at a session's position: signals, faults, interrupts and exits, for users and for gdb.
 */
#ifndef RSP_EVENTS_H
#define RSP_EVENTS_H

#include <stdbool.h>

struct rsp_session;
struct ts_buf;

/* Append a line for each event at the session's position, in the recorder's words if it has any. */
void rsp_events_text(const struct rsp_session *s, struct ts_buf *out);

/*
 * Append the siginfo of the signal or fault at the session's position, as Linux lays it out for the program.
 *
 * Returns false if no signal or fault is at this position.
 * Returns false if its address was not recorded, or if Linux reports no address with that signal.
 */
bool rsp_events_siginfo(const struct rsp_session *s, struct ts_buf *out);

/* Can the recording have a siginfo anywhere?  True while it is being read. */
bool rsp_events_may_have_siginfo(const struct rsp_session *s);

#endif
