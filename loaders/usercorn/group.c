/* SPDX-License-Identifier: MIT */
#include "group.h"

#include <inttypes.h>

/* Processes in one trace, dead ones included; and threads, of which version 2 may have more over time. */
#define MAX_PROCESSES 4096
#define MAX_THREADS 65536

bool ucir_is_at_end(const struct ucir_reader *r)
{
	return !r->left && !ucir_stream_left(&r->w.s) && r->w.rec->bytes.frames.end.code == TS_OK;
}

void ucir_put_thread(uint32_t thread, struct ts_steps *out)
{
	struct ts_effect *e = ts_steps_effect(out, TS_FX_THREAD, 0, 0);

	if (e)
		e->item = thread;
}

/* -------------------------------------------------------------------------------- processes */

/* Bytes that the index has at least for a process that lives: pages of its registers and of its memory. */
#define MEMORY_A_PROCESS 32768u

/* How many may live at one time.  What was read once, or has an index, is not bounded again. */
static uint32_t most_at_one_time(const struct ts_recording *rec)
{
	uint64_t n = rec->max_memory / MEMORY_A_PROCESS;

	return rec->is_read || !rec->max_memory || n > MAX_PROCESSES ? MAX_PROCESSES : n ? (uint32_t)n : 1;
}

static bool has_room(const struct ucir_reader *r, struct ts_error *err)
{
	const uint32_t max = r->w.rec->version < 2 ? MAX_PROCESSES : MAX_THREADS;
	const uint32_t most = most_at_one_time(&r->w.rec->base);

	if (r->n_processes < max && r->tasks.n < most)
		return true;
	return ucir_bad(&r->w, r->w.frame_off, TS_ELIMIT, err, "more than %" PRIu32 " %s%s",
			r->n_processes < max ? most : max,
			r->w.rec->version < 2	 ? "processes"
			: r->n_processes < max ? "threads at one time"
					       : "threads",
			most < MAX_PROCESSES && r->n_processes < max ? ": --max-memory allows no more" : "");
}

/* The thread is one of a process whose other threads live, or the first of a new process. */
static bool add_thread(struct ucir_reader *r, uint64_t pid)
{
	struct ts_recording *rec = &r->w.rec->base;
	const uint64_t id = ucir_process_id(r->w.rec, pid);

	if (r->w.rec->version < 2)
		return ts_recording_add_thread(rec, r->n_processes, pid, pid) != TS_NO_THREAD;
	for (uint32_t i = r->tasks.n; i-- > 0;) { /* most often the newest is one */
		const struct ucir_task *t = r->tasks.items[i];

		if (ucir_process_id(r->w.rec, t->pid) == id)
			return ts_recording_add_thread(rec, rec->threads[t->thread].process, id,
						       pid & UINT32_MAX) != TS_NO_THREAD;
	}
	return ts_recording_add_thread(rec, rec->n_processes, id, pid & UINT32_MAX) != TS_NO_THREAD;
}

/* A process begins; it gets the next ordinal, whichever reader comes here. */
struct ucir_task *ucir_begin_task(struct ucir_reader *r, uint64_t pid, struct ts_error *err)
{
	struct ucir_task *t;

	if (!has_room(r, err))
		return NULL;
	if (r->n_processes >= r->w.rec->base.n_threads && !add_thread(r, pid))
		return ts_no_memory(err, "reading the trace");
	t = ucir_tasks_add(&r->tasks, pid, r->n_processes, err);
	if (!t)
		return NULL;
	r->n_processes++;
	r->base.end.has_exit = false;
	return t;
}

void ucir_end_task(struct ucir_reader *r, struct ucir_task *t)
{
	if (r->task == t)
		r->task = NULL;
	ucir_tasks_remove(&r->tasks, t);
	r->base.end.has_exit = r->tasks.n == 0;
}

/* -------------------------------------------------------------------------------- the open group */

/*
 * The ops since ucir_take_up() end before stream offset @end: keep their place, their effects are made later.
 */
static bool put_aside(struct ucir_reader *r, uint64_t end, struct ts_error *err)
{
	struct ucir_task *t = r->task;

	if (!t || end == r->part_off)
		return true;
	return ucir_parts_add(&t->parts, &(struct ucir_part){ r->part_off, end, r->part_left }, err);
}

/* Another process runs from stream offset @off on. */
bool ucir_leave(struct ucir_reader *r, uint64_t off, struct ts_steps *out, struct ts_error *err)
{
	if (!put_aside(r, off, err))
		return false;
	ts_steps_rollback(out, r->mark);
	r->has_bare_exit = false;
	r->task = NULL;
	return true;
}

/* A frame header: the ops that follow are those of a process. */
bool ucir_begin_frame(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
		      struct ts_error *err)
{
	bool is_other = !r->task || r->pid != op->val;

