/* SPDX-License-Identifier: MIT */
/*
 * Documents that a client reads in pieces: qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH.
 *
 * "m" and a piece, "l" and the last one; "l" alone beyond the end.  A document that depends on the position
 * is frozen with the first piece, so that the pieces fit together.
 */
#include "packets.h"

#include <stdio.h>
#include <string.h>

#include "protocol/session/events.h"
#include "protocol/session/documents/modules.h"
#include "protocol/session/session.h"
#include "protocol/session/documents/threads.h"
#include "protocol/session/trace_frame.h"
#include "protocol/tracing/tracing.h"

struct request {
	const char *annex; /* borrowed from the packet, not terminated */
	size_t annex_len;
	uint64_t off;
	uint64_t len;
};

/* Returns false if the packet is malformed. */
static bool take_request(struct rsp_args *a, struct request *q)
{
	q->annex = (const char *)rsp_args_until(a, ":", &q->annex_len);
	rsp_args_expect(a, ':');
	q->off = rsp_args_u64(a);
	rsp_args_expect(a, ',');
	q->len = rsp_args_u64(a);
	return rsp_args_done(a);
}

static bool is_annex(const struct request *q, const char *name)
{
	return q->annex_len == strlen(name) && memcmp(q->annex, name, q->annex_len) == 0;
}

static enum rsp_done reply_piece(const struct request *q, const uint8_t *text, size_t text_len,
				 struct rsp_reply *r)
{
	size_t left = q->off < text_len ? text_len - (size_t)q->off : 0;
	const uint8_t *piece = left ? text + q->off : NULL;
	size_t len = q->len < left ? (size_t)q->len : left;

	rsp_reply_putc(r, 'l');
	len = rsp_reply_fit(r, piece, len);
	if (len < left) {
		rsp_reply_reset(r);
		rsp_reply_putc(r, 'm');
	}
	rsp_reply_binary(r, piece, len);
	return RSP_REPLIED;
}

static enum rsp_done read_features(struct rsp_session *s, const struct request *q, struct rsp_reply *r)
{
	const struct ts_buf *xml = s->layout ? &s->layout->target_xml : &s->target->target_xml;

	return reply_piece(q, xml->data, xml->len, r);
}

/* The document @name for the session's position, written by @write. */
static enum rsp_done reply_document(struct rsp_session *s, const struct request *q, const char *name,
				    void (*write)(const struct rsp_session *s, struct ts_buf *out),
				    struct rsp_reply *r)
{
	struct rsp_document *doc = &s->document;

	if (!q->off || strcmp(doc->name, name) != 0) {
		ts_buf_reset(&doc->text);
		write(s, &doc->text);
		snprintf(doc->name, sizeof(doc->name), "%s", name);
	}
	if (!ts_buf_ok(&doc->text))
		return rsp_reply_error(r, RSP_ERROR_PLAIN);
	return reply_piece(q, doc->text.data, doc->text.len, r);
}

static enum rsp_done read_threads(struct rsp_session *s, const struct request *q, struct rsp_reply *r)
{
	if (!q->off) {
		rsp_session_shown(s);
		rsp_threads_note_all(s);
	}
	return reply_document(s, q, "threads", rsp_threads_xml, r);
}

static enum rsp_done reply_libraries(struct rsp_session *s, const struct request *q, enum rsp_module_list list,
				     void (*write)(const struct rsp_session *s, struct ts_buf *out),
				     struct rsp_reply *r)
{
	if (rsp_module_list(s->target) != list)
		return RSP_UNSUPPORTED;
	if (!q->off) {
		s->modules_at = s->pos;
		rsp_modules_are_missing(s, NULL);
	}
	return reply_document(s, q, "libraries", write, r);
}

static enum rsp_done read_libraries(struct rsp_session *s, const struct request *q, struct rsp_reply *r)
{
	return reply_libraries(s, q, RSP_MODULES_ANY, rsp_modules_any_xml, r);
}

static enum rsp_done read_libraries_svr4(struct rsp_session *s, const struct request *q, struct rsp_reply *r)
{
	return reply_libraries(s, q, RSP_MODULES_SVR4, rsp_modules_svr4_xml, r);
}

