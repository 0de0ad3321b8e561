/* SPDX-License-Identifier: MIT */
#include "session.h"

#include "protocol/session/jobs/run_job.h"
#include "protocol/session/jobs/wait.h"

static bool handle(struct rsp_session *s, const uint8_t *payload, size_t len, struct rsp_reply *r);

/* The packet asks about something that is not available yet. */
static bool wait(struct rsp_session *s, const uint8_t *payload, size_t len, struct rsp_reply *r)
{
	rsp_reply_reset(r);
	if (rsp_wait_start(s, payload, len, handle))
		return false;
	rsp_reply_error_text(r, "no memory for a packet that waits");
	return true;
}

/* Run the job that the packet has started at once. */
static bool begin_job(struct rsp_session *s, struct rsp_reply *r)
{
	if (!s->job.ops)
		return false;
	if (s->is_interrupt_pending && rsp_resume_is_under_way(s))
		rsp_session_interrupt(s);
	s->is_interrupt_pending = false;
	return rsp_session_run(s, r);
}

/*
 * The packet has been answered from what turned out to be damaged while it was: refuse it in place of that.
 */
static void check_sound(const struct rsp_session *s, bool was_sound, struct rsp_reply *r)
{
	struct ts_error err = { 0 };

	if (!was_sound || r->kind == RSP_REPLY_ERROR || ts_query_finish_question(s->target->q, &err))
		return;
	rsp_reply_reset(r);
	rsp_reply_error_text(r, "%s", err.text);
}

static bool handle(struct rsp_session *s, const uint8_t *payload, size_t len, struct rsp_reply *r)
{
	struct ts_error err = { 0 };
	bool was_sound = ts_query_finish_question(s->target->q, &err);

	switch (rsp_table_run(&s->target->table, s, payload, len, r)) {
	case RSP_REPLIED:
		check_sound(s, was_sound, r);
		break;
	case RSP_OK:
		rsp_reply_ok(r);
		check_sound(s, was_sound, r);
		break;
	case RSP_BAD:
		rsp_reply_reset(r);
		rsp_reply_error(r, 0x16); /* EINVAL */
		break;
	case RSP_DEFERRED:
		return begin_job(s, r);
	case RSP_WAIT:
		return wait(s, payload, len, r);
	case RSP_CLOSE:
		s->is_closing = true;
		return false;
	case RSP_UNSUPPORTED:
		rsp_reply_reset(r);
		break;
	}
	return true;
}

bool rsp_dispatch_packet(struct rsp_session *s, const uint8_t *payload, size_t len, struct rsp_reply *r)
{
	rsp_job_cancel(&s->job, s); /* a client that sends a packet no longer waits */
	return handle(s, payload, len, r);
}
