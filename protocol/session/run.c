/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <string.h>

#include "condition.h"
#include "events.h"
#include "machine.h"
#include "session.h"
#include "src/base/clock.h"

/* Between two looks at the clock: chunks decoded, or steps walked. */
#define CHUNKS_BETWEEN_LOOKS 1
#define STEPS_BETWEEN_LOOKS  64

static const struct rsp_job_ops ops;

static void cancel(struct rsp_session *s)
{
	if (s->run.state == RSP_RUN_SEARCHING)
		ts_search_fini(&s->run.search);
	s->run = (struct rsp_run){ .state = RSP_RUN_NONE };
}

/* The stop was found, but there is something to collect on the way before the client is told. */
static void collect_first(struct rsp_session *s)
{
	if (s->run.state == RSP_RUN_SEARCHING)
		ts_search_fini(&s->run.search);
	s->run.state = RSP_RUN_COLLECTING;
}

/* Look for a stop on the way from @pos to the run's target. */
static bool start_search(struct rsp_session *s, uint64_t pos, struct ts_error *err)
{
	struct rsp_run *run = &s->run;

	if (run->state == RSP_RUN_SEARCHING)
		ts_search_fini(&run->search);
	run->state = RSP_RUN_NONE;
	if (!ts_search_init(&run->search, s->sh->q, &run->stops, pos, run->target, err))
		return false;
	run->state = RSP_RUN_SEARCHING;
	return true;
}

static void start_run(struct rsp_session *s, uint32_t thread, bool is_reverse)
{
	cancel(s);
	if (s->job.ops != &ops)
		rsp_job_start(s, &ops);
	s->tracing.selected = TS_NO_FRAME; /* what moves is not a frame */
	s->run.is_reverse = is_reverse;
	s->run.thread = thread;
	s->run.is_step = thread != TS_NO_THREAD;
	s->run.is_repeated = false;
	rsp_breaks_stops(&s->breaks, &s->run.stops);
	s->run.stops.has_syscalls = s->catches_syscalls;
	s->run.stops.syscalls = s->syscalls;
	s->run.stops.n_syscalls = s->n_syscalls;
	s->run.stops.has_signals = true;
	s->run.stops.passed_signals = s->passed_signals;
	s->run.stops.is_virtual = rsp_machine_is_virtual(s);
	s->run.stops.filter = rsp_machine_filter(s);
}

/*
 * gdb steps MIPS and SPARC by a breakpoint where the next instruction should be.  From a delay slot, where a
 * processor cannot stand, it expects that behind the slot, and would run on to wherever that happens to be
 * executed.
 */
static bool is_misled_step(const struct rsp_session *s)
{
	struct ts_break behind = { ts_query_process(s->sh->q, s->thread), 0 };
	struct ts_error err = { 0 };
	bool has_pc;

	if (!rsp_session_is_delay_slot(s, s->pos, s->thread) ||
	    !ts_query_pc(s->sh->q, s->pos, s->thread, &behind.addr, &has_pc, &err))
		return false;
	behind.addr += 4;
	return rsp_breaks_at(&s->breaks, RSP_BREAK_SOFT, behind) != NULL;
}

static bool is_growing(const struct rsp_session *s)
{
	return !rsp_is_complete(s);
}

/* The run cannot go on until more has been read. */
static void wait_at_edge(struct rsp_session *s, uint64_t pos)
{
	if (s->run.state == RSP_RUN_SEARCHING)
		ts_search_fini(&s->run.search);
	s->run.is_leaving = s->run.state == RSP_RUN_LEAVING;
	s->run.state = RSP_RUN_AT_EDGE;
	s->run.pos = pos;
	s->run.edge = rsp_last(s);
}

static bool is_stuck(const struct rsp_session *s)
{
	return s->run.state == RSP_RUN_AT_EDGE && !s->run.is_interrupted && is_growing(s) &&
	       rsp_last(s) == s->run.edge;
}

/* Look from @pos on, forwards, as far as there is something. */
static bool search_on(struct rsp_session *s, uint64_t pos, struct ts_error *err)
{
	s->run.target = rsp_last(s);
	s->run.is_open = is_growing(s);
	return start_search(s, pos, err);
}

