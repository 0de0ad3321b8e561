/* SPDX-License-Identifier: MIT */
/*
 * Threads: H T qC qfThreadInfo qsThreadInfo qThreadExtraInfo.
 */
#include "packets.h"

#include <stdio.h>
#include <string.h>

#include "protocol/session/session.h"
#include "protocol/session/documents/threads.h"

/* Take a thread as the only argument; returns TS_NO_THREAD (and @a is bad) if it is not listed here. */
static uint32_t take_thread(const struct rsp_session *s, struct rsp_args *a)
{
	struct rsp_tid tid = rsp_args_tid(a);
	uint32_t thread = rsp_args_done(a) ? rsp_session_find_thread(s, tid) : TS_NO_THREAD;

	if (thread != TS_NO_THREAD && rsp_thread_is_listed(s, thread))
		return thread;
	rsp_args_fail(a);
	return TS_NO_THREAD;
}

/*
 * "Hg": for registers and memory.  "Hc": for the resume packets that name no thread; any and all leave it to
 * the recording.
 */
static enum rsp_done pkt_H(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *)
{
	bool is_step = rsp_args_accept(a, 'c');
	struct rsp_args names = *a;
	struct rsp_tid tid = rsp_args_tid(&names);
	uint32_t thread;

	if (!is_step) {
		rsp_args_expect(a, 'g');
		names = *a;
		tid = rsp_args_tid(&names);
		s->is_in_child = s->child && tid.has_pid && tid.pid == s->child && rsp_args_done(&names);
		if (s->is_in_child)
			return RSP_OK;
	}
	if (is_step && tid.tid <= RSP_TID_ANY && rsp_args_done(&names)) {
		s->step_thread = TS_NO_THREAD;
		return RSP_OK;
	}
	thread = take_thread(s, a);
	if (!rsp_args_ok(a))
		return RSP_BAD;
	if (is_step)
		s->step_thread = thread;
	else
		s->thread = thread;
	return RSP_OK;
}

static enum rsp_done pkt_T(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *)
{
	take_thread(s, a);
	return rsp_args_ok(a) ? RSP_OK : RSP_BAD;
}

static enum rsp_done pkt_qC(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	rsp_reply_puts(r, "QC");
	rsp_reply_tid(r, rsp_session_tid(s, s->thread));
	return RSP_REPLIED;
}

/* ----------------------------------------------------------------------------------------------- the list */

static const char list_name[] = "thread list";

/* "1,2,3": the ids not sent yet. */
static void build_list(struct rsp_session *s)
{
	struct ts_buf *text = &s->document.text;

	rsp_session_shown(s);
	rsp_threads_note_all(s);
	ts_buf_reset(text);
	snprintf(s->document.name, sizeof(s->document.name), "%s", list_name);
	for (uint32_t i = 0; i < ts_query_n_threads(s->target->q); i++) {
		struct rsp_tid tid = rsp_session_tid(s, i);

		if (!rsp_thread_is_listed(s, i))
			continue;
		if (text->len)
			ts_buf_putc(text, ',');
		if (tid.has_pid)
			ts_buf_printf(text, "p%llx.", (unsigned long long)tid.pid);
		ts_buf_printf(text, "%llx", (unsigned long long)tid.tid);
	}
}

/* As many whole ids as fit, "l" after the last one. */
static enum rsp_done reply_list(struct rsp_session *s, struct rsp_reply *r)
{
	struct ts_buf *text = &s->document.text;
	size_t n = text->len;

	if (!ts_buf_ok(text))
		return rsp_reply_error(r, RSP_ERROR_PLAIN);
	if (!n)
		return rsp_reply_puts(r, "l");
	if (n > rsp_reply_room(r) - 1) {
		n = rsp_reply_room(r) - 1;
		while (text->data[n] != ',')
			n--;
	}
	rsp_reply_puts(r, "m");
	rsp_reply_put(r, text->data, n);
	ts_buf_consume(text, n < text->len ? n + 1 : n);
	return RSP_REPLIED;
}

static enum rsp_done pkt_list_first(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	build_list(s);
	return reply_list(s, r);
}

static enum rsp_done pkt_list_next(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	if (strcmp(s->document.name, list_name) != 0)
		return RSP_BAD;
	return reply_list(s, r);
}

static enum rsp_done pkt_extra_info(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	uint32_t thread = take_thread(s, a);
	struct ts_buf text;

	if (!rsp_args_ok(a))
		return RSP_BAD;
	ts_buf_init(&text);
	rsp_thread_text(s, thread, &text);
	if (ts_buf_ok(&text))
		rsp_reply_hex(r, text.data, text.len);
	else
		rsp_reply_error(r, RSP_ERROR_PLAIN);
	ts_buf_fini(&text);
	return RSP_REPLIED;
}

static const struct rsp_packet packets[] = {
	{ "H", RSP_PREFIX, pkt_H, .feature = "multiprocess+" },
	{ "T", RSP_PREFIX, .handler = pkt_T },
	{ "qC", RSP_EXACT, .handler = pkt_qC },
	{ "qfThreadInfo", RSP_EXACT, .handler = pkt_list_first },
	{ "qsThreadInfo", RSP_EXACT, .handler = pkt_list_next },
	{ "qThreadExtraInfo", RSP_ARGS, .handler = pkt_extra_info },
};
const struct rsp_packets rsp_thread_packets = RSP_PACKETS(packets);
