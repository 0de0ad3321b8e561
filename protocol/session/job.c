/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <stddef.h>

#include "session.h"
#include "src/base/clock.h"

void rsp_job_start(struct rsp_session *s, const struct rsp_job_ops *ops)
{
	s->job = (struct rsp_job){ .ops = ops, .next_note = ts_now_ns() + RSP_NOTE_NS };
}

void rsp_job_cancel(struct rsp_session *s)
{
	const struct rsp_job_ops *ops = s->job.ops;

	s->job = (struct rsp_job){ 0 };
	if (ops)
		ops->cancel(s);
}

bool rsp_job_run(struct rsp_session *s, struct rsp_reply *r)
{
	const struct rsp_job_ops *ops = s->job.ops;
	bool is_over = ops->slice(s, ts_now_ns() + TS_SLICE_NS, r);

	if (is_over)
		s->job = (struct rsp_job){ 0 };
	else
		rsp_job_tell(s, ts_now_ns());
	return is_over;
}

bool rsp_job_is_stuck(const struct rsp_session *s)
{
	const struct rsp_job_ops *ops = s->job.ops;

	return ops && ops->is_stuck && ops->is_stuck(s);
}

void rsp_job_tell(struct rsp_session *s, int64_t now)
{
	if (!s->job.ops || !s->job.ops->progress || now < s->job.next_note)
		return;
	s->job.next_note = now + RSP_NOTE_NS;
	s->job.ops->progress(s, &s->console);
}

void rsp_job_note_interrupt(struct rsp_session *s)
{
	s->job.is_interrupted = true;
}