bool rsp_run_continue(struct rsp_session *s, bool is_reverse, struct ts_error *err)
{
	if (!is_reverse && is_misled_step(s))
		return rsp_run_step(s, s->thread, false, err);
	start_run(s, TS_NO_THREAD, is_reverse);
	if (!is_reverse)
		return search_on(s, s->pos, err);
	s->run.target = 0;
	return start_search(s, s->pos, err);
}

/*
 * The position at which one instruction of the thread has run, or been undone, and from there on to one that
 * the session does not pass over; TS_NO_POS if there is none.
 */
static uint64_t step_target(const struct rsp_session *s, uint64_t pos, uint32_t thread, bool is_reverse)
{
	uint64_t step = TS_NO_POS;

	if (!is_reverse)
		step = ts_query_next_step(s->sh->q, thread, pos);
	else if (pos)
		step = ts_query_prev_step(s->sh->q, thread, pos - 1);
	if (step == TS_NO_POS)
		return TS_NO_POS;
	return rsp_machine_admitted(s, is_reverse ? step : step + 1, is_reverse);
}

/*
 * gdb 13 forgets that it was stepping over a breakpoint when it is told that there is nothing more, and then
 * waits for that step whatever it is asked to do.  So the step is said to be done; gdb stops at its
 * breakpoint again, and its user, who is told where this is, gives the next command.  If gdb tries again
 * before that, since the breakpoint's condition is false, it is stopped for no reason.  Over a breakpoint gdb
 * steps one thread alone; a step that its user wants lets the others run.
 */
static void step_over_at_end(struct rsp_session *s)
{
	s->run.is_step = true;
	s->run.is_repeated = s->has_stepped_over;
	if (!s->has_stepped_over)
		ts_buf_puts(&s->console, "This is the end of the recording.\n");
	s->has_stepped_over = true;
}

/*
 * A step from a limit, or of a thread that runs no more, comes to the end of the recording and not to a
 * target.
 */
bool rsp_run_step(struct rsp_session *s, uint32_t thread, bool is_reverse, struct ts_error *err)
{
	uint64_t target = step_target(s, s->pos, thread, is_reverse);

	start_run(s, thread, is_reverse);
	s->run.is_step = target != TS_NO_POS;
	s->run.target = target;
	if (!is_reverse && is_growing(s) && target > rsp_last(s)) {
		wait_at_edge(s, s->pos);
		return true;
	}
	if (target == TS_NO_POS) {
		s->run.target = is_reverse ? 0 : rsp_last(s);
		if (!is_reverse && s->is_gdb && s->is_alone)
			step_over_at_end(s);
	}
	return start_search(s, s->pos, err);
}

bool rsp_run_range(struct rsp_session *s, uint32_t thread, uint64_t start, uint64_t end, struct ts_error *err)
{
	if (step_target(s, s->pos, thread, false) == TS_NO_POS)
		return rsp_run_step(s, thread, false, err);
	start_run(s, thread, false);
	s->run.state = RSP_RUN_LEAVING;
	s->run.pos = s->pos;
	s->run.range_start = start;
	s->run.range_end = end;
	return true;
}

/* Walk the thread's instructions until one lies outside the range. */
static enum ts_next leave_range(struct rsp_session *s, struct ts_error *err)
{
	struct rsp_run *run = &s->run;

	for (unsigned i = 0; i < STEPS_BETWEEN_LOOKS; i++) {
		uint64_t pc, to = step_target(s, run->pos, run->thread, false);
		bool has_pc;

		if (is_growing(s) && to > rsp_last(s)) {
			wait_at_edge(s, run->pos);
			return TS_END;
		}
		run->pos = to;
		if (run->pos == TS_NO_POS)
			run->pos = rsp_last(s);
		if (!ts_query_pc(s->sh->q, run->pos, run->thread, &pc, &has_pc, err))
			return TS_FAIL;
		if (!has_pc || pc < run->range_start || pc >= run->range_end ||
		    run->pos == rsp_last(s)) {
			run->target = run->pos;
			return start_search(s, s->pos, err) ? TS_ITEM : TS_FAIL;
		}
	}
	return TS_END;
}

/*
 * Is there a system call to stop at, at a position where the search found a breakpoint?  @found then gets it.
 */
static enum ts_next find_syscall(struct rsp_session *s, struct ts_found *found, struct ts_error *err)
{
	struct ts_stops stops = s->run.stops;
	struct ts_search search;
	struct ts_found at;
	enum ts_next next;

