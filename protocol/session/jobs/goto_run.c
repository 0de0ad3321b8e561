/* SPDX-License-Identifier: MIT */
#include "protocol/session/session.h"

#include <inttypes.h>

#include "src/ask/grammar/listed.h"
#include "wait.h"

/* As at the other doors, what is refused is followed by what can be asked. */
#define EXAMPLE "; example: goto 50%%"

static enum rsp_reach find_position(struct rsp_session *s, uint64_t wanted, uint64_t *pos, struct ts_buf *why)
{
	if (!rsp_wait_until_read(s, wanted))
		return RSP_LATER;
	if (wanted <= rsp_last(s)) {
		*pos = wanted;
		return RSP_REACHED;
	}
	ts_buf_printf(why, "'%" PRIu64 "' is not a position: the last one is %" PRIu64 EXAMPLE, wanted,
		      rsp_last(s));
	return RSP_UNREACHABLE;
}

static enum rsp_reach find_share(struct rsp_session *s, const struct ts_percentage *share, uint64_t *pos)
{
	if (share->part && !rsp_wait_until_complete(s))
		return RSP_LATER;
	*pos = ts_percentage_of(share, rsp_last(s));
	return RSP_REACHED;
}

static enum rsp_reach find_frame(const struct rsp_session *s, uint64_t *pos, struct ts_buf *why)
{
	if (rsp_tracing_is_looking(&s->tracing)) {
		*pos = s->tracing.frame.pos;
		return RSP_REACHED;
	}
	ts_buf_printf(why, "'frame' is not a place: no trace frame is selected" EXAMPLE);
	return RSP_UNREACHABLE;
}

/* The nearest event of the kind after, or before, the session's position; NULL if none is found. */
static const struct ts_event_at *nearest_event(const struct rsp_session *s, enum ts_event_kind kind,
						bool is_reverse)
{
	if (is_reverse && !s->pos)
		return NULL;
	return ts_query_find_event(s->target->q, kind, is_reverse ? s->pos - 1 : s->pos + 1, is_reverse);
}

static enum rsp_reach find_event(struct rsp_session *s, enum ts_event_kind kind, bool is_reverse,
				 uint64_t *pos, struct ts_buf *why)
{
	bool is_absent = ts_query_facts(s->target->q)->absent_events & 1u << kind;
	const struct ts_event_at *h = nearest_event(s, kind, is_reverse);

	if (!h && !is_reverse && !is_absent && !rsp_wait_until_more(s))
		return RSP_LATER;
	if (h)
		*pos = h->step;
	else if (is_absent)
		ts_buf_printf(why, "this format does not record %s", ts_event_plurals[kind]);
	else if (kind == TS_EV_SYSCALL && !rsp_has_syscalls(s->target))
		ts_buf_puts(why, "system calls were not recorded");
	else
		ts_buf_printf(why, "there is no %s %s position %" PRIu64, rsp_destination_event(kind),
			      is_reverse ? "before" : "after", s->pos);
	return h ? RSP_REACHED : RSP_UNREACHABLE;
}

enum rsp_reach rsp_reach(struct rsp_session *s, const struct rsp_destination *d, uint64_t *pos,
			 struct ts_buf *why)
{
	switch (d->kind) {
	case RSP_TO_POSITION: return find_position(s, d->pos, pos, why);
	case RSP_TO_SHARE: return find_share(s, &d->share, pos);
	case RSP_TO_FRAME: return find_frame(s, pos, why);
	case RSP_TO_NEXT:
	case RSP_TO_PREVIOUS: return find_event(s, d->event, d->kind == RSP_TO_PREVIOUS, pos, why);
	}
	return RSP_UNREACHABLE;
}
