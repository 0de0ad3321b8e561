/* SPDX-License-Identifier: MIT */
/*
 * A reader of a Usercorn trace: its processes, and the open group of ops.
 *
 * If the frames of several processes are interleaved, a group may be open while another process runs.  Only
 * the places of its ops in the stream are kept (its parts); the ops are read again at its STEP.  A decode
 * point is therefore a few numbers, and sequential reading has the same state as resumed reading.
 */
#ifndef LOADERS_USERCORN_GROUP_H
#define LOADERS_USERCORN_GROUP_H

#include "effects.h"
#include "tasks.h"
#include "trace.h"

#define UCIR_N_OTHERS 2048u

struct ucir_reader {
	struct ts_reader base;
	struct ucir_walk w;
	struct ucir_tasks tasks;
	uint32_t n_processes;   /* processes that have begun (version 2: threads); also the next ordinal */
	struct ucir_task *task; /* of the current frame; NULL: no live process has its pid */
	uint64_t pid;           /* of the current frame */
	uint32_t left;          /* ops left in the current frame, 0: at stream level */
	uint32_t last_thread;   /* of the last step */
	uint32_t acting;        /* while looking ahead: the thread of the effects at the end of the last step */
	/* The open group. */
	uint32_t begin;         /* effects in the batch when next() was called */
	uint32_t mark;          /* index of the group's first effect, after the effects of keyframes */
	uint64_t part_off;      /* stream offset of its ops since its process was resumed */
	uint32_t part_left;     /* ops left in the frame at part_off */
	bool has_bare_exit;     /* the group has an EXIT outside of a SYSCALL */
	uint32_t exit_effects;  /* with has_bare_exit: the number of effects in the batch at the EXIT */
	/* The tail of the last step, while it is read. */
	bool has_signal;        /* the tail has a SIGNAL */
	bool is_killed;         /* a signal of the tail ended the process */
	char became[36];        /* the path of the program that an exec started; terminated */
	struct ts_error failed; /* the error with which next() failed */
	/* A cache of instructions that x87.c need not examine, by address: the address xor its task's key. */
	uint64_t others[UCIR_N_OTHERS];
};

/* Has the stream ended, at the end of a frame? */
bool ucir_is_at_end(const struct ucir_reader *r);

/* Append TS_FX_THREAD: the following effects belong to @thread. */
void ucir_put_thread(uint32_t thread, struct ts_steps *out);

/*
 * Begin a process, or in version 2 a thread.  It has the next ordinal, which is the same in every reader.
 *
 * Returns the task, borrowed until ucir_end_task().
 * Returns NULL if there are too many tasks (TS_ELIMIT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ucir_task *ucir_begin_task(struct ucir_reader *r, uint64_t pid, struct ts_error *err);

/* End and free a task. */
void ucir_end_task(struct ucir_reader *r, struct ucir_task *t);

/* Set the pc of the thread, according to an op after its step. */
static inline void ucir_jump(struct ucir_reader *r, struct ucir_task *t, uint64_t pc)
{
	t->pc = pc;
	t->has_pc = t->had_pc = true;
	if (t->thread == r->last_thread && !r->base.end.is_fault) {
		r->base.end.pc = pc;
		r->base.end.is_assumed = false;
	}
}

/* @t has no more steps: store its pc as the end of the thread. */
static inline void ucir_note_end_pc(struct ucir_reader *r, const struct ucir_task *t)
{
	struct ts_thread *thread = &r->w.rec->base.threads[t->thread];

	if (!t->has_pc || thread->end_pc == t->pc)
		return;
	thread->end_pc = t->pc;
	r->w.rec->base.n_learned++;
}

/* Begin or continue the group of the current task at the current offset. */
static inline void ucir_take_up(struct ucir_reader *r)
{
	r->part_off = ucir_stream_tell(&r->w.s);
	r->part_left = r->left;
}

/*
 * Suspend the group of the current task: at stream offset @off the frames of another process begin.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_leave(struct ucir_reader *r, uint64_t off, struct ts_steps *out, struct ts_error *err);

/*
 * Process a frame header, which selects the process of the ops that follow.
 *
 * Returns false if there are too many tasks (TS_ELIMIT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_begin_frame(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
		      struct ts_error *err);

/* Process an EXIT in the group outside of a SYSCALL. */
void ucir_bare_exit(struct ucir_reader *r, const struct ts_steps *out);

/*
 * Begin the process of an op whose pid no live process has.
 *
 * Returns false if there are too many tasks (TS_ELIMIT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_begin_by_op(struct ucir_reader *r, const struct ucir_op *op, struct ts_error *err);

/*
 * Process an op of the group, other than STEP.
 *
 * Returns false if the op is malformed or not permitted here (TS_ECORRUPT).
 * Returns false if its ops cannot be read, as ucir_read().
 */