	stops.n_breaks = stops.n_watches = 0;
	if (!ts_search_init(&search, s->sh->q, &stops, s->run.is_reverse ? found->pos + 1 : found->pos - 1,
			    found->pos, err))
		return TS_FAIL;
	next = ts_search_run(&search, 1, &at, err);
	ts_search_fini(&search);
	if (next != TS_ITEM || at.kind == TS_STOP_END)
		return next == TS_FAIL ? TS_FAIL : TS_END;
	*found = at;
	return TS_ITEM;
}

/*
 * Does a stop that the search found hold?  One whose conditions all fail does not, and the search goes on
 * behind it.
 */
static enum ts_next judge(struct rsp_session *s, struct ts_found *found, struct ts_error *err)
{
	struct rsp_run *run = &s->run;
	bool holds = found->kind != TS_STOP_BREAK || rsp_condition_holds(s, found, run->is_reverse);
	enum ts_next next;

	if ((found->kind == TS_STOP_BREAK || found->kind == TS_STOP_EXIT) && run->is_step &&
	    found->pos == run->target) {
		found->kind = TS_STOP_END; /* a step has arrived, wherever that is */
		holds = true;
	}
	if (holds)
		return TS_ITEM;
	next = run->stops.has_syscalls ? find_syscall(s, found, err) : TS_END;
	if (next == TS_END && !start_search(s, found->pos, err))
		return TS_FAIL;
	return next;
}

static enum ts_next go_on(struct rsp_session *s, struct ts_found *found, struct ts_error *err)
{
	enum ts_next next;

	if (s->run.state == RSP_RUN_LEAVING) {
		next = leave_range(s, err);
		return next == TS_ITEM ? TS_END : next;
	}
	next = ts_search_run(&s->run.search, CHUNKS_BETWEEN_LOOKS, found, err);
	if (next == TS_ITEM && found->kind == TS_STOP_END && s->run.is_open) {
		wait_at_edge(s, found->pos);
		s->run.edge = s->run.target;
		return TS_END;
	}
	return next == TS_ITEM ? judge(s, found, err) : next;
}

/* A range step was interrupted on its way, which is not searched yet: the way ends where it is. */
static bool stop_leaving(struct rsp_session *s, struct ts_error *err)
{
	s->run.target = s->run.pos;
	s->run.is_step = false;
	return start_search(s, s->pos, err);
}

/*
 * Where an interrupted run stops: up to there nothing was found, nor on to where the session does not pass
 * over.
 */
static enum ts_next give_up(const struct rsp_session *s, struct ts_found *found)
{
	uint64_t pos = rsp_machine_admitted(s, ts_search_reached(&s->run.search), s->run.is_reverse);

	if (s->run.is_reverse ? pos < s->run.target || pos == TS_NO_POS : pos > s->run.target)
		pos = s->run.target;

	*found = (struct ts_found){ .pos = pos, .thread = ts_query_thread(s->sh->q, pos) };
	return TS_ITEM;
}

/* Go on where the edge was, if it has moved; or stop there, if the client wants that. */
static enum ts_next leave_edge(struct rsp_session *s, struct ts_found *found, struct ts_error *err)
{
	struct rsp_run *run = &s->run;
	bool done = true;

	if (is_stuck(s))
		return TS_END;
	if (run->is_leaving) {
		run->state = RSP_RUN_LEAVING;
	} else if (run->is_interrupted) {
		*found = (struct ts_found){ .pos = run->pos, .thread = ts_query_thread(s->sh->q, run->pos) };
		return TS_ITEM;
	} else {
		done = run->thread == TS_NO_THREAD ? search_on(s, run->pos, err)
						   : rsp_run_step(s, run->thread, false, err);
	}
	return done ? TS_END : TS_FAIL;
}

static enum ts_next find_stop(struct rsp_session *s, int64_t end_ns, struct ts_found *found,
			      struct ts_error *err)
{
	enum ts_next next;

	if (s->run.state == RSP_RUN_AT_EDGE) {
		next = leave_edge(s, found, err);
		if (next != TS_END || s->run.state == RSP_RUN_AT_EDGE)
			return next;
	}
	if (s->run.is_interrupted && s->run.state == RSP_RUN_SEARCHING)
		return give_up(s, found);
	if (s->run.is_interrupted && !stop_leaving(s, err))
		return TS_FAIL;
	do
		next = go_on(s, found, err);
	while (next == TS_END && s->run.state != RSP_RUN_AT_EDGE && ts_now_ns() < end_ns);
	if (next == TS_END && s->run.is_interrupted)
		return give_up(s, found);
	if (next == TS_ITEM && found->kind != TS_STOP_END)
		s->run.is_interrupted = false; /* there is a better reason to stop */
	return next;
}