/*
 * The contents of the selected frame.  There is no list for a frame with everything known of a position: its
 * length would grow with the recorded memory, and without a list the client reads what it needs.
 */
static enum rsp_done read_traceframe_info(struct rsp_session *s, const struct request *q, struct rsp_reply *r)
{
	if (!rsp_tracing_is_looking(&s->tracing) || s->tracing.frame.is_whole)
		return rsp_reply_error(r, RSP_ERROR_PLAIN);
	return reply_document(s, q, "traceframe-info", rsp_trace_frame_xml, r);
}

/* The annex is a process or empty; recordings do not show that processes run other programs. */
static enum rsp_done read_exec_file(struct rsp_session *s, const struct request *q, struct rsp_reply *r)
{
	const char *path = rsp_target_exec_path(s->target);
	struct rsp_args pid = rsp_args(q->annex, q->annex_len);

	if (pid.left)
		rsp_args_u64(&pid);
	if (!rsp_args_done(&pid))
		return rsp_reply_error(r, 0);
	return path ? reply_piece(q, (const uint8_t *)path, strlen(path), r) : RSP_UNSUPPORTED;
}

static enum rsp_done read_auxv(struct rsp_session *s, const struct request *q, struct rsp_reply *r)
{
	const struct ts_facts *facts = ts_query_facts(s->target->q);

	return facts->auxv ? reply_piece(q, facts->auxv, facts->auxv_len, r) : RSP_UNSUPPORTED;
}

/* The siginfo of the signal at the session's position. */
static enum rsp_done read_siginfo(struct rsp_session *s, const struct request *q, struct rsp_reply *r)
{
	struct ts_buf info;

	if (!s->claims_siginfo && !rsp_events_may_have_siginfo(s))
		return RSP_UNSUPPORTED;
	ts_buf_init(&info);
	if (rsp_events_siginfo(s, &info) && ts_buf_ok(&info))
		reply_piece(q, info.data, info.len, r);
	else
		rsp_reply_error_text(r, "no signal with an address is recorded here");
	ts_buf_fini(&info);
	return RSP_REPLIED;
}

/* In the order of the packets. */
static const struct {
	const char *annex; /* the only one that there is; NULL: read() examines it */
	enum rsp_done (*read)(struct rsp_session *s, const struct request *q, struct rsp_reply *r);
} objects[] = {
	{ "target.xml", read_features },
	{ "", read_threads },
	{ "", read_libraries },
	{ "", read_libraries_svr4 },
	{ "", read_traceframe_info },
	{ NULL, read_exec_file },
	{ "", read_siginfo },
	{ "", read_auxv },
};

static enum rsp_done pkt_xfer(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct request q;

	if (!take_request(a, &q))
		return RSP_BAD;
	if (objects[a->arg].annex && !is_annex(&q, objects[a->arg].annex))
		return rsp_reply_error(r, 0);
	return objects[a->arg].read(s, &q, r);
}

static const struct rsp_packet packets[] = {
	{ "qXfer:features:read", RSP_ARGS, pkt_xfer, .feature = "qXfer:features:read+", .arg = 0 },
	{ "qXfer:threads:read", RSP_ARGS, pkt_xfer, .feature = "qXfer:threads:read+", .arg = 1 },
	{ "qXfer:libraries:read", RSP_ARGS, pkt_xfer, .feature = "qXfer:libraries:read+", .arg = 2 },
	{ "qXfer:libraries-svr4:read", RSP_ARGS, pkt_xfer, .feature = "qXfer:libraries-svr4:read+", .arg = 3 },
	{ "qXfer:traceframe-info:read", RSP_ARGS, pkt_xfer, .feature = "qXfer:traceframe-info:read+", .arg = 4 },
	{ "qXfer:exec-file:read", RSP_ARGS, pkt_xfer, .feature = "qXfer:exec-file:read+", .arg = 5 },
	{ "qXfer:siginfo:read", RSP_ARGS, pkt_xfer, .feature = "qXfer:siginfo:read+", .arg = 6 },
	{ "qXfer:auxv:read", RSP_ARGS, pkt_xfer, .feature = "qXfer:auxv:read+", .arg = 7 },
};
const struct rsp_packets rsp_xfer_packets = RSP_PACKETS(packets);
