/* SPDX-License-Identifier: MIT */
/*
 * Trace frames: selection, contents, and all of them as bytes.
 *
 * Registers and memory of the selected frame are served by their own packets (regs.c, mem.c).
 */
#include "packets.h"

#include <inttypes.h>
#include <string.h>

#include "protocol/session/documents/save.h"
#include "protocol/session/session.h"
#include "protocol/session/jobs/wait.h"

/* ---------------------------------------------------------------------------------------------- selection */

/* The frame does not exist, or not yet. */
static enum rsp_done select_none(struct rsp_session *s, struct rsp_reply *r)
{
	if (rsp_tracing_has_run(&s->tracing) ? !rsp_wait_until_collected(s) : !rsp_wait_until_more(s))
		return RSP_WAIT;
	return rsp_reply_puts(r, "F-1");
}

static enum rsp_done select_frame(struct rsp_session *s, uint64_t n, struct rsp_reply *r)
{
	struct ts_error err = { 0 };

	if (n == TS_NO_FRAME)
		return select_none(s, r);
	if (!rsp_tracing_select(&s->tracing, n, &err))
		return rsp_reply_failure(r, s->target->trace, &err);
	return rsp_reply_printf(r, "F%" PRIx64 "T%" PRIx32, n, s->tracing.frame.tracepoint);
}

static enum rsp_done select_by_pc(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r,
				  bool is_range, bool is_outside)
{
	uint64_t first = rsp_args_u64(a), last = first;

	if (is_range) {
		rsp_args_expect(a, ':');
		last = rsp_args_u64(a);
	}
	if (!rsp_args_done(a))
		return RSP_BAD;
	if (first > last && !is_outside)
		return rsp_reply_puts(r, "F-1");
	return select_frame(s, rsp_tracing_find_pc(&s->tracing, first, last, is_outside), r);
}

static enum rsp_done select_by_tracepoint(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	uint32_t number = rsp_args_u32(a);
	struct ts_frames *f = rsp_tracing_frames(&s->tracing);
	uint64_t from = rsp_tracing_next(&s->tracing);

	if (!rsp_args_done(a))
		return RSP_BAD;
	return select_frame(s, from == TS_NO_FRAME ? from : f->ops->next_of(f, number, from), r);
}

/* -1, as gdb writes it, is the live state. */
static enum rsp_done select_by_number(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	bool is_none = rsp_args_accept_word(a, "-1");
	uint64_t n = is_none ? 0 : rsp_args_u64(a);

	if (!rsp_args_done(a))
		return RSP_BAD;
	if (is_none || n == UINT32_MAX) {
		s->tracing.selected = TS_NO_FRAME;
		return RSP_OK;
	}
	return select_frame(s, n < rsp_tracing_frames(&s->tracing)->n_frames ? n : TS_NO_FRAME, r);
}

/*
 * "N", "pc:A", "tdp:N", "range:S:E", "outside:S:E": the next one after the selected one; if none is found,
 * the selection does not change.
 */
static enum rsp_done pkt_frame(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	if (rsp_args_accept_word(a, "pc:"))
		return select_by_pc(s, a, r, false, false);
	if (rsp_args_accept_word(a, "range:"))
		return select_by_pc(s, a, r, true, false);
	if (rsp_args_accept_word(a, "outside:"))
		return select_by_pc(s, a, r, true, true);
	if (rsp_args_accept_word(a, "tdp:"))
		return select_by_tracepoint(s, a, r);
	return select_by_number(s, a, r);
}

/* -------------------------------------------------------------------------------------------- all of them */

/* "OFF,LEN" of all frames in sequence; the reply may be shorter, and is empty at the end. */
static enum rsp_done pkt_raw(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	uint64_t off = rsp_args_u64(a), len;
	struct ts_error err = { 0 };
	struct ts_buf bytes;

	rsp_args_expect(a, ',');
	len = rsp_args_u64(a);
	if (!rsp_args_done(a) || !len)
		return RSP_BAD;
	if (!rsp_wait_until_frames_known(s) || !rsp_wait_until_collected(s))
		return RSP_WAIT;
	if (len > rsp_reply_room(r) / 2)
		len = rsp_reply_room(r) / 2;
	ts_buf_init(&bytes);
	if (s->layout)
		ts_fail(&err, TS_EUNSUPPORTED, TS_NO_OFF,
			"frames are kept with all registers: monitor export saves them");
	if (s->layout || !rsp_tracing_raw(&s->tracing, off, (size_t)len, &bytes, &err)) {
		if (err.code == TS_EUSAGE) /* an error of the client is not logged */
			rsp_reply_error_text(r, "%s", err.text);
		else
			rsp_reply_failure(r, s->target->trace, &err);
	} else if (bytes.len) {
		rsp_reply_hex(r, bytes.data, bytes.len);
	} else {
		rsp_reply_puts(r, "l");
	}
	ts_buf_fini(&bytes);
	return RSP_REPLIED;
}

/* "HEXNAME" */
static enum rsp_done pkt_save(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct ts_error err = { 0 };
	struct ts_buf name;
	bool done;

	ts_buf_init(&name);
	rsp_args_hex_buf(a, &name);
	if (!rsp_args_done(a) || !name.len || !ts_buf_ok(&name) || memchr(name.data, 0, name.len)) {
		ts_buf_fini(&name);
		return RSP_BAD;
	}
	if (!rsp_wait_until_frames_known(s)) {
		ts_buf_fini(&name);
		return RSP_WAIT;
	}
	done = rsp_save_start(s, ts_buf_text(&name), false, &err);
	ts_buf_fini(&name);
	if (done)
		return RSP_DEFERRED;
	return rsp_reply_error_text(r, "%s", err.text);
}

static const struct rsp_packet packets[] = {
	{ "QTFrame", RSP_ARGS, .handler = pkt_frame },
	{ "qTBuffer", RSP_ARGS, .handler = pkt_raw },
	{ "QTSave", RSP_ARGS, .handler = pkt_save },
};
const struct rsp_packets rsp_traceframe_packets = RSP_PACKETS(packets);