/* ---------------------------------------------------------------------------------------------- the job */

/*
 * The position of a stop at a watchpoint.  Where processors report the access before it happens gdb steps
 * over it by itself, in the direction in which it goes; so the stop is on the other side of the access.  lldb
 * 14 does so for few of them only, and any other client takes a stop for what it says.
 */
static uint64_t watch_position(const struct rsp_session *s, const struct ts_found *found, bool is_reverse)
{
	if (!rsp_regset(s)->arch->is_trap_early || !s->is_gdb)
		return found->pos;
	if (is_reverse)
		return found->pos + 1;
	return found->pos - (rsp_session_is_delay_slot(s, found->pos - 1, found->thread) ? 2 : 1);
}

/* Is there nothing after the session's position? */
static bool is_limit(const struct rsp_session *s)
{
	return rsp_is_complete(s) && s->pos == rsp_last(s);
}

/*
 * A run is over: the session stands where it stopped.  The process stays there when it has ended, so that the
 * client can go back: the end is told as text.
 */
static void stop(struct rsp_session *s, struct rsp_reply *r, const struct ts_found *found)
{
	bool is_interrupted = s->run.is_interrupted, is_step = s->run.is_step, is_reverse = s->run.is_reverse;
	bool is_repeated = s->run.is_repeated;
	uint32_t stepped = s->run.thread;

	cancel(s);
	s->is_stop_unseen = true;
	rsp_session_go(s, found->kind == TS_STOP_WATCH ? watch_position(s, found, is_reverse) : found->pos);
	if (found->kind == TS_STOP_END && is_step)
		s->thread = stepped;
	else if (found->kind != TS_STOP_BREAK)
		s->thread = found->thread;
	if (found->kind == TS_STOP_EXIT)
		rsp_events_text(s, &s->console);
	if (is_interrupted)
		rsp_session_stop_reply(s, r, 2, NULL);
	else if (found->kind == TS_STOP_SIGNAL)
		rsp_session_stop_reply(s, r, (uint8_t)found->number, found);
	else if (found->kind == TS_STOP_EXIT && !is_limit(s))
		rsp_session_stop_reply(s, r, 0, NULL);
	else if (found->kind == TS_STOP_END && is_step)
		rsp_session_stop_reply(s, r, is_repeated ? 0 : 5, NULL);
	else
		rsp_session_stop_reply(s, r, 5, found);
}

/* What lies on the way of a run is collected before the client hears where it has stopped. */
static bool finish(struct rsp_session *s, struct rsp_reply *r, const struct ts_found *found)
{
	if (!s->run.is_reverse && rsp_tracing_follow(s, s->pos, found)) {
		collect_first(s);
		return false;
	}
	stop(s, r, found);
	return true;
}

static bool go_to_stop(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r)
{
	struct ts_found found;
	struct ts_error err;

	if (s->run.state == RSP_RUN_COLLECTING) {
		if (!rsp_tracing_slice(s, end_ns))
			return false;
		stop(s, r, &s->tracing.found);
		return true;
	}
	ts_error_reset(&err);
	switch (find_stop(s, end_ns, &found, &err)) {
	case TS_ITEM:
		return finish(s, r, &found);
	case TS_END:
		return false;
	case TS_FAIL:
		break;
	}
	cancel(s);
	rsp_reply_failure(r, &err);
	return true;
}

/* A run that has found its stop ends there, however much was collected on the way. */
static void interrupt(struct rsp_session *s)
{
	if (s->run.state == RSP_RUN_COLLECTING)
		rsp_collector_stop(s->tracing.collector);
	else
		s->run.is_interrupted = true;
}

static void put_progress(const struct rsp_session *s, struct ts_buf *out)
{
	if (s->run.state != RSP_RUN_AT_EDGE)
		return;
	rsp_wait_put_read(s, out);
	ts_buf_putc(out, '\n');
}

static const struct rsp_job_ops ops = {
	.slice = go_to_stop,
	.interrupt = interrupt,
	.cancel = cancel,
	.is_stuck = is_stuck,
	.progress = put_progress,
};
