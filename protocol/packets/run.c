/* SPDX-License-Identifier: MIT */
/*
 * Resuming, forwards and backwards: s c S C bs bc vCont, and the stop reason: ?
 *
 * A recording cannot be reordered: while one thread steps, the others run as recorded.  A signal that the
 * client passes cannot reach the recorded program: it is ignored.
 *
 * After "monitor direction reverse" s, c and vCont go backwards, for clients that know neither bs nor bc.
 */
#include "packets.h"
#include "protocol/session/jobs/asking.h"
#include "protocol/session/documents/modules.h"
#include "protocol/session/jobs/run_job.h"
#include "protocol/session/session.h"
#include "protocol/session/stop.h"
#include "protocol/session/documents/threads.h"
#include "protocol/wire/args.h"

/* The kind of resumption that a packet's line in the table names. */
enum { CONTINUE, STEP };

/* The thread for s and bs, and for the actions of vCont that name none. */
static uint32_t stepping_thread(const struct rsp_session *s)
{
	return s->step_thread != TS_NO_THREAD ? s->step_thread : s->stopped;
}

/*
 * After a vfork gdb inserts no breakpoints, and runs no other thread, until a stop reports that the child is done with the
 * memory; in a recording it was when the call returned.
 */
static bool tell_vfork_done(struct rsp_session *s, struct rsp_reply *r)
{
	if (!s->owes_vfork_done)
		return false;
	s->owes_vfork_done = false;
	rsp_stop_reply(s, r, 5, &(struct ts_found){ .kind = TS_STOP_VFORK_DONE, .pos = s->pos });
	return true;
}

/*
 * Other libraries are loaded here than the client knows of: a stop reports it before the client resumes, so that it sets its
 * breakpoints in them.  Then it resumes again.
 */
static bool tell_modules(struct rsp_session *s, struct rsp_reply *r)
{
	if (!rsp_modules_have_changed(s))
		return false;
	s->modules_at = s->pos;
	rsp_threads_hold_alone(s);
	rsp_stop_reply(s, r, 5, &(struct ts_found){ .kind = TS_STOP_MODULES, .pos = s->pos });
	return true;
}

/*
 * After "monitor announce": the move of the session is reported as a stop with signal 0, which no breakpoint
 * or step has caused.  The client then discards its cached state.
 *
 * The wait for a destination that has not been read yet is here, because clients can interrupt a resume.
 */
static enum rsp_done announce(struct rsp_session *s, struct rsp_reply *r)
{
	uint64_t pos = s->pos;

	switch (rsp_reach(s, &s->announced, &pos, &s->console)) {
	case RSP_LATER:
		s->wait.kind = RSP_WAIT_RESUME;
		return RSP_WAIT;
	case RSP_UNREACHABLE:
		ts_buf_putc(&s->console, '\n');
		break;
	case RSP_REACHED:
		break;
	}
	s->is_stop_unseen = true;
	rsp_asking_note_left(s, pos);
	rsp_session_go(s, pos);
	s->announced = (struct rsp_destination){ .kind = RSP_TO_POSITION, .pos = pos };
	if (tell_modules(s, r))
		return RSP_REPLIED;
	s->is_announcing = false;
	rsp_threads_hold_alone(s);
	rsp_stop_reply(s, r, 0, NULL);
	return RSP_REPLIED;
}

/* A job has begun, or memory is exhausted. */
static enum rsp_done begun(struct rsp_reply *r, bool has_begun)
{
	if (has_begun)
		return RSP_DEFERRED;
	return rsp_reply_error_text(r, "no memory for a run");
}

static enum rsp_done resume(struct rsp_session *s, struct rsp_reply *r, bool is_step, bool is_reverse)
{
	if (s->is_announcing)
		return announce(s, r);
	if (tell_vfork_done(s, r) || tell_modules(s, r))
		return RSP_REPLIED;
	s->alone = TS_NO_THREAD;
	return begun(r, is_step ? rsp_resume_step(s, stepping_thread(s), is_reverse)
				: rsp_resume_continue(s, is_reverse));
}

/* "[addr]" of s and c: a recording can only continue at its position. */
static enum rsp_done pkt_resume(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	if (!a->left)
		return resume(s, r, a->arg, s->is_backwards);
	rsp_args_u64(a);
	if (!rsp_args_done(a))
		return RSP_BAD;
	return rsp_reply_error_text(r, "a recording cannot be resumed at another address");
}

/* "sig[;addr]" */
static enum rsp_done pkt_signal(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	rsp_args_u8(a);
	if (!rsp_args_ok(a) || (a->left && (!rsp_args_accept(a, ';') || !a->left)))
		return RSP_BAD;
	return pkt_resume(s, a, r);
}

static enum rsp_done pkt_reverse(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	return resume(s, r, a->arg, true);
}

