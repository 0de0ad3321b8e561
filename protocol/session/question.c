/* SPDX-License-Identifier: MIT */
#include "question.h"

#include "session.h"

static void drop(struct rsp_session *s)
{
	if (s->question.ops)
		s->question.ops->free(s->question.cursor);
	s->question = (struct rsp_question){ 0 };
}

static bool slice(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r)
{
	struct rsp_question *q = &s->question;
	enum ts_next next = TS_FAIL;
	size_t off = s->console.len;
	struct ts_error err;

	ts_error_reset(&err);
	if (s->job.is_interrupted)
		ts_fail(&err, TS_EUSAGE, TS_NO_OFF, "interrupted: this is not all");
	else
		next = q->ops->next(q->cursor, end_ns, &s->console, &err);
	rsp_make_printable(&s->console, off);
	if (next == TS_ITEM)
		return false;
	if (next == TS_END)
		rsp_reply_ok(r);
	else
		rsp_session_refuse(s, r, err.text, true);
	drop(s);
	return true;
}

static void put_progress(const struct rsp_session *s, struct ts_buf *out)
{
	if (s->question.ops->progress)
		s->question.ops->progress(s->question.cursor, out);
}

static const struct rsp_job_ops ops = {
	.slice = slice,
	.interrupt = rsp_job_note_interrupt,
	.cancel = drop,
	.progress = put_progress,
};

void rsp_question_start(struct rsp_session *s, const struct rsp_question_ops *question, void *cursor)
{
	s->question = (struct rsp_question){ question, cursor };
	rsp_job_start(s, &ops);
}