	if (is_other && !ucir_leave(r, op->off, out, err))
		return false;
	r->w.n_frames++;
	r->w.frame_off = op->off;
	r->pid = op->val;
	r->left = op->n_ops;
	if (is_other)
		r->task = ucir_tasks_find(&r->tasks, r->pid);
	if (is_other || r->part_off == op->off) /* a frame without ops is no part of a group */
		ucir_take_up(r);
	return true;
}

/* An EXIT in the group, not in a SYSCALL. */
void ucir_bare_exit(struct ucir_reader *r, const struct ts_steps *out)
{
	r->task->is_exiting = true;
	if (!r->has_bare_exit)
		r->exit_effects = out->n_effects;
	r->has_bare_exit = true;
}

/* Ops came for a pid of which no process lives. */
bool ucir_begin_by_op(struct ucir_reader *r, const struct ucir_op *op, struct ts_error *err)
{
	r->task = ucir_begin_task(r, r->pid, err);
	if (!r->task)
		return false;
	ucir_warn(&r->w, op->off,
		  "%s %" PRIu64 " begins without a keyframe: its registers%s are unknown",
		  r->w.rec->version < 2 ? "process" : "thread", r->w.rec->version < 2 ? r->pid : r->pid & UINT32_MAX,
		  r->w.rec->version < 2 ? " and memory" : "");
	return true;
}

/* Ops of version 2 between the frames of a group.  They were handled when they were read first. */
static bool is_between_frames(unsigned kind)
{
	return kind == UCIR_NOTE || kind == UCIR_END;
}

/* Read again the ops of a part, which has no STEP and no frames of other tasks. */
static bool replay_part(struct ucir_reader *r, const struct ucir_part *part, struct ts_steps *out,
			struct ts_error *err)
{
	uint32_t left = part->left;
	struct ucir_op op;

	ucir_stream_seek(&r->w.s, part->off);
	while (ucir_stream_tell(&r->w.s) < part->end) {
		if (!ucir_read(&r->w, &op, left, err))
			return false;
		if (!left && op.kind == UCIR_FRAME)
			left = op.n_ops;
		else if (!left && is_between_frames(op.kind))
			continue;
		else if (!ucir_group_op(r, &op, out, err))
			return false;
		else if (left)
			left--;
	}
	return true;
}

/* Pass the next @n ops, of any kind. */
static bool pass_ops(struct ucir_reader *r, uint32_t n, struct ts_error *err)
{
	struct ucir_op op;

	for (uint64_t left = n; left > 0; left--) {
		if (!ucir_read(&r->w, &op, (uint32_t)left, err))
			return false;
		left += ucir_is_holder(op.kind) ? op.n_ops : 0;
	}
	return true;
}

/*
 * As above, of parts that are not known one by one: from part->off to part->end, the ops in frames of the
 * current process.
 */
static bool replay_sought(struct ucir_reader *r, const struct ucir_part *part, struct ts_steps *out,
			  struct ts_error *err)
{
	uint64_t pid = r->task->pid;
	uint32_t left = part->left;
	bool is_own = true;
	struct ucir_op op;

	ucir_stream_seek(&r->w.s, part->off);
	while (ucir_stream_tell(&r->w.s) < part->end) {
		if (!ucir_read(&r->w, &op, left, err))
			return false;
		if (!left && (op.kind == UCIR_FRAME || op.kind == UCIR_KEYFRAME)) {
			is_own = op.val == pid;
			left = op.kind == UCIR_FRAME ? op.n_ops : 0;
			if (op.kind == UCIR_KEYFRAME && !pass_ops(r, op.n_ops, err))
				return false;
			continue;
		}
		if (!left && is_between_frames(op.kind))
			continue;
		left -= left > 0;
		if (is_own ? !ucir_group_op(r, &op, out, err)
			   : ucir_is_holder(op.kind) && !pass_ops(r, op.n_ops, err))
			return false;
	}
	return true;
}

/* The group of the current task, whose STEP is at @end, has parts: make its effects from the first op on. */
bool ucir_replay(struct ucir_reader *r, uint64_t end, struct ts_steps *out, struct ts_error *err)
{
	struct ucir_task *t = r->task;
	uint64_t back = ucir_stream_tell(&r->w.s);

	if (!put_aside(r, end, err))
		return false;
	ts_steps_rollback(out, r->mark);
	if (r->mark > r->begin)
		ucir_put_thread(t->thread, out);
	r->has_bare_exit = false;
	t->is_exiting = false;
	t->has_next_pc = false;
	t->has_pc = t->had_pc;
	if (t->parts.is_sought && !replay_sought(r, &t->parts.first, out, err))
		return false;
	for (uint32_t i = 0; i < t->parts.n; i++) {
		if (!replay_part(r, &t->parts.items[i], out, err))
			return false;
	}
	ucir_parts_clear(&t->parts);
	ucir_stream_seek(&r->w.s, back);
	return true;
}
