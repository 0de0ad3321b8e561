/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints: their definition, trace state variables, and the trace run.
 *
 * A client defines every run from scratch: QTinit, then pieces, then QTStart.  Expressions are checked with
 * their piece, so that the client can determine which tracepoint is refused.
 */
#include "packets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/session/session.h"
#include "protocol/session/jobs/wait.h"
#include "src/base/clock.h"

/* How long QTStart waits for the end of the run: gdb gives up after six seconds and accepts no ^C before. */
#define START_WAIT_NS INT64_C(1000000000)

/*
 * Frames have 16 bits for the number of their tracepoint, which gdb reads with a sign; 0 ends the frames of a
 * file.
 */
#define MAX_NUMBER 0x7fffu

/* Limits on the notes of a run, and on the number of read-only ranges. */
#define MAX_NOTE     4096
#define MAX_READONLY 4096

static enum rsp_done refuse(struct rsp_reply *r, const struct ts_error *err)
{
	return rsp_reply_error_text(r, "%s", err->text);
}

/*
 * The client's own run, which its first piece creates.  Returns NULL, with an error as reply, if memory is
 * exhausted.
 */
static struct ts_tracing *own_tracing(struct rsp_session *s, struct rsp_reply *r)
{
	if (!s->tracing.collector) {
		s->tracing.selected = TS_NO_FRAME;
		s->tracing.collector = rsp_collector_new(s->target->q);
		if (s->tracing.collector)
			rsp_collector_bound(s->tracing.collector, s->target->budget);
	}
	if (s->tracing.collector && rsp_collector_may_define(s->tracing.collector))
		return rsp_collector_tracing(s->tracing.collector);
	rsp_reply_error_text(r, s->tracing.collector ? "tracepoints and variables take more memory than they may"
						     : "no memory for tracepoints");
	return NULL;
}

/* Pieces are for a run that has not begun. */
static bool is_running(const struct rsp_session *s)
{
	return s->tracing.collector && rsp_collector_tracing(s->tracing.collector)->status.is_running;
}

static enum rsp_done refuse_while_running(struct rsp_reply *r)
{
	return rsp_reply_error_text(r, "tracepoints cannot be defined while they run");
}

/* -------------------------------------------------------------------------------------------- definitions */

static enum rsp_done pkt_init(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	rsp_tracing_reset(&s->tracing);
	return own_tracing(s, r) ? RSP_OK : RSP_REPLIED;
}

/* The tracepoint that "N:ADDR..." names, NULL if none is found. */
static struct ts_tracepoint *find_point(const struct ts_tracing *t, struct rsp_args a)
{
	uint32_t number = rsp_args_u32(&a);
	uint64_t addr;

	rsp_args_expect(&a, ':');
	addr = rsp_args_u64(&a);
	return rsp_args_ok(&a) ? ts_tracing_find(t, number, addr) : NULL;
}

static enum rsp_done add_piece(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r,
			       enum ts_piece piece)
{
	struct ts_tracing *t = is_running(s) ? NULL : own_tracing(s, r);
	const struct ts_tracepoint *tp;
	struct ts_error err = { 0 };

	if (!t)
		return is_running(s) ? refuse_while_running(r) : RSP_REPLIED;
	if (!ts_tracing_piece(t, piece, (const char *)a->p, a->left, TS_NO_OFF, &err))
		return refuse(r, &err);
	tp = find_point(t, *a);
	return !tp || rsp_collector_check(tp, &err) ? RSP_OK : refuse(r, &err);
}

/* "N:ADDR:..." or "-N:ADDR:actions", followed by a '-' if more follows. */
static enum rsp_done pkt_define(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	bool is_actions = rsp_args_accept(a, '-');
	struct rsp_args ahead = *a;
	uint32_t number = rsp_args_u32(&ahead);

	if (!number || number > MAX_NUMBER)
		return RSP_BAD;
	if (a->left && a->p[a->left - 1] == '-')
		a->left--;
	return add_piece(s, a, r, is_actions ? TS_PIECE_PACKET_ACTIONS : TS_PIECE_DEFINE);
}

static enum rsp_done pkt_source(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	return add_piece(s, a, r, TS_PIECE_SOURCE);
}

