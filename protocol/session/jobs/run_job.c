/* SPDX-License-Identifier: MIT */
#include "run_job.h"

#include <stdlib.h>

#include "protocol/session/breaks.h"
#include "protocol/session/events.h"
#include "protocol/session/machine.h"
#include "protocol/session/session.h"
#include "src/agent/ax_state.h"
#include "src/base/collections/buf.h"
#include "src/base/clock.h"
#include "src/query/code/insn_reads.h"
#include "protocol/session/stop.h"
#include "protocol/session/documents/threads.h"

struct rsp_session;
struct ts_found;

/* An environment on the state that also prints. */
struct look {
	struct ts_ax_state state; /* first member: the state's own functions get it */
	struct ts_buf *console;
};

static void put_failure(const struct look *look, const char *what, enum ts_ax_error error)
{
	ts_buf_puts(look->console, what);
	ts_ax_state_put_error(&look->state, error, look->console);
	ts_buf_putc(look->console, '\n');
}

/* A condition that cannot be evaluated stops, and the console says why. */
static bool holds(const struct rsp_break *br, struct ts_ax_env *env, const struct look *look)
{
	if (!br)
		return false;
	if (br->n_conditions)
		env->budget = (uint32_t)(TS_AX_STATE_BUDGET / br->n_conditions);
	for (size_t i = 0; i < br->n_conditions; i++) {
		uint64_t value = 0;
		enum ts_ax_error error = ts_ax_eval(br->conditions[i], env, &value);

		if (error)
			put_failure(look, "The breakpoint's condition is not known: ", error);
		if (error || value)
			return true;
	}
	return !br->n_conditions;
}

static void print(void *user, const char *text, size_t len)
{
	const struct look *look = user;

	ts_buf_put(look->console, text, len);
}

/* A command that cannot be evaluated prints why. */
static void run_commands(const struct rsp_break *br, struct ts_ax_env *env, const struct look *look)
{
	env->budget = (uint32_t)(TS_AX_STATE_BUDGET / br->n_commands);
	env->print = print;
	for (size_t i = 0; i < br->n_commands; i++) {
		enum ts_ax_error error = ts_ax_eval(br->commands[i], env, NULL);

		if (error)
			put_failure(look, "A dynamic printf cannot be printed: ", error);
	}
	env->print = NULL;
}

/* Does a breakpoint that was hit stop the client? */
static bool stops(const struct rsp_break *br, struct ts_ax_env *env, const struct look *look,
		  bool is_reverse)
{
	if (!holds(br, env, look))
		return false;
	if (br->n_commands && !is_reverse)
		run_commands(br, env, look);
	return !br->n_commands;
}

/*
 * Does the breakpoint that was hit stop the client?
 *
 * It stops if it has no conditions, if any condition is not zero, and if a condition cannot be evaluated, because the
 * user must decide about unknown values.  A breakpoint with commands does not stop: the commands are run instead, if
 * the client moves forwards, and their output goes to its console.
 */
static bool condition_holds(struct rsp_session *s, const struct ts_found *found, bool is_reverse)
{
	struct ts_break at = { ts_query_process(s->target->q, found->thread), 0 };
	struct look look = { .console = &s->console };
	struct ts_ax_env env;
	struct ts_error err = { 0 };
	bool has_pc, is_soft, is_hard;

	if (!ts_query_pc(s->target->q, found->pos, found->thread, &at.addr, &has_pc, &err))
		return true;
	ts_ax_state_init(&look.state, s->target->q, found->pos, found->thread, s->scratch);
	look.state.is_physical = s->is_physical;
	look.state.view = s->layout ? &s->layout->regs : NULL;
	ts_ax_state_env(&look.state, &env);
	is_soft = stops(rsp_breaks_at(&s->breaks, RSP_BREAK_SOFT, at), &env, &look, is_reverse);
	is_hard = stops(rsp_breaks_at(&s->breaks, RSP_BREAK_HARD, at), &env, &look, is_reverse);
	return is_soft || is_hard;
}

static const struct rsp_job_ops ops;

/* The state of the job, which is of this kind. */
static struct rsp_resume *state_of(const struct rsp_session *s)
{
	return s->job.state;
}

