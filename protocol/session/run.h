/* SPDX-License-Identifier: MIT */
/*
 * A run under way: from a resume packet to the stop that ends it.
 *
 * A step has a target, the position behind (in reverse: before) the next instruction of its thread; a
 * continue has the end of the recording.  Either way a search looks for a stop up to there.  A range step
 * looks for its target first: the first position at which the thread has left the range.
 */
#ifndef RSP_RUN_H
#define RSP_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "src/query/search.h"

struct rsp_session;

enum rsp_run_state {
	RSP_RUN_NONE,
	RSP_RUN_LEAVING, /* a range step on its way to the target */
	RSP_RUN_SEARCHING,
	RSP_RUN_AT_EDGE, /* it has come to where reading the recording is */
	RSP_RUN_COLLECTING, /* it has stopped, but what lies on the way is collected first */
};

struct rsp_run {
	enum rsp_run_state state;
	bool is_reverse;
	bool is_step;        /* a stop at the target is an ordinary one, not the end of the recording */
	bool is_repeated;    /* a step that was said to be done already, and moves nothing either time */
	bool is_interrupted; /* the client wants it to stop */
	uint32_t thread;     /* the thread that steps; TS_NO_THREAD for a continue */
	bool is_open;        /* the target is no end: more is being read */
	bool is_leaving;     /* AT_EDGE: it was RSP_RUN_LEAVING */
	uint64_t pos;        /* LEAVING, AT_EDGE: how far it got */
	uint64_t edge;       /* AT_EDGE: the last position then */
	uint64_t target;
	uint64_t range_start, range_end;
	struct ts_stops stops; /* arrays borrowed from the session */
	struct ts_search search;
};

/* What resume packets ask for.  Each starts a run as the session's job. */
bool rsp_run_continue(struct rsp_session *s, bool is_reverse, struct ts_error *err);
bool rsp_run_step(struct rsp_session *s, uint32_t thread, bool is_reverse, struct ts_error *err);

/* Step forwards while the pc of @thread is in [start, end); at least one instruction of it. */
bool rsp_run_range(struct rsp_session *s, uint32_t thread, uint64_t start, uint64_t end,
		   struct ts_error *err);

#endif
