/* SPDX-License-Identifier: MIT */
/*
 * The threads at a session's position, as reported to a client.
 */
#ifndef RSP_THREADS_H
#define RSP_THREADS_H

#include <stdbool.h>
#include <stdint.h>

struct rsp_session;
struct ts_buf;

/* Does the thread (ordinal) exist at the session's position?  The one that runs there always exists. */
bool rsp_thread_exists(const struct rsp_session *s, uint32_t thread);

/*
 * Is the thread in the list that the client gets?  Those that exist are, and for gdb also those that begin
 * later, if gdb has been told of them before: it deletes the breakpoints of a thread that is no longer listed,
 * and gives it another number when it is listed again.
 */
bool rsp_thread_is_listed(const struct rsp_session *s, uint32_t thread);

/* Append the position of a listed thread, for users: "position 5 of 100" for the one that runs. */
void rsp_thread_text(const struct rsp_session *s, uint32_t thread, struct ts_buf *out);

/*
 * The client is told of a thread, or of all that exist, in a list or in a stop.  If memory is exhausted, a
 * thread is not noted, and not listed before it begins.
 */
void rsp_threads_note(struct rsp_session *s, uint32_t thread);
void rsp_threads_note_all(struct rsp_session *s);

/* Append the document that qXfer:threads:read serves: the listed threads. */
void rsp_threads_xml(const struct rsp_session *s, struct ts_buf *out);

/*
 * gdb 13 crashes (finish_step_over) if it steps one thread alone over a breakpoint and another one stops.
 * Call this before such a stop is reported, for whatever reason: if the stepped thread exists here, it is the
 * one that stops, and the console says which thread runs.
 *
 * Returns true if the stop is now another thread's than it was: it has no reason then.
 */
bool rsp_threads_hold_alone(struct rsp_session *s);

#endif