static enum rsp_done pkt_define_var(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct ts_tracing *t = is_running(s) ? NULL : own_tracing(s, r);
	struct ts_error err = { 0 };

	if (!t)
		return is_running(s) ? refuse_while_running(r) : RSP_REPLIED;
	return ts_tracing_var(t, (const char *)a->p, a->left, TS_NO_OFF, &err) ? RSP_OK : refuse(r, &err);
}

static enum rsp_done pkt_enable(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *)
{
	struct rsp_args point = *a;
	struct ts_tracepoint *tp = NULL;

	rsp_args_u32(a);
	rsp_args_expect(a, ':');
	rsp_args_u64(a);
	if (s->tracing.collector)
		tp = find_point(rsp_collector_tracing(s->tracing.collector), point);
	if (!rsp_args_done(a) || !tp)
		return RSP_BAD;
	tp->is_enabled = a->arg;
	return RSP_OK;
}

/* "S,E:S,E...", E is the address after the last byte. */
static enum rsp_done pkt_readonly(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct ts_range *ranges = calloc(MAX_READONLY, sizeof(*ranges));
	size_t n = 0;

	if (!ranges)
		return rsp_reply_error(r, RSP_ERROR_PLAIN);
	do {
		uint64_t start = rsp_args_u64(a), end;

		rsp_args_expect(a, ',');
		end = rsp_args_u64(a);
		if (end < start || n == MAX_READONLY)
			rsp_args_fail(a);
		else
			ranges[n++] = (struct ts_range){ start, end - start };
	} while (rsp_args_accept(a, ':'));
	if (!rsp_args_done(a)) {
		free(ranges);
		return RSP_BAD;
	}
	free(s->tracing.readonly);
	s->tracing.readonly = ranges;
	s->tracing.n_readonly = n;
	return RSP_OK;
}

/* ----------------------------------------------------------------------------------------------- settings */

static enum rsp_done pkt_disconnected(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	bool is_on = rsp_args_switch(a);
	struct ts_tracing *t;

	if (!rsp_args_done(a))
		return RSP_BAD;
	t = own_tracing(s, r);
	if (!t)
		return RSP_REPLIED;
	t->status.is_disconnected = is_on;
	return RSP_OK;
}

/* "circular:0|1", "size:N" in bytes, "size:-1" for no limit. */
static enum rsp_done pkt_buffer(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	bool is_size = rsp_args_accept_word(a, "size:"), is_circular = false;
	uint64_t size = TS_NO_COUNT;
	struct ts_tracing *t;

	if (!is_size && rsp_args_accept_word(a, "circular:"))
		is_circular = rsp_args_switch(a);
	else if (!is_size)
		return RSP_BAD;
	else if (!rsp_args_accept_word(a, "-1"))
		size = rsp_args_u64(a);
	if (!rsp_args_done(a))
		return RSP_BAD;
	t = own_tracing(s, r);
	if (!t)
		return RSP_REPLIED;
	if (is_size)
		t->status.n_bytes = size;
	else
		t->status.is_circular = is_circular;
	return RSP_OK;
}

/* A text in hex, which becomes the one of the run unless it @is_ignored; without one the arguments are bad. */
static void take_text(struct rsp_collector *c, enum rsp_run_text which, bool is_ignored, struct rsp_args *a)
{
	char text[MAX_NOTE];
	size_t n = rsp_args_hex(a, (uint8_t *)text, sizeof(text));

	if (!rsp_args_ok(a) || memchr(text, 0, n) ||
	    (!is_ignored && !rsp_collector_set_text(c, which, text, n)))
		rsp_args_fail(a);
}

/* "user:HEX;notes:HEX;tstop:HEX;", any of them. */
static enum rsp_done pkt_notes(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct ts_tracing *t = own_tracing(s, r);
	struct rsp_collector *c = s->tracing.collector;

	if (!t)
		return RSP_REPLIED;
	while (a->left) {
		if (rsp_args_accept_word(a, "user:"))
			take_text(c, RSP_RUN_USER, false, a);
		else if (rsp_args_accept_word(a, "notes:"))
			take_text(c, RSP_RUN_NOTES, false, a);
		else if (rsp_args_accept_word(a, "tstop:") || t->status.end != TS_RUN_STOPPED)
			take_text(c, RSP_RUN_STOPPED, t->status.end != TS_RUN_STOPPED, a);
		if (a->left)
			rsp_args_expect(a, ';');
	}
	return rsp_args_ok(a) ? RSP_OK : RSP_BAD;
}