bool rsp_resume_is_under_way(const struct rsp_session *s)
{
	return s->job.ops == &ops;
}

static void cancel(struct rsp_session *s)
{
	ts_walk_fini(&state_of(s)->walk);
	free(s->job.state);
	s->job.state = NULL;
}

/* ---------------------------------------------------------------------------------------------- beginning */

static bool watches_reads(const struct ts_stops *stops)
{
	for (size_t i = 0; i < stops->n_watches; i++) {
		if (stops->watches[i].kind != TS_WATCH_WRITE)
			return true;
	}
	return false;
}

/* Report to the client once why its watchpoint may have passed over a read; @why is the end of a sentence. */
static void tell_reads(struct rsp_session *s, const char *why)
{
	const struct ts_query *q = s->target->q;

	if (!s->has_reported_reads)
		ts_buf_printf(&s->console, "%s not recorded in this %s recording%s.\n", ts_query_lacking_reads(q),
			      ts_query_facts(q)->format, why);
	s->has_reported_reads = true;
}

/* Begin the job, which is to stop at *stops.  Returns its state, NULL if memory is exhausted. */
static struct rsp_resume *begin(struct rsp_session *s, uint32_t thread, bool is_reverse,
				struct ts_stops *stops)
{
	struct rsp_resume *run = malloc(sizeof(*run));

	if (!run)
		return NULL;
	*run = (struct rsp_resume){ .is_reverse = is_reverse, .thread = thread };
	rsp_job_start(&s->job, &ops, run);
	s->tracing.selected = TS_NO_FRAME; /* a resume leaves the trace frame */
	rsp_breaks_stops(&s->breaks, stops);
	if (ts_query_facts(s->target->q)->misses_reads && !ts_query_infers_reads(s->target->q) && watches_reads(stops))
		tell_reads(s, ", and a watchpoint does not stop at them");
	stops->has_syscalls = s->catches_syscalls;
	stops->syscalls = s->syscalls;
	stops->n_syscalls = s->n_syscalls;
	stops->has_forks = s->has_forks;
	stops->has_signals = true;
	stops->has_maps = true;
	stops->passed_signals = s->passed_signals;
	stops->is_virtual = rsp_machine_is_virtual(s);
	stops->filter = rsp_machine_filter(s);
	stops->has_modules = rsp_session_follows_modules(s);
	stops->passed_modules = s->missing.data;
	stops->n_passed_modules = 8 * s->missing.len;
	stops->process = rsp_process(s);
	return run;
}

/*
 * gdb steps MIPS and SPARC by a breakpoint on the expected next instruction.  From a delay slot, where a
 * processor cannot stop, it expects the instruction after the slot, and would run on until that happens to be
 * executed.
 */
static bool is_misled_step(const struct rsp_session *s)
{
	struct ts_break after = { ts_query_process(s->target->q, s->thread), 0 };
	struct ts_error err = { 0 };
	bool has_pc;

	if (!rsp_session_is_delay_slot(s, s->pos, s->thread) ||
	    !ts_query_pc(s->target->q, s->pos, s->thread, &after.addr, &has_pc, &err))
		return false;
	after.addr += 4;
	return rsp_breaks_at(&s->breaks, RSP_BREAK_SOFT, after) != NULL;
}

bool rsp_resume_continue(struct rsp_session *s, bool is_reverse)
{
	struct ts_stops stops;
	struct rsp_resume *run;

	if (!is_reverse && is_misled_step(s))
		return rsp_resume_step(s, s->thread, false);
	run = begin(s, TS_NO_THREAD, is_reverse, &stops);
	if (run)
		ts_walk_continue(&run->walk, s->target->q, &stops, s->pos, is_reverse);
	return run != NULL;
}

/*
 * gdb 13 steps over a watched access of RISC-V by a breakpoint on the next instruction and a continue of that
 * thread alone.  The run ends where this thread has reached the instruction, not where it is scheduled next: other threads
 * may run in between.
 */
static bool is_step_by_break(const struct rsp_session *s, uint32_t thread)
{
	uint64_t step = ts_query_next_step(s->target->q, thread, s->pos);
	struct ts_break next = { ts_query_process(s->target->q, thread), 0 };
	struct ts_error err = { 0 };
	bool has_pc;

	return step != TS_NO_POS && ts_query_pc(s->target->q, step + 1, thread, &next.addr, &has_pc, &err) &&
	       has_pc && rsp_breaks_at(&s->breaks, RSP_BREAK_SOFT, next) != NULL;
}

