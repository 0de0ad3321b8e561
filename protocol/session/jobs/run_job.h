/* SPDX-License-Identifier: MIT */
/*
 * Resuming the program, as a session's job: from a resume packet to the stop that ends it.
 *
 * The movement and its stops are a walk over positions (src/query/search/walk.h); this file has the client's side:
 * conditions and commands, collecting on the way, and the stop reply.
 */
#ifndef RSP_RUN_JOB_H
#define RSP_RUN_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "src/query/search/walk.h"

struct rsp_session;

/* The state of the job. */
struct rsp_resume {
	struct ts_walk walk;
	bool is_reverse;
	bool is_collecting; /* the walk has stopped, but the positions on the way are collected first */
	bool is_waiting;    /* for more of the recording to be read ... */
	uint64_t edge;      /* ... whose last position was this one then */
	uint32_t thread;    /* the thread that steps; TS_NO_THREAD for a continue */
};

/*
 * The actions of resume packets.  Each becomes the session's job: a continue of all threads.
 *
 * Returns false if memory is exhausted, as do the functions below.
 */
bool rsp_resume_continue(struct rsp_session *s, bool is_reverse);
/* A continue of @thread only.  The other threads run as recorded.  Returns false if memory is exhausted. */
bool rsp_resume_continue_one(struct rsp_session *s, uint32_t thread, bool is_reverse);

/* A step of @thread.  Returns false if memory is exhausted. */
bool rsp_resume_step(struct rsp_session *s, uint32_t thread, bool is_reverse);

/*
 * Step forwards while the pc of @thread is in [@start, @end), at least one instruction of it.  Returns false
 * if memory is exhausted.
 */
bool rsp_resume_range(struct rsp_session *s, uint32_t thread, uint64_t start, uint64_t end);

/* Is the session's job of this kind? */
bool rsp_resume_is_under_way(const struct rsp_session *s);

#endif
