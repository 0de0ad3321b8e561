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

/* Does the thread (ordinal) exist at the session's position?  The running thread always exists. */
bool rsp_thread_exists(const struct rsp_session *s, uint32_t thread);

/*
 * Is the thread in the client's list?  The list has the existing threads, and for gdb also threads that begin
 * later and were reported before: gdb deletes the breakpoints of a thread that is no longer listed,
 * and gives it another number when it is listed again.
 */
bool rsp_thread_is_listed(const struct rsp_session *s, uint32_t thread);

/* Append the position of a listed thread, for users: "position 5 of 100" for the running thread. */
void rsp_thread_text(const struct rsp_session *s, uint32_t thread, struct ts_buf *out);

/*
 * Record that a thread, or all existing threads, were reported to the client in a list or in a stop.  If memory is
 * exhausted, a thread is not recorded, and not listed before it begins.
 */
void rsp_threads_note(struct rsp_session *s, uint32_t thread);
void rsp_threads_note_all(struct rsp_session *s);

/* Append the document of qXfer:threads:read: the listed threads. */
void rsp_threads_xml(const struct rsp_session *s, struct ts_buf *out);

/*
 * gdb 13 crashes (finish_step_over) if it steps one thread alone over a breakpoint and another one stops.
 * Call this before any such stop is reported: if the stepped thread exists here, the stop is attributed to it, and
 * console output names the running thread.
 *
 * Returns true if the stop is attributed to another thread: it has no reason then.
 */
bool rsp_threads_hold_alone(struct rsp_session *s);

#endif