bool rsp_resume_continue_one(struct rsp_session *s, uint32_t thread, bool is_reverse)
{
	if (!is_reverse && s->is_gdb && is_step_by_break(s, thread))
		return rsp_resume_step(s, thread, false);
	return rsp_resume_continue(s, is_reverse);
}

bool rsp_resume_step(struct rsp_session *s, uint32_t thread, bool is_reverse)
{
	struct ts_stops stops;
	struct rsp_resume *run = begin(s, thread, is_reverse, &stops);

	if (run)
		ts_walk_step(&run->walk, s->target->q, &stops, s->pos, thread, is_reverse);
	return run != NULL;
}

bool rsp_resume_range(struct rsp_session *s, uint32_t thread, uint64_t start, uint64_t end)
{
	struct ts_stops stops;
	struct rsp_resume *run = begin(s, thread, false, &stops);

	if (run)
		ts_walk_range(&run->walk, s->target->q, &stops, s->pos, thread, start, end);
	return run != NULL;
}

/* ---------------------------------------------------------------------------------------------- the stop */

/*
 * The position of a stop at a watchpoint.  For processors that report the access before it happens gdb steps
 * over it by itself, in the direction of the run; so the stop is on the other side of the access.  lldb 14
 * does this for few processors only, and other clients take the stop position literally.
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
 * gdb steps over its own breakpoints with one thread alone.  A step requested by its user lets the others
 * run.
 */
static bool is_step_over(const struct rsp_session *s)
{
	return s->is_gdb && s->alone != TS_NO_THREAD && !state_of(s)->is_reverse &&
	       state_of(s)->thread != TS_NO_THREAD;
}

/*
 * gdb 13 forgets that it was stepping over a breakpoint when a stop reports the end of the history, and
 * then waits for that step whatever command it gets.  So the step is reported as done; gdb stops at its
 * breakpoint again, and its user, to whom the end is reported, gives the next command.  If gdb tries
 * again before that, because the breakpoint's condition is false, it gets a stop without a reason.
 */
static void step_over_at_end(struct rsp_session *s, struct rsp_reply *r)
{
	rsp_stop_reply(s, r, s->has_stepped_over ? 0 : 5, NULL);
	if (s->has_stepped_over || r->kind == RSP_REPLY_ERROR)
		return;
	ts_buf_puts(&s->console, "This is the end of the recording.\n");
	s->has_stepped_over = true;
}

/*
 * gdb continues "stepi 1000" at an end, and reports each time that there is no more history; a stop without a
 * reason ends it.
 */
static bool is_counted_step(const struct rsp_session *s)
{
	return s->is_gdb && state_of(s)->thread != TS_NO_THREAD;
}

/* gdb's number of the stop's signal; 0 for a stop that no breakpoint or step has caused. */
static uint8_t signal_of(struct rsp_session *s, const struct ts_found *found)
{
	switch (found->kind) {
	case TS_STOP_INTERRUPT:
		return 2;
	case TS_STOP_SIGNAL:
		return (uint8_t)found->number;
	case TS_STOP_EXIT:
		return is_limit(s) ? 5 : 0;
	default:
		return 5;
	}
}

/*
 * The session is at its stop.  A process that has exited is kept, so that the client can go back: the exit is
 * reported as text.  A client that gets an error instead does not know of an end.
 */
