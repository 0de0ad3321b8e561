/* SPDX-License-Identifier: MIT */
/*
 * The tail of a step: what is after its STEP and belongs to it.  That is SYSCALLs that do not end the
 * process, the state of processes and threads that begin there, and in version 2 signals, the ends of threads
 * and processes, and the JMP that says where the thread goes on.
 *
 * In version 2 the tail may be another thread's: its system call returned after a step of this one.
 */
#include "group.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "note.h"
#include "src/arch/signals.h"

/* Does a SYSCALL, or what version 2 has beside it, belong here to a step that is over? */
static bool is_after_step(const struct ucir_reader *r)
{
	if (r->w.rec->version == 2)
		return r->task && !ucir_parts_any(&r->task->parts);
	if (!r->task) /* its process ended with its step */
		return r->w.rec->base.threads[r->last_thread].pid == r->pid &&
		       !ucir_tasks_by_thread(&r->tasks, r->last_thread);
	return r->task->has_stepped && !ucir_parts_any(&r->task->parts);
}

/* The effects that are added to the last step are those of thread @thread. */
static void act(struct ucir_reader *r, uint32_t thread, struct ts_steps *out)
{
	if (r->acting != thread)
		ucir_put_thread(thread, out);
	r->acting = thread;
}

/* @t goes on where a register says, if one did. */
static void follow(struct ucir_reader *r, struct ucir_task *t)
{
	if (!t->has_next_pc)
		return;
	t->has_next_pc = false;
	ucir_jump(r, t, t->next_pc);
}

static bool take_syscall(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
			 struct ts_error *err)
{
	struct ucir_task ended = { .thread = r->last_thread, .has_pc = true };
	struct ucir_task *t = r->task ? r->task : &ended;
	bool has_exit;

	if (!is_after_step(r))
		return false;
	act(r, t->thread, out);
	if (!ucir_apply_syscall(&r->w, t, op, out, &has_exit, err) || (has_exit && r->task)) {
		t->has_next_pc = false;
		return false;
	}
	follow(r, t);
	return true;
}

/* An EXIT without a STEP, since nothing but NOPs follows: the last step ended the process. */
static bool take_exit(struct ucir_reader *r, struct ts_steps *out, struct ts_error *err)
{
	struct ucir_op op;

	if (!r->task || !is_after_step(r))
		return false;
	while (!ucir_is_at_end(r)) {
		if (!ucir_read(&r->w, &op, r->left, err) || op.kind != UCIR_NOP)
			return false;
		if (r->left)
			r->left--;
	}
	act(r, r->task->thread, out);
	ucir_add_exit(out, NULL);
	ucir_end_task(r, r->task);
	return true;
}

/* -------------------------------------------------------------------------------- version 2 */

/* A SIGNAL says that the STEP before did not complete: which holds only if that is the last one read. */
static bool is_own_step(const struct ucir_reader *r)
{
	return r->acting == r->last_thread && r->task->thread == r->last_thread;
}

static bool take_signal(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
			struct ts_error *err)
{
	const unsigned flags = is_own_step(r) && !r->has_signal ? op->flags : op->flags & ~UCIR_SIGNAL_FAULT;
	struct ucir_task *t = r->task;

	act(r, t->thread, out);
	if (!ucir_apply_signal(&r->w, t, op, flags, out, err))
		return false;
	follow(r, t);
	r->has_signal = true;
	r->is_killed |= (flags & UCIR_SIGNAL_KILLED) != 0;
	if (flags & UCIR_SIGNAL_FAULT && flags & UCIR_SIGNAL_KILLED) {
		r->base.end.is_fault = true;
		r->base.end.is_assumed = false;
		r->base.end.pc = out->steps[out->n_steps - 1].pc;
	}
	return true;
}

static bool take_gap(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out, struct ts_error *err)
{
	act(r, r->task->thread, out);
	if (!ucir_apply_gap(&r->w, r->task, op, out, err))
		return false;
	follow(r, r->task);
	return true;
}

static bool take_thread_end(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out)
{
	struct ts_event *ev;

	act(r, r->task->thread, out);
	ev = ts_steps_event(out, TS_EV_THREAD_END);
	if (ev) {
		ev->number = op->val;
		ev->has_ret = true;
	}
	ucir_end_task(r, r->task);
	return true;
}

/* All threads of the process that the last frame was of have ended. */
static void end_process(struct ucir_reader *r)
{
	const uint64_t process = ucir_process_id(r->w.rec, r->pid);

	for (uint32_t i = r->tasks.n; i-- > 0;)
		if (ucir_process_id(r->w.rec, r->tasks.items[i]->pid) == process) {
			ucir_note_end_pc(r, r->tasks.items[i]);
			ucir_end_task(r, r->tasks.items[i]);
		}
	r->base.end.has_exit = r->tasks.n == 0;
}

static void put_end(const struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out)
{
	const uint32_t number = ts_signal_from_linux(r->w.rec->model, (uint32_t)op->val);
	const char *name = ts_signal_name(number);
	struct ts_event *ev;

	if (op->flags == UCIR_END_SIGNAL && !r->is_killed) {
		ev = ts_steps_event(out, TS_EV_SIGNAL);
		if (ev) {
			ev->number = number;
			ev->is_after = true;
		}
	}
	ev = ts_steps_event(out, TS_EV_EXIT);
	if (!ev)
		return;
	if (op->flags == UCIR_END_EXIT) {
		ev->number = op->val;
		ev->has_ret = true;
	} else if (op->flags == UCIR_END_EXEC) {
		snprintf(ev->text, sizeof(ev->text), "by exec of %s", *r->became ? r->became : "another program");
	} else if (name) {
		snprintf(ev->text, sizeof(ev->text), "by %s", name);
	} else {
		snprintf(ev->text, sizeof(ev->text), "by signal %" PRIu64, op->val);
	}
}

