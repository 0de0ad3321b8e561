/* SPDX-License-Identifier: MIT */
#include "wait.h"

#include <inttypes.h>

#include "src/base/clock.h"
#include "protocol/session/stop.h"
#include "protocol/session/documents/symbol_tables.h"

/* The minimal interval between two attempts of a packet that waits for any new data. */
#define TRY_NS INT64_C(50000000)

/* Used as a position: the whole recording. */
#define WHOLE (UINT64_MAX - 1)

static bool wait_for(struct rsp_session *s, uint64_t pos)
{
	s->wait.pos = pos;
	s->wait.is_for_symbols = false;
	s->wait.kind = RSP_WAIT_QUERY;
	return false;
}

bool rsp_wait_until_symbols_read(struct rsp_session *s, struct ts_symbols **symbols, struct ts_error *err)
{
	*symbols = rsp_target_symbols(s->target, err);
	if (*symbols || err->code != TS_OK)
		return true;
	wait_for(s, TS_NO_POS);
	s->wait.is_for_symbols = true;
	return false;
}

bool rsp_wait_until_read(struct rsp_session *s, uint64_t pos)
{
	return pos <= rsp_last(s) || rsp_is_complete(s) || wait_for(s, pos);
}

bool rsp_wait_until_more(struct rsp_session *s)
{
	return rsp_is_complete(s) || wait_for(s, TS_NO_POS);
}

bool rsp_wait_until_complete(struct rsp_session *s)
{
	return rsp_is_complete(s) || wait_for(s, WHOLE);
}

bool rsp_wait_until_collected(struct rsp_session *s)
{
	return !rsp_tracing_is_collecting(&s->tracing) || wait_for(s, TS_NO_POS);
}

bool rsp_wait_until_frames_known(struct rsp_session *s)
{
	return rsp_tracing_has_run(&s->tracing) || rsp_wait_until_complete(s);
}

/* ---------------------------------------------------------------------------------------------- the job */

static const struct rsp_job_ops ops;

static void free_packet(struct rsp_session *s)
{
	ts_buf_fini(&s->wait.packet);
	ts_buf_init(&s->wait.packet);
}

static bool is_stuck(const struct rsp_session *s)
{
	const struct rsp_wait *w = &s->wait;

	if (s->job.is_interrupted || rsp_tracing_has_chores(&s->tracing))
		return false;
	if (w->is_for_symbols)
		return rsp_symbol_tables_are_being_read(s->target->symbols);
	if (rsp_is_complete(s))
		return false;
	if (w->pos != TS_NO_POS)
		return rsp_last(s) < w->pos;
	return rsp_last(s) == w->tried || ts_now_ns() < w->next_try;
}

static bool give_up(struct rsp_session *s, struct rsp_reply *r)
{
	rsp_reply_reset(r);
	if (s->wait.kind == RSP_WAIT_RESUME) {
		s->is_announcing = false;
		rsp_stop_reply(s, r, 2, NULL);
	} else {
		rsp_session_refuse(s, r, "interrupted: nothing was done", s->wait.kind == RSP_WAIT_COMMAND);
	}
	free_packet(s);
	return true;
}

/* Frames are collected here, because nothing is collected in the background of a job. */
static bool run_again(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r)
{
	struct rsp_wait *w = &s->wait;
	bool has_reply;

	if (s->job.is_interrupted)
		return give_up(s, r);
	if (rsp_tracing_has_chores(&s->tracing) && !rsp_tracing_slice(&s->tracing, end_ns))
		return false;
	if (is_stuck(s))
		return false;
	has_reply = w->handle(s, w->packet.data, w->packet.len, r);
	if (has_reply || s->job.ops != &ops) /* over, or another job has taken its place */
		free_packet(s);
	return has_reply;
}

static void cancel(struct rsp_session *s)
{
	free_packet(s);
}

static void put_progress(const struct rsp_session *s, struct ts_buf *out)
{
	uint64_t pos, until;

	if (s->wait.is_for_symbols) {
		ts_buf_puts(out, "reading symbols\n");
	} else if (!rsp_is_complete(s)) {
		rsp_target_put_read(s->target, out);
		ts_buf_putc(out, '\n');
	} else if (rsp_tracing_is_collecting(&s->tracing)) {
		rsp_collector_progress(s->tracing.collector, &pos, &until);
		ts_buf_printf(out, "collecting: position %" PRIu64 " of %" PRIu64 "\n", pos, until);
	}
}

static const struct rsp_job_ops ops = {
	.slice = run_again,
	.cancel = cancel,
	.is_stuck = is_stuck,
	.progress = put_progress,
};

bool rsp_wait_start(struct rsp_session *s, const uint8_t *payload, size_t len,
		    bool (*handle)(struct rsp_session *s, const uint8_t *payload, size_t len,
				   struct rsp_reply *r))
{
	struct rsp_wait *w = &s->wait;

	w->handle = handle;
	w->tried = rsp_last(s);
	w->next_try = ts_now_ns() + TRY_NS;
	if (s->job.ops == &ops)
		return true;
	ts_buf_reset(&w->packet);
	ts_buf_put(&w->packet, payload, len);
	if (!ts_buf_ok(&w->packet)) {
		free_packet(s);
		return false;
	}
	rsp_job_start(&s->job, &ops, NULL);
	return true;
}