/* ------------------------------------------------------------------------------------------------ the run */

/*
 * QTStart is answered when everything is collected, or after a timeout: the rest is a chore.  There is no
 * text about it: after ^C gdb reads only up to the next text, and takes the answer for that of its next
 * packet.
 */
static bool wait_for_run(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r)
{
	bool is_over = rsp_tracing_slice(&s->tracing, end_ns);

	if (!is_over && !s->job.is_interrupted && ts_now_ns() < s->tracing.deadline)
		return false;
	rsp_reply_ok(r);
	return true;
}

/* The run ends with what it has collected. */
static void interrupt_run(struct rsp_session *s)
{
	rsp_collector_stop(s->tracing.collector);
}

/* The run goes on as a chore. */
static void leave_run(struct rsp_session *)
{
}

static bool is_run_stuck(const struct rsp_session *s)
{
	return !s->job.is_interrupted && rsp_tracing_is_held_up(&s->tracing) &&
	       ts_now_ns() < s->tracing.deadline;
}

static const struct rsp_job_ops start_job = {
	.slice = wait_for_run,
	.interrupt = interrupt_run,
	.cancel = leave_run,
	.is_stuck = is_run_stuck,
};

static enum rsp_done pkt_start(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	struct ts_error err = { 0 };

	if (!rsp_tracing_start(&s->tracing, rsp_process(s), s->layout ? &s->layout->regs : NULL,
			       s->is_physical, &err))
		return refuse(r, &err);
	if (s->tracing.is_live)
		return RSP_OK;
	s->tracing.deadline = ts_now_ns() + START_WAIT_NS;
	rsp_job_start(&s->job, &start_job, NULL);
	return RSP_DEFERRED;
}

static enum rsp_done pkt_stop(struct rsp_session *s, struct rsp_args *, struct rsp_reply *)
{
	if (s->tracing.collector)
		rsp_collector_stop(s->tracing.collector);
	return RSP_OK;
}

static void put_buf(struct rsp_reply *r, struct ts_buf *text)
{
	if (ts_buf_ok(text))
		rsp_reply_put(r, text->data, text->len);
	else
		rsp_reply_error(r, RSP_ERROR_PLAIN);
	ts_buf_fini(text);
}

static enum rsp_done pkt_status(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	struct ts_run_status status;
	struct ts_buf text, notes;

	ts_buf_init(&text);
	ts_buf_init(&notes);
	rsp_tracing_status(&s->tracing, &status, &notes);
	ts_buf_putc(&text, 'T');
	ts_run_status_format(&status, &text);
	text.is_failed |= !ts_buf_ok(&notes);
	ts_buf_fini(&notes);
	put_buf(r, &text);
	return RSP_REPLIED;
}

/* ------------------------------------------------------------------------------------------ what there is */

static enum rsp_done pkt_next_point(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	struct rsp_piece_cursor *at = &s->tracing.piece;
	struct ts_buf text;

	ts_buf_init(&text);
	while (at->tp && !ts_tracepoint_format(at->tp, at->i++, &text)) {
		at->tp = at->tp->next;
		at->i = 0;
	}
	if (text.len || !ts_buf_ok(&text)) {
		put_buf(r, &text);
		return RSP_REPLIED;
	}
	ts_buf_fini(&text);
	return rsp_reply_puts(r, "l");
}

/*
 * The implied tracepoint is not reported to a new client: a client with tracepoints requests the run's status
 * before each step.  A client that asks again wants to save them.
 */
static enum rsp_done pkt_first_point(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	const struct ts_tracing *t = rsp_tracing_shown(&s->tracing);
	bool is_hidden = t == &s->tracing.implied && !s->tracing.was_listed;
	struct ts_error err = { 0 };

	if (!is_hidden && !rsp_wait_until_frames_known(s))
		return RSP_WAIT;
	if (t == &s->tracing.implied && !is_hidden && !rsp_tracing_imply(&s->tracing, &err))
		return rsp_reply_failure(r, s->target->trace, &err);
	s->tracing.was_listed = true;
	s->tracing.piece = (struct rsp_piece_cursor){ .tp = is_hidden ? NULL : t->points };
	return pkt_next_point(s, a, r);
}

static enum rsp_done pkt_next_var(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	const struct ts_tvar *var = s->tracing.piece.var;
	struct ts_buf text;

	if (!var)
		return rsp_reply_puts(r, "l");
	s->tracing.piece.var = var->next;
	ts_buf_init(&text);
	ts_tvar_format(var, &text);
	put_buf(r, &text);
	return RSP_REPLIED;
}