static enum rsp_done pkt_stop_reason(struct rsp_session *s, struct rsp_args *, struct rsp_reply *r)
{
	if (s->is_detached)
		return rsp_reply_puts(r, "W00");
	rsp_session_stop_in(s, s->stopped);
	rsp_stop_reply(s, r, 5, NULL);
	/* lldb 19 reads the list of libraries only after a stop that reports a change */
	if (s->is_lldb && r->kind == RSP_REPLY_DATA && rsp_module_list(s->target) != RSP_MODULES_NONE)
		rsp_reply_puts(r, "library:;");
	return RSP_REPLIED;
}

/* One action of vCont. */
struct action {
	char kind; /* 'c', 's', 'r', 't' */
	uint64_t start, end;
	uint32_t thread; /* TS_NO_THREAD: all others */
	bool is_child;   /* of the child of a fork */
};

/* "c", "Cxx", "s", "Sxx", "rSTART,END", "t", followed by ":thread". */
static bool parse_action(const struct rsp_session *s, struct rsp_args *a, struct action *act)
{
	static const char kinds[] = "cCsSrt";

	*act = (struct action){ .thread = TS_NO_THREAD };
	for (const char *k = kinds; *k && !act->kind; k++) {
		if (rsp_args_accept(a, *k))
			act->kind = *k;
	}
	if (!act->kind)
		return false;
	if (act->kind == 'C' || act->kind == 'S') {
		rsp_args_u8(a);
		act->kind = act->kind == 'C' ? 'c' : 's';
	} else if (act->kind == 'r') {
		act->start = rsp_args_u64(a);
		rsp_args_expect(a, ',');
		act->end = rsp_args_u64(a);
	}
	if (rsp_args_accept(a, ':')) {
		struct rsp_tid tid = rsp_args_tid(a);

		act->is_child = s->child && tid.has_pid && tid.pid == s->child;
		if (act->is_child)
			return rsp_args_ok(a);
		if (tid.tid != RSP_TID_ALL)
			act->thread = rsp_session_find_thread(s, tid);
		if (tid.tid != RSP_TID_ALL && act->thread == TS_NO_THREAD)
			return false;
	}
	return rsp_args_ok(a);
}

/* @is_only: no other threads are to run. */
static enum rsp_done run_action(struct rsp_session *s, struct rsp_reply *r, const struct action *act,
				bool is_only)
{
	uint32_t thread = act->thread != TS_NO_THREAD ? act->thread : stepping_thread(s);

	if (s->is_announcing)
		return announce(s, r);
	if (tell_vfork_done(s, r) || tell_modules(s, r))
		return RSP_REPLIED;
	switch (act->kind) {
	case 'r':
		if (!s->is_backwards)
			return begun(r, rsp_resume_range(s, thread, act->start, act->end));
		/* fall through - a range may end after any instruction */
	case 's':
		return begun(r, rsp_resume_step(s, thread, s->is_backwards));
	case 't':
		rsp_session_stop_in(s, s->stopped);
		rsp_stop_reply(s, r, 0, NULL);
		return RSP_REPLIED;
	default:
		return begun(r, is_only && act->thread != TS_NO_THREAD
					? rsp_resume_continue_one(s, thread, s->is_backwards)
					: rsp_resume_continue(s, s->is_backwards));
	}
}

/* The first action that steps is used; without one, the first action. */
static enum rsp_done pkt_vCont(struct rsp_session *s, struct rsp_args *a, struct rsp_reply *r)
{
	struct action chosen = { 0 };
	bool has_child = false;
	unsigned n = 0;

	do {
		struct action act;

		if (!parse_action(s, a, &act))
			return RSP_BAD;
		has_child |= act.is_child;
		n++;
		if (!chosen.kind ||
		    ((chosen.kind == 'c' || chosen.kind == 't') && (act.kind == 's' || act.kind == 'r')))
			chosen = act;
	} while (rsp_args_accept(a, ';'));
	if (!rsp_args_done(a))
		return RSP_BAD;
	if (has_child)
		return rsp_reply_error_text(r, RSP_NO_CHILD);
	s->alone = n == 1 && chosen.kind == 's' ? chosen.thread : TS_NO_THREAD;
	return run_action(s, r, &chosen, n == 1);
}

static const struct rsp_packet packets[] = {
	{ "?", RSP_EXACT, .handler = pkt_stop_reason },
	{ "s", RSP_PREFIX, .handler = pkt_resume, .arg = STEP },
	{ "c", RSP_PREFIX, .handler = pkt_resume, .arg = CONTINUE },
	{ "S", RSP_PREFIX, .handler = pkt_signal, .arg = STEP },
	{ "C", RSP_PREFIX, .handler = pkt_signal, .arg = CONTINUE },
	{ "bs", RSP_EXACT, pkt_reverse, .feature = "ReverseStep+", .arg = STEP },
	{ "bc", RSP_EXACT, pkt_reverse, .feature = "ReverseContinue+", .arg = CONTINUE },
	{ "vCont", RSP_ARGS, pkt_vCont, .feature = "vContSupported+" },
	{ "vCont?", RSP_EXACT, .reply = "vCont;c;C;s;S;r;t" },
};

const struct rsp_packets rsp_resume_packets = RSP_PACKETS(packets);
