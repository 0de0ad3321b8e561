/* SPDX-License-Identifier: MIT */
/*
 * A question whose answer is text and may take long, as the session's job: lines go to the client's console as
 * they are found.
 */
#ifndef RSP_QUESTION_H
#define RSP_QUESTION_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/base/next.h"

struct rsp_session;
struct ts_buf;

/* What asks.  @cursor is whatever the question needs; these functions know nothing of sessions. */
struct rsp_question_ops {
	/*
	 * Go on until @end_ns by ts_now_ns(), or a little longer, and append whole lines to @out.
	 *
	 * Returns TS_END when that was all, TS_ITEM when there is more to do, TS_FAIL with one sentence in @err.
	 */
	enum ts_next (*next)(void *cursor, int64_t end_ns, struct ts_buf *out, struct ts_error *err);
	/* Append one line that says how far it is.  NULL: nothing to say. */
	void (*progress)(const void *cursor, struct ts_buf *out);
	void (*free)(void *cursor);
};

struct rsp_question {
	const struct rsp_question_ops *ops; /* NULL: nothing is asked */
	void *cursor;                       /* owned */
};

/* Start the job; @cursor is taken over.  For a command's start(): returns RSP_COMMAND_JOB after it. */
void rsp_question_start(struct rsp_session *s, const struct rsp_question_ops *ops, void *cursor);

#endif