static enum rsp_done pkt_first_var(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	s->tracing.piece = (struct rsp_piece_cursor){ .var = rsp_tracing_shown(&s->tracing)->vars };
	return pkt_next_var(s, a, r);
}

/* Hits of a tracepoint, and the size of its frames; nothing for a tracepoint that was not part of the run. */
static enum rsp_done pkt_point_status(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	const struct ts_tracepoint *tp = find_point(rsp_tracing_shown(&s->tracing), *a);

	rsp_args_u32(a);
	rsp_args_expect(a, ':');
	rsp_args_u64(a);
	if (!rsp_args_done(a))
		return RSP_BAD;
	return rsp_reply_printf(r, "V%" PRIx64 ":%" PRIx64, tp ? tp->n_hits : 0, tp ? tp->n_bytes : 0);
}

/* The value of a variable in the selected frame, or its current value. */
static enum rsp_done pkt_var(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	uint32_t number = rsp_args_u32(a);
	const struct ts_tracing *shown = rsp_tracing_shown(&s->tracing);
	const struct ts_tvar *def = ts_tracing_find_var(shown, number);
	int64_t value = 0;
	bool is_known;

	if (!rsp_args_done(a))
		return RSP_BAD;
	if (rsp_tracing_is_looking(&s->tracing))
		is_known = ts_frame_value(&s->tracing.frame, number, &value);
	else if (s->tracing.collector)
		is_known = rsp_collector_var(s->tracing.collector, number, &value);
	/* the free space of a saved run is not known */
	else if ((is_known = def && shown != ts_query_facts(s->target->q)->tracing))
		value = def->initial;
	if (is_known)
		rsp_reply_printf(r, "V%" PRIx64, (uint64_t)value);
	else
		rsp_reply_puts(r, "U");
	return RSP_REPLIED;
}

/* No recording has static markers. */
static enum rsp_done pkt_marker_at(struct rsp_session *, struct rsp_args *a, struct rsp_reply *r)
{
	rsp_args_u64(a);
	return rsp_args_done(a) ? rsp_reply_puts(r, "l") : RSP_BAD;
}

static const struct rsp_packet packets[] = {
	{ "QTinit", RSP_EXACT, .handler = pkt_init },
	{ "QTDP", RSP_ARGS, pkt_define, .feature = "ConditionalTracepoints+" },
	{ "QTDPsrc", RSP_ARGS, pkt_source, .feature = "TracepointSource+" },
	{ "QTDV", RSP_ARGS, pkt_define_var, .feature = "tracenz+" },
	{ "QTEnable", RSP_ARGS, pkt_enable, .feature = "EnableDisableTracepoints+", .arg = true },
	{ "QTDisable", RSP_ARGS, pkt_enable, .feature = "EnableDisableTracepoints+", .arg = false },
	{ "QTro", RSP_ARGS, .handler = pkt_readonly },
	{ "QTDisconnected", RSP_ARGS, pkt_disconnected, .feature = "DisconnectedTracing+" },
	{ "QTBuffer", RSP_ARGS, pkt_buffer, .feature = "QTBuffer:size+" },
	{ "QTNotes", RSP_ARGS, .handler = pkt_notes },
	{ "QTStart", RSP_EXACT, .handler = pkt_start },
	{ "QTStop", RSP_EXACT, .handler = pkt_stop },

	{ "qTStatus", RSP_EXACT, .handler = pkt_status },
	{ "qTfP", RSP_EXACT, .handler = pkt_first_point },
	{ "qTsP", RSP_EXACT, .handler = pkt_next_point },
	{ "qTfV", RSP_EXACT, .handler = pkt_first_var },
	{ "qTsV", RSP_EXACT, .handler = pkt_next_var },
	{ "qTP", RSP_ARGS, .handler = pkt_point_status },
	{ "qTV", RSP_ARGS, .handler = pkt_var },
	{ "qTfSTM", RSP_EXACT, .reply = "l" },
	{ "qTsSTM", RSP_EXACT, .reply = "l" },
	{ "qTSTMat", RSP_ARGS, .handler = pkt_marker_at },
};
const struct rsp_packets rsp_tracepoint_packets = RSP_PACKETS(packets);