static void stop(struct rsp_session *s, struct rsp_reply *r, const struct ts_found *found)
{
	bool is_reverse = state_of(s)->is_reverse;
	bool is_end = found->kind == TS_STOP_END, is_over = is_end && is_step_over(s);
	bool is_repeated = is_end && s->has_ended && is_counted_step(s), is_held;
	uint32_t stepped = state_of(s)->thread;

	if (state_of(s)->walk.has_open_reads)
		tell_reads(s, "; of some instructions on the way the code or the address is not known: they may have read what is "
			      "watched");
	cancel(s);
	s->is_stop_unseen = true;
	rsp_session_go(s, found->kind == TS_STOP_WATCH ? watch_position(s, found, is_reverse) : found->pos);
	if (found->kind == TS_STOP_STEP || is_over)
		rsp_session_stop_in(s, stepped);
	else if (found->kind != TS_STOP_BREAK)
		rsp_session_stop_in(s, found->thread);
	if (found->kind == TS_STOP_MODULES)
		s->modules_at = s->pos;
	if (found->kind == TS_STOP_EXIT)
		rsp_events_text(s, &s->console);
	if (is_end && is_reverse && s->pos)
		ts_buf_puts(&s->console, "This thread begins here: what ran before are other threads.\n");
	is_held = !is_over && !is_reverse && rsp_threads_hold_alone(s);
	if (is_over)
		step_over_at_end(s, r);
	else if (is_repeated || is_held)
		rsp_stop_reply(s, r, 0, NULL);
	else
		rsp_stop_reply(s, r, signal_of(s, found), found);
	if (!is_held)
		rsp_stop_put_watches(s, r, found, is_reverse);
	if (r->kind != RSP_REPLY_ERROR)
		s->has_ended = is_end;
}

/* Frames on the way are collected before the stop is reported to the client. */
static bool finish(struct rsp_session *s, struct rsp_reply *r, const struct ts_found *found)
{
	if (!state_of(s)->is_reverse && rsp_tracing_follow(&s->tracing, s->pos, found)) {
		state_of(s)->is_collecting = true;
		return false;
	}
	stop(s, r, found);
	return true;
}

/* ---------------------------------------------------------------------------------------------- the job */

/* Continue the walk; a breakpoint whose conditions are all false does not end it. */
static enum ts_walked find_stop(struct rsp_session *s, int64_t end_ns, struct ts_found *found,
				struct ts_error *err)
{
	struct rsp_resume *run = state_of(s);
	enum ts_walked walked;

	do {
		walked = ts_walk_run(&run->walk, found, err);
		if (walked == TS_WALK_STOP && found->kind == TS_STOP_BREAK &&
		    !condition_holds(s, found, run->is_reverse)) {
			ts_walk_pass(&run->walk, found);
			walked = TS_WALK_ON;
		}
	} while (walked == TS_WALK_ON && ts_now_ns() < end_ns);
	if (walked == TS_WALK_STOP && found->kind == TS_STOP_STEP)
		condition_holds(s, found, run->is_reverse); /* a breakpoint there prints what it prints */
	run->is_waiting = walked == TS_WALK_WAIT;
	run->edge = rsp_last(s);
	return walked;
}

static bool slice(struct rsp_session *s, int64_t end_ns, struct rsp_reply *r)
{
	struct ts_found found;
	struct ts_error err = { 0 };

	if (state_of(s)->is_collecting) {
		if (!rsp_tracing_slice(&s->tracing, end_ns))
			return false;
		stop(s, r, &s->tracing.found);
		return true;
	}
	switch (find_stop(s, end_ns, &found, &err)) {
	case TS_WALK_STOP:
		return finish(s, r, &found);
	case TS_WALK_ON:
	case TS_WALK_WAIT:
		return false;
	case TS_WALK_FAIL:
		break;
	}
	cancel(s);
	rsp_reply_failure(r, s->target->trace, &err);
	return true;
}

/* A run that has found its stop ends there, whatever has been collected on the way. */
static void interrupt(struct rsp_session *s)
{
	if (state_of(s)->is_collecting)
		rsp_collector_stop(s->tracing.collector);
	else
		ts_walk_interrupt(&state_of(s)->walk);
}

static bool is_stuck(const struct rsp_session *s)
{
	return state_of(s)->is_waiting && !s->job.is_interrupted && !rsp_is_complete(s) &&
	       rsp_last(s) == state_of(s)->edge;
}

static void put_progress(const struct rsp_session *s, struct ts_buf *out)
{
	if (!state_of(s)->is_waiting)
		return;
	rsp_target_put_read(s->target, out);
	ts_buf_putc(out, '\n');
}

static const struct rsp_job_ops ops = {
	.slice = slice,
	.interrupt = interrupt,
	.cancel = cancel,
	.is_stuck = is_stuck,
	.progress = put_progress,
};
