/* SPDX-License-Identifier: MIT */
#include "job.h"

#include "src/base/clock.h"

void rsp_job_start(struct rsp_job *job, const struct rsp_job_ops *ops, void *state)
{
	*job = (struct rsp_job){ .ops = ops, .state = state, .next_note = ts_now_ns() + RSP_NOTE_NS };
}

void rsp_job_cancel(struct rsp_job *job, struct rsp_session *s)
{
	if (job->ops)
		job->ops->cancel(s);
	*job = (struct rsp_job){ 0 };
}

bool rsp_job_run(struct rsp_job *job, struct rsp_session *s, struct ts_buf *console, struct rsp_reply *r)
{
	bool is_over = job->ops->slice(s, ts_now_ns() + TS_SLICE_NS, r);

	if (is_over)
		*job = (struct rsp_job){ 0 };
	else
		rsp_job_report(job, s, console, ts_now_ns());
	return is_over;
}

bool rsp_job_is_stuck(const struct rsp_job *job, const struct rsp_session *s)
{
	return job->ops && job->ops->is_stuck && job->ops->is_stuck(s);
}

void rsp_job_report(struct rsp_job *job, const struct rsp_session *s, struct ts_buf *console, int64_t now)
{
	if (!job->ops || !job->ops->progress || now < job->next_note)
		return;
	job->next_note = now + RSP_NOTE_NS;
	job->ops->progress(s, console);
}

void rsp_job_interrupt(struct rsp_job *job, struct rsp_session *s)
{
	job->is_interrupted = true;
	if (job->ops->interrupt)
		job->ops->interrupt(s);
}
