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

/* Append the thread's position, for users: "position 5 of 100" for the one that runs. */
void rsp_thread_text(const struct rsp_session *s, uint32_t thread, struct ts_buf *out);

/* Append the document that qXfer:threads:read serves: the threads that exist. */
void rsp_threads_xml(const struct rsp_session *s, struct ts_buf *out);

#endif