static inline bool ucir_group_op(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
				 struct ts_error *err)
{
	struct ucir_task *t = r->task;
	bool has_exit;

	switch (op->kind) {
	case UCIR_JMP:
		t->pc = op->addr & r->w.rec->addr_mask;
		t->has_pc = true;
		return true;
	case UCIR_SYSCALL:
		if (!ucir_apply_syscall(&r->w, t, op, out, &has_exit, err))
			return false;
		t->is_exiting |= has_exit;
		return true;
	case UCIR_EXIT:
		if (r->w.rec->version == 2)
			return ucir_bad(&r->w, op->off, TS_ECORRUPT, err, "EXIT outside of a SYSCALL");
		ucir_bare_exit(r, out);
		return true;
	case UCIR_SIGNAL: /* it belongs to a step before, unless what is in it is damaged */
		return ucir_apply_signal(&r->w, t, op, 0, NULL, err) &&
		       ucir_bad(&r->w, op->off, TS_ECORRUPT, err, "SIGNAL inside an instruction");
	case UCIR_GAP: /* the same */
		return ucir_apply_gap(&r->w, t, op, NULL, err) &&
		       ucir_bad(&r->w, op->off, TS_ECORRUPT, err, "GAP inside an instruction");
	default: return ucir_apply(&r->w, t, op, out, err);
	}
}

/*
 * Append the effects of a group that has parts, from its first op on.  The group is that of the current task,
 * and its STEP is at stream offset @end.
 *
 * Returns false if an op is malformed (TS_ECORRUPT) or the stream ends inside it (TS_ETRUNC).
 * Returns false if the stream cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_replay(struct ucir_reader *r, uint64_t end, struct ts_steps *out, struct ts_error *err);

/* ------------------------------------------------------------------------------------- keyframe.c */

/*
 * The use of a keyframe's state: as the state of position 0, as a change after a step, or as a change inside a step.  No
 * instruction made such a change.  The position before that step may be the first one of the process, so its registers
 * are also those of that position.
 */
enum ucir_role {
	UCIR_AT_START,
	UCIR_AFTER_STEP,
	UCIR_IN_STEP,
};

/*
 * Read the keyframe @op with its ops.  The state in the first keyframe of a process is appended to @to, unless @to is NULL.
 * Later keyframes are only checked, because they repeat the state.
 *
 * Returns false if the keyframe contradicts itself (TS_ECORRUPT).
 * Returns false if it cannot be read, as ucir_read().
 */
bool ucir_keyframe(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *to, enum ucir_role role,
		   struct ts_error *err);

/*
 * As ucir_keyframe(), if a group may be open: the keyframe's effects are put before those of the group.
 *
 * Returns false if the keyframe contradicts itself (TS_ECORRUPT).
 * Returns false if it cannot be read, as ucir_read().
 */
bool ucir_keyframe_in_group(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
			    struct ts_error *err);

/* ----------------------------------------------------------------------------------- after_step.c */

/* Can the next op belong to the previous step?  One byte decides in most cases. */
static inline bool ucir_may_be_tail(const struct ucir_reader *r)
{
	const struct ucir_stream *s = &r->w.s;
	const uint8_t *next;
	size_t n;
	uint8_t kind;

	next = ucir_stream_at_hand(s, &n);
	if (!r->left || !n)
		return true;
	kind = *next;
	if (kind == UCIR_JMP || kind > UCIR_EXIT)
		return r->w.rec->version == 2;
	return kind == UCIR_NOP || kind == UCIR_SYSCALL || kind == UCIR_EXIT;
}

/*
 * After a step was closed: append the effects of the following ops that belong to it.  An op that does not belong to it, or
 * is malformed, is left for next().
 *
 * Returns false if the trace cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 * The step may then lack some of its effects.
 */
bool ucir_read_tail(struct ucir_reader *r, struct ts_steps *out, struct ts_error *err);

/*
 * Process an END that no step can have: before the first step, or inside an instruction.
 *
 * Returns false if it is of an unknown kind (TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_end_early(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
		    struct ts_error *err);

/* --------------------------------------------------------------------------------------- reader.c */

/*
 * As reader() of struct ts_recording_ops.
 *
 * Returns a reader at position 0, owned by the caller.
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_reader *ucir_reader_new(struct usercorn *rec, struct ts_error *err);

/*
 * As ucir_reader_new(), for a walk over the start of a trace (start.c).
 *
 * Returns the reader, owned by the caller.
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ucir_reader *ucir_reader_open(struct usercorn *rec, struct ts_error *err);

/*
 * Process an op at stream level.
 *
 * Returns false if the op is not permitted there (TS_ECORRUPT).
 * Returns false if its processing fails, as ucir_group_op().
 */
bool ucir_stream_op(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
		    struct ts_error *err);

#endif