static bool is_cut(struct ucir_reader *r, const struct ucir_op *op)
{
	if (op->flags != UCIR_END_CUT)
		return false;
	r->w.rec->is_cut = true;
	ucir_warn(&r->w, op->off, "the recorder ended before the program");
	return true;
}

static bool take_end(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out)
{
	const struct ucir_task *last = ucir_tasks_by_thread(&r->tasks, r->last_thread);

	if (op->flags >= UCIR_N_ENDS)
		return false; /* read again, and refused, as an op at stream level */
	if (is_cut(r, op))
		return true;
	/* reported for a thread of the process: the one that ran last, if it is alive */
	if (last && ucir_process_id(r->w.rec, last->pid) == ucir_process_id(r->w.rec, r->pid))
		act(r, r->last_thread, out); /* others may have had their unfinished calls since */
	else if (r->task)
		act(r, r->task->thread, out);
	put_end(r, op, out);
	end_process(r);
	r->base.end.is_assumed = false; /* a JMP would say so if it were elsewhere */
	return true;
}

bool ucir_end_early(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
		    struct ts_error *err)
{
	if (op->flags >= UCIR_N_ENDS)
		return ucir_bad(&r->w, op->off, TS_ECORRUPT, err, "an END of unknown kind %u", op->flags);
	if (is_cut(r, op))
		return true;
	if (out->n_effects > r->begin)
		ucir_warn(&r->w, op->off, "the program ended inside an instruction, which is left out");
	if (!ucir_leave(r, op->off, out, err))
		return false;
	end_process(r);
	return true;
}

/* -------------------------------------------------------------------------------- all of them */

/* The program that an exec started: for the END that follows. */
static void note_became(struct ucir_reader *r, const struct ucir_op *op)
{
	size_t len = op->len < sizeof(r->became) ? (size_t)op->len : sizeof(r->became) - 1;

	memset(r->became, 0, sizeof(r->became));
	memcpy(r->became, op->bytes, len);
}

/* Take @op, after a step, if it belongs to that. */
static bool take(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out, struct ts_error *err)
{
	bool is_inside = r->left > 0;

	if (is_inside)
		r->left--;
	switch (op->kind) {
	case UCIR_NOP: return true;
	case UCIR_SYSCALL: return is_inside && take_syscall(r, op, out, err);
	case UCIR_EXIT: return r->w.rec->version < 2 && take_exit(r, out, err);
	case UCIR_FRAME: return !is_inside && ucir_begin_frame(r, op, out, err);
	case UCIR_KEYFRAME: return !is_inside && ucir_keyframe(r, op, out, UCIR_AFTER_STEP, err);
	case UCIR_SIGNAL: return is_inside && is_after_step(r) && take_signal(r, op, out, err);
	case UCIR_GAP: return is_inside && is_after_step(r) && take_gap(r, op, out, err);
	case UCIR_THREAD_END: return is_inside && is_after_step(r) && take_thread_end(r, op, out);
	case UCIR_END: return !is_inside && take_end(r, op, out);
	case UCIR_NOTE:
		ucir_note(&r->w, op);
		if (op->num == UCIR_NOTE_BECAME)
			note_became(r, op);
		return !is_inside;
	case UCIR_JMP:
		if (r->w.rec->version < 2 || !is_inside || !is_after_step(r))
			return false;
		ucir_jump(r, r->task, op->addr & r->w.rec->addr_mask);
		return true;
	default: return false;
	}
}

/*
 * A step was closed: what follows and belongs to it becomes its effect.  An op that does not, or that is bad,
 * is left for next().
 */
bool ucir_read_tail(struct ucir_reader *r, struct ts_steps *out, struct ts_error *err)
{
	struct ts_error why = { 0 };
	struct ucir_op op;

	r->acting = r->last_thread;
	r->has_signal = r->is_killed = false;
	while (ucir_may_be_tail(r) && !ucir_is_at_end(r)) {
		uint64_t off = ucir_stream_tell(&r->w.s), n_frames = r->w.n_frames,
			 frame_off = r->w.frame_off;
		uint32_t left = r->left, n_processes = r->n_processes;

		r->begin = r->mark = out->n_closed;
		ucir_take_up(r);
		if (ucir_read(&r->w, &op, left, &why) && take(r, &op, out, &why)) {
			ts_steps_extend_last(out);
			continue;
		}
		ts_steps_rollback(out, r->begin);
		if (r->n_processes > n_processes)
			ucir_end_task(r, ucir_tasks_by_thread(&r->tasks, --r->n_processes));
		r->left = left;
		r->w.n_frames = n_frames;
		r->w.frame_off = frame_off;
		ts_error_reset(&r->failed);
		ucir_stream_seek(&r->w.s, off);
		if (why.code != TS_EIO && why.code != TS_ENOMEM)
			return true;
		*err = why;
		return false;
	}
	return true;
}
