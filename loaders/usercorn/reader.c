/* SPDX-License-Identifier: MIT */
/*
 * From a stream of ops to steps.
 *
 * A group is what one instruction did: everything behind the previous STEP of its process up to its own.
 * Frames are transport: a group goes on over frame borders.  A SYSCALL stands behind the STEP of its
 * instruction, so next() looks a little ahead and takes what still belongs to the step: SYSCALLs that do not
 * end the process, and the state of processes that begin there.
 *
 *      FRAME JMP WRITE REG STEP  READ | FRAME JMP READ REG STEP  SYSCALL NOP | FRAME JMP ...
 *            `--- step 0 -----'  `------------- step 1 --------------------'   `--- step 2
 *
 * When the frames of several processes are mixed, a group may be open while another process runs.  Of such a
 * group only the place in the stream is kept (its parts); its ops are read again when its STEP comes.  So a
 * decode point is a few numbers, and nothing of it is state that sequential reading would have elsewhere.
 */
#include "usercorn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "effects.h"
#include "loaders/kit/point.h"

/* Processes in one trace, dead ones included. */
#define MAX_PROCESSES 4096

/* The "length" of an undefined instruction. */
#define UNDEFINED_INSN 241

struct ucir_reader {
	struct ts_reader base;
	struct ucir_walk w;
	struct ucir_tasks tasks;
	uint32_t n_processes;   /* that ever began: the ordinal of the next */
	struct ucir_task *task; /* of the current frame; NULL: none of its pid lives (yet) */
	uint64_t pid;           /* of the current frame */
	uint32_t left;          /* ops left in the current frame, 0: at stream level */
	uint32_t last_thread;   /* of the last step */
	uint32_t acting;        /* while looking ahead: the thread whose effects the last step's end has */
	/* The open group. */
	uint32_t begin;         /* effects in the batch when next() was called */
	uint32_t mark;          /* and where the group's begin: after what keyframes put before it */
	uint64_t part_off;      /* its ops since it was last taken up: from here, */
	uint32_t part_left;     /* with so many ops left in the frame there */
	bool has_bare_exit;     /* an EXIT of its own, not in a SYSCALL, */
	uint32_t exit_effects;  /* and the effects in the batch there */
	struct ts_error failed; /* what next() has failed with */
};

/* What follows is thread @thread's doing. */
static void put_thread(uint32_t thread, struct ts_steps *out)
{
	struct ts_effect *e = ts_steps_effect(out, TS_FX_THREAD, 0, 0);

	if (e)
		e->item = thread;
}

static bool no_memory(struct ts_error *err)
{
	return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to read the trace");
}

/* -------------------------------------------------------------------------------- processes */

/* A process begins; it gets the next ordinal, whichever reader comes here. */
static struct ucir_task *begin_task(struct ucir_reader *r, uint64_t pid, struct ts_error *err)
{
	struct ucir_task *t;

	if (r->n_processes == MAX_PROCESSES) {
		ucir_bad(&r->w, r->w.frame_off, TS_ELIMIT, err, "more than %d processes", MAX_PROCESSES);
		return NULL;
	}
	if (r->n_processes >= r->w.rec->base.n_threads &&
	    ts_recording_add_thread(&r->w.rec->base, r->n_processes, pid, pid) == TS_NO_THREAD) {
		no_memory(err);
		return NULL;
	}
	t = ucir_tasks_add(&r->tasks, pid, r->n_processes, err);
	if (!t)
		return NULL;
	r->n_processes++;
	r->base.end.has_exit = false;
	return t;
}

static void end_task(struct ucir_reader *r, struct ucir_task *t)
{
	if (r->task == t)
		r->task = NULL;
	ucir_tasks_remove(&r->tasks, t);
	r->base.end.has_exit = r->tasks.n == 0;
}

/* -------------------------------------------------------------------------------- the open group */

/* The group of the current task goes on, or begins, here. */
static void take_up(struct ucir_reader *r)
{
	r->part_off = ucir_stream_tell(&r->w.s);
	r->part_left = r->left;
}

/* The ops since take_up() end before stream offset @end: keep their place, their effects are made later. */
static bool put_aside(struct ucir_reader *r, uint64_t end, struct ts_error *err)
{
	struct ucir_task *t = r->task;

	if (!t || end == r->part_off)
		return true;
	return ucir_parts_add(&t->parts, &(struct ucir_part){ r->part_off, end, r->part_left }, err);
}

/* Another process runs from stream offset @off on. */
static bool leave(struct ucir_reader *r, uint64_t off, struct ts_steps *out, struct ts_error *err)
{
	if (!put_aside(r, off, err))
		return false;
	ts_steps_rollback(out, r->mark);
	r->has_bare_exit = false;
	r->task = NULL;
	return true;
}

/* A frame header: the ops that follow are those of a process. */
static bool begin_frame(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
			struct ts_error *err)
{
	bool is_other = !r->task || r->pid != op->val;

	if (is_other && !leave(r, op->off, out, err))
		return false;
	r->w.n_frames++;
	r->w.frame_off = op->off;
	r->pid = op->val;
	r->left = op->n_ops;
	if (is_other) {
		r->task = ucir_tasks_find(&r->tasks, r->pid);
		take_up(r);
	}
	return true;
}

/* An EXIT in the group, not in a SYSCALL. */
static void bare_exit(struct ucir_reader *r, const struct ts_steps *out)
{
	r->task->is_exiting = true;
	if (!r->has_bare_exit)
		r->exit_effects = out->n_effects;
	r->has_bare_exit = true;
}

/* Ops came for a pid of which no process lives. */
static bool begin_by_op(struct ucir_reader *r, const struct ucir_op *op, struct ts_error *err)
{
	r->task = begin_task(r, r->pid, err);
	if (!r->task)
		return false;
	ucir_warn(&r->w, op->off,
		  "process %" PRIu64 " begins without a keyframe: its registers and memory are unknown",
		  r->pid);
	return true;
}

/* An op of the group, other than STEP. */
static inline bool group_op(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
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
		bare_exit(r, out);
		return true;
	default:
		return ucir_apply(&r->w, t, op, out, err);
	}
}

/* Read the ops of a part again, which has no STEP and nobody else's frames. */
static bool replay_part(struct ucir_reader *r, const struct ucir_part *part, struct ts_steps *out,
			struct ts_error *err)
{
	uint32_t left = part->left;
	struct ucir_op op;

	if (!ucir_stream_seek(&r->w.s, part->off, err))
		return false;
	while (ucir_stream_tell(&r->w.s) < part->end) {
		if (!ucir_read(&r->w, &op, left, err))
			return false;
		if (!left && op.kind == UCIR_FRAME)
			left = op.n_ops;
		else if (!group_op(r, &op, out, err))
			return false;
		else if (left)
			left--;
	}
	return true;
}

/* Pass the @n ops that come next, whatever they are. */
static bool pass_ops(struct ucir_reader *r, uint32_t n, struct ts_error *err)
{
	struct ucir_op op;

	for (uint64_t left = n; left > 0; left--) {
		if (!ucir_read(&r->w, &op, (uint32_t)left, err))
			return false;
		left += op.kind == UCIR_SYSCALL ? op.n_ops : 0;
	}
	return true;
}

/*
 * The same of parts that are not known one by one: from part->off to part->end, the ops in frames of the current
 * process.
 */
static bool replay_sought(struct ucir_reader *r, const struct ucir_part *part, struct ts_steps *out,
			  struct ts_error *err)
{
	uint64_t pid = r->task->pid;
	uint32_t left = part->left;
	bool is_own = true;
	struct ucir_op op;

	if (!ucir_stream_seek(&r->w.s, part->off, err))
		return false;
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
		left -= left > 0;
		if (is_own ? !group_op(r, &op, out, err) : op.kind == UCIR_SYSCALL && !pass_ops(r, op.n_ops, err))
			return false;
	}
	return true;
}

/*
 * The group of the current task, whose STEP stands at @end, has parts: make its effects from the first op on.
 */
static bool replay(struct ucir_reader *r, uint64_t end, struct ts_steps *out, struct ts_error *err)
{
	struct ucir_task *t = r->task;
	uint64_t back = ucir_stream_tell(&r->w.s);

	if (!put_aside(r, end, err))
		return false;
	ts_steps_rollback(out, r->mark);
	if (r->mark > r->begin)
		put_thread(t->thread, out);
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
	return ucir_stream_seek(&r->w.s, back, err);
}

/* -------------------------------------------------------------------------------- keyframes */

/* Does a process get its state from a keyframe here: it is new, or has neither a state nor a step yet? */
static bool wants_state(const struct ucir_task *t)
{
	return !t || (!t->has_state && !t->has_stepped);
}

/*
 * What a keyframe's state becomes: that of position 0; a change behind a step that is nobody's doing; or the
 * same inside a step.  The position before that step may be the process's first, so its registers must hold
 * there too.
 */
enum role {
	AT_START,
	BEHIND_STEP,
	IN_STEP,
};

static void give_role(struct ts_steps *b, uint32_t from, enum role role)
{
	for (uint32_t i = from; i < b->n_effects && role != AT_START; i++) {
		b->effects[i].is_hidden = true;
		if (role == IN_STEP && b->effects[i].kind == TS_FX_REG_WRITE)
			b->effects[i].kind = TS_FX_REG_READ; /* what is seen was there before */
	}
}

/*
 * A keyframe at @op: the first of its process gives its state to @to (NULL: nowhere), any later one is only
 * checked, since it sums up what follows.
 */
static bool keyframe(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *to, enum role role,
		     struct ts_error *err)
{
	struct ucir_task *t = ucir_tasks_find(&r->tasks, op->val), scratch = { 0 };
	uint32_t from;

	if (t && t->is_exiting) {
		end_task(r, t);
		t = NULL;
	}
	r->w.frame_off = op->off;
	if (!wants_state(t))
		return ucir_apply_keyframe(&r->w, &scratch, op, NULL, err);
	if (!t)
		t = begin_task(r, op->val, err);
	if (!t)
		return false;
	t->has_state = true;
	if (!to)
		return ucir_apply_keyframe(&r->w, t, op, NULL, err);
	from = to->n_effects;
	put_thread(t->thread, to);
	r->acting = t->thread;
	if (!ucir_apply_keyframe(&r->w, t, op, to, err))
		return false;
	give_role(to, from, role);
	return true;
}

/* A keyframe while a group may be open: its effects come before those of the group. */
static bool keyframe_in_group(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
			      struct ts_error *err)
{
	/* Those before the first step are in the recording's initial state. */
	bool is_leading = !r->w.n_steps;

	if (!leave(r, op->off, out, err) || !keyframe(r, op, is_leading ? NULL : out, IN_STEP, err))
		return false;
	r->mark = out->n_effects;
	r->pid = op->val;
	r->task = ucir_tasks_find(&r->tasks, r->pid);
	take_up(r);
	return true;
}

/* -------------------------------------------------------------------------------- the end of a process */

/*
 * A process that ends with a bare EXIT has left by a system call that was not traced, or its last instruction
 * failed.  The instruction itself tells; where its bytes are not in the trace, a register that changed after
 * EXIT shows that it was completed.
 */
static bool is_fault(const struct ucir_reader *r, uint64_t insn_len, const struct ts_steps *out)
{
	const struct usercorn *rec = r->w.rec;
	size_t n = 0;
	const uint8_t *insn = ucir_initial_bytes(rec, r->task->thread, r->task->pc, &n);

	if (insn_len == UNDEFINED_INSN)
		return true;
	if (insn)
		return !rec->arch->is_syscall(insn, n, (size_t)insn_len, rec->is_code_big_endian);
	for (uint32_t i = r->exit_effects; i < out->n_effects; i++)
		if (out->effects[i].kind == TS_FX_REG_WRITE)
			return false;
	return true;
}

/*
 * The instruction failed.  The emulator stops at the access that it cannot make, so that one stands last
 * before EXIT; it did not happen and is taken out.  Earlier accesses of the same instruction (a string
 * instruction's, say) did.
 */
static void put_fault(struct ucir_reader *r, uint64_t insn_len, struct ts_steps *out)
{
	uint32_t i = r->exit_effects - 1;
	struct ts_event *ev;
	bool has_addr = insn_len != UNDEFINED_INSN && r->exit_effects > r->mark &&
			(out->effects[i].kind == TS_FX_READ || out->effects[i].kind == TS_FX_WRITE);
	uint64_t addr = has_addr ? out->effects[i].addr : 0;

	if (has_addr)
		memmove(out->effects + i, out->effects + i + 1,
			(--out->n_effects - i) * sizeof(*out->effects));
	ev = ts_steps_event(out, TS_EV_FAULT);
	if (ev) {
		ev->addr = addr;
		ev->has_addr = has_addr;
	}
}

/* The step that ends its process. */
static void last_step(struct ucir_reader *r, uint64_t insn_len, struct ts_steps *out)
{
	if (!r->has_bare_exit)
		return;
	r->base.end.is_fault = is_fault(r, insn_len, out);
	if (r->base.end.is_fault)
		put_fault(r, insn_len, out);
	ucir_add_exit(out, NULL);
}

/* -------------------------------------------------------------------------------- steps */

/* The STEP of the current task: close the group. */
static bool step(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out, struct ts_error *err)
{
	struct ucir_task *t = r->task;
	uint64_t next;

	if (!t->has_pc)
		return ucir_bad(&r->w, op->off, TS_ECORRUPT, err,
				"STEP before any JMP: its address is unknown");
	if (__builtin_expect(ucir_parts_any(&t->parts) || r->mark > r->begin, 0) &&
	    !replay(r, op->off, out, err))
		return false;
	r->base.end.is_fault = false;
	if (__builtin_expect(t->is_exiting, 0))
		last_step(r, op->len, out);
	if (out->is_failed)
		return no_memory(err);
	ts_steps_close(out, t->pc, op->len <= r->w.rec->arch->max_insn_len ? (uint16_t)op->len : 0,
		       t->thread);
	next = t->has_next_pc ? t->next_pc : (t->pc + op->len) & r->w.rec->addr_mask;
	r->base.end.pc = r->base.end.is_fault ? t->pc : next;
	r->base.end.has_pc = true;
	r->base.end.is_assumed = !r->base.end.is_fault && !t->has_next_pc && !t->is_exiting;
	r->last_thread = t->thread;
	r->w.n_steps++;
	t->pc = next;
	t->has_next_pc = false;
	t->had_pc = t->has_stepped = true;
	if (__builtin_expect(t->is_exiting, 0))
		end_task(r, t);
	return !out->is_failed || no_memory(err);
}

/* An op at stream level. */
static bool stream_op(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
		      struct ts_error *err)
{
	switch (op->kind) {
	case UCIR_NOP:
		return true;
	case UCIR_FRAME:
		return begin_frame(r, op, out, err);
	case UCIR_KEYFRAME:
		return keyframe_in_group(r, op, out, err);
	case UCIR_EXIT:
		if (r->task)
			bare_exit(r, out);
		return true;
	default:
		return ucir_bad(&r->w, op->off, TS_ECORRUPT, err,
				"%s at stream level, behind the frame at 0x%" PRIx64
				", whose op count may be wrong",
				ucir_kind_name(op->kind), ucir_shown_off(&r->w, r->w.frame_off));
	}
}

/* The stream is over, and at a frame's end. */
static bool is_at_end(const struct ucir_reader *r)
{
	return !r->left && !ucir_stream_left(&r->w.s) && r->w.rec->bytes.frames.end.code == TS_OK;
}

/* -------------------------------------------------------------------------------- looking ahead */

/* Does a SYSCALL here belong to a step that is over? */
static bool is_behind_step(const struct ucir_reader *r)
{
	if (!r->task) /* its process ended with its step */
		return r->w.rec->base.threads[r->last_thread].pid == r->pid &&
		       !ucir_tasks_by_thread(&r->tasks, r->last_thread);
	return r->task->has_stepped && !ucir_parts_any(&r->task->parts);
}

/* What is added to the last step is thread @thread's doing. */
static void act(struct ucir_reader *r, uint32_t thread, struct ts_steps *out)
{
	if (r->acting != thread)
		put_thread(thread, out);
	r->acting = thread;
}

static bool take_syscall(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
			 struct ts_error *err)
{
	struct ucir_task ended = { .thread = r->last_thread, .has_pc = true };
	struct ucir_task *t = r->task ? r->task : &ended;
	bool has_exit;

	if (!is_behind_step(r))
		return false;
	act(r, t->thread, out);
	if (!ucir_apply_syscall(&r->w, t, op, out, &has_exit, err) || (has_exit && r->task)) {
		t->has_next_pc = false;
		return false;
	}
	if (t->has_next_pc) {
		t->pc = t->next_pc;
		t->has_next_pc = false;
		if (t->thread == r->last_thread) {
			r->base.end.pc = t->pc;
			r->base.end.is_assumed = false;
		}
	}
	return true;
}

/* An EXIT without a STEP, since nothing but NOPs follows: the last step ended the process. */
static bool take_exit(struct ucir_reader *r, struct ts_steps *out, struct ts_error *err)
{
	struct ucir_op op;

	if (!r->task || !is_behind_step(r))
		return false;
	while (!is_at_end(r)) {
		if (!ucir_read(&r->w, &op, r->left, err) || op.kind != UCIR_NOP)
			return false;
		if (r->left)
			r->left--;
	}
	act(r, r->task->thread, out);
	ucir_add_exit(out, NULL);
	end_task(r, r->task);
	return true;
}

/* Take @op, behind a step, if it belongs to that. */
static bool take(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out, struct ts_error *err)
{
	bool is_inside = r->left > 0;

	if (is_inside)
		r->left--;
	switch (op->kind) {
	case UCIR_NOP:
		return true;
	case UCIR_SYSCALL:
		return is_inside && take_syscall(r, op, out, err);
	case UCIR_EXIT:
		return take_exit(r, out, err);
	case UCIR_FRAME:
		return !is_inside && begin_frame(r, op, out, err);
	case UCIR_KEYFRAME:
		return !is_inside && keyframe(r, op, out, BEHIND_STEP, err);
	default:
		return false;
	}
}

/* Can the next op belong to the step before?  A look at one byte spares most of the look-ahead. */
static inline bool may_be_behind(const struct ucir_reader *r)
{
	const struct ucir_stream *s = &r->w.s;
	uint8_t kind;

	if (!r->left || s->at == s->end)
		return true;
	kind = s->buf[s->at];
	return kind == UCIR_NOP || kind == UCIR_SYSCALL || kind == UCIR_EXIT;
}

/*
 * A step was closed: what follows and belongs to it becomes its effect.  An op that does not, or that is bad,
 * is left for next().
 */
static void look_ahead(struct ucir_reader *r, struct ts_steps *out)
{
	struct ts_error err;
	struct ucir_op op;

	ts_error_reset(&err);
	r->acting = r->last_thread;
	while (may_be_behind(r) && !is_at_end(r)) {
		uint64_t off = ucir_stream_tell(&r->w.s), n_frames = r->w.n_frames,
			 frame_off = r->w.frame_off;
		uint32_t left = r->left, n_processes = r->n_processes;

		r->begin = r->mark = out->n_closed;
		take_up(r);
		if (ucir_read(&r->w, &op, left, &err) && take(r, &op, out, &err)) {
			ts_steps_extend_last(out);
			continue;
		}
		ts_steps_rollback(out, r->begin);
		if (r->n_processes > n_processes)
			end_task(r, ucir_tasks_by_thread(&r->tasks, --r->n_processes));
		r->left = left;
		r->w.n_frames = n_frames;
		r->w.frame_off = frame_off;
		ts_error_reset(&r->failed);
		ucir_stream_seek(&r->w.s, off, &r->failed);
		return;
	}
}

/* -------------------------------------------------------------------------------- the interface */

/* Nothing more comes: where would the last process go on?  Jumps behind its last step count. */
static void end_here(struct ucir_reader *r)
{
	const struct ucir_task *t = ucir_tasks_by_thread(&r->tasks, r->last_thread);
	bool is_over = true;

	if (r->w.n_steps && t && t->has_stepped && !r->base.end.is_fault && t->pc != r->base.end.pc) {
		r->base.end.pc = t->pc;
		r->base.end.is_assumed = false;
	}
	for (uint32_t i = 0; i < r->tasks.n; i++)
		is_over &= r->tasks.items[i]->is_exiting;
	r->base.end.has_exit = is_over && r->n_processes;
}

static enum ts_next end_of_trace(struct ucir_reader *r, const struct ts_steps *out)
{
	uint64_t len = r->w.rec->bytes.len;

	if (out->n_effects > r->begin)
		ucir_warn(&r->w, len, "ops behind the last STEP belong to no instruction and are left out");
	end_here(r);
	if (!r->base.end.has_exit)
		ucir_warn(&r->w, len + 1, "the trace ends without the program's exit");
	return TS_END;
}

#define WORDS_AT_ONCE 512u

/*
 * What stands before the write that was read last, if it is alone in its frame: the frame's header, perhaps a
 * JMP to where the task is anyway.  Returns how long it is, 0 if it is something else.
 */
static size_t head_of_word(const struct ucir_reader *r, const uint8_t **head)
{
	const struct ucir_stream *s = &r->w.s;
	uint64_t len = ucir_stream_tell(s) - r->w.frame_off;

	if (r->left || r->w.frame_off < s->off)
		return 0;
	*head = s->buf + (r->w.frame_off - s->off);
	if (len == UCIR_FRAME_LEN + UCIR_WORD_LEN && (*head)[9] == 1)
		return UCIR_FRAME_LEN;
	if (len == UCIR_FRAME_LEN + UCIR_JMP_LEN + UCIR_WORD_LEN && (*head)[9] == 2 &&
	    (*head)[UCIR_FRAME_LEN] == UCIR_JMP)
		return UCIR_FRAME_LEN + UCIR_JMP_LEN;
	return 0;
}

/* Up to @max writes of a word that go on at @addr, of this frame or each of one like that of the last one. */
static uint32_t words_on(struct ucir_reader *r, uint64_t addr, uint32_t max, uint8_t *data)
{
	const uint8_t *head = NULL;
	size_t len = head_of_word(r, &head);
	uint32_t n;

	if (!len) {
		n = ucir_ops_write_on(&r->w.s, NULL, 0, addr, max < r->left ? max : r->left, data);
		r->left -= n;
		return n;
	}
	n = ucir_ops_write_on(&r->w.s, head, len, addr, max, data);
	r->w.n_frames += n;
	if (n)
		r->w.frame_off = ucir_stream_tell(&r->w.s) - len - UCIR_WORD_LEN;
	return n;
}

/*
 * The step has many effects, the last of which may be a write: a string instruction's go on behind it,
 * thousands of them, and are one.
 */
static void write_on(struct ucir_reader *r, struct ts_steps *out)
{
	struct ts_effect *e = &out->effects[out->n_effects - 1];
	uint32_t n = 1;

	while (n && e->kind == TS_FX_WRITE && e->data + e->len == out->n_data) {
		uint64_t addr = e->addr + e->len, room = (r->w.rec->addr_mask - addr + 1) / 8;

		if (!addr || addr > r->w.rec->addr_mask ||
		    (out->cap_data - out->n_data < 8 * WORDS_AT_ONCE &&
		     !ts_steps_grow_data(out, 8 * WORDS_AT_ONCE)))
			return;
		n = words_on(r, addr, room < WORDS_AT_ONCE ? (uint32_t)room : WORDS_AT_ONCE,
			     out->data + out->n_data);
		e->len += 8 * n;
		out->n_data += 8 * n;
	}
}

static bool read_group(struct ucir_reader *r, struct ts_steps *out, bool *is_end, struct ts_error *err)
{
	struct ucir_op op;

	for (;;) {
		if (__builtin_expect(!r->left, 0)) {
			*is_end = is_at_end(r);
			if (*is_end)
				return true;
			if (!ucir_read(&r->w, &op, 0, err) || !stream_op(r, &op, out, err))
				return false;
			continue;
		}
		if (!ucir_read(&r->w, &op, r->left, err))
			return false;
		if (__builtin_expect(!r->task, 0) && op.kind != UCIR_NOP && !begin_by_op(r, &op, err))
			return false;
		r->left--;
		if (op.kind == UCIR_STEP)
			return step(r, &op, out, err);
		if (!group_op(r, &op, out, err))
			return false;
		if (__builtin_expect(out->n_effects - out->n_closed > TS_MANY_EFFECTS, 0))
			write_on(r, out);
	}
}

static enum ts_next next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct ucir_reader *r = (struct ucir_reader *)base;
	bool is_end = false;

	if (r->failed.code != TS_OK) {
		*err = r->failed;
		return TS_FAIL;
	}
	r->begin = r->mark = out->n_closed;
	r->has_bare_exit = false;
	take_up(r);
	if (!read_group(r, out, &is_end, err)) {
		end_here(r);
		r->failed = *err;
		return TS_FAIL;
	}
	if (is_end)
		return end_of_trace(r, out);
	if (may_be_behind(r))
		look_ahead(r, out);
	return TS_ITEM;
}

/*
 * A decode point: stream offset; ops left in the frame; pid of the frame; frames and steps passed; offset of the
 * frame; processes that began; last thread; the end; thread of the current task and 1; the tasks.
 */
static void save(const struct ts_reader *base, struct ts_buf *b)
{
	const struct ucir_reader *r = (const struct ucir_reader *)base;

	point_put(b, ucir_stream_tell(&r->w.s));
	point_put(b, r->left);
	point_put(b, r->pid);
	point_put(b, r->w.n_frames);
	point_put(b, r->w.n_steps);
	point_put(b, r->w.frame_off);
	point_put(b, r->n_processes);
	point_put(b, r->last_thread);
	point_put_end(b, &r->base.end);
	point_put(b, r->task ? r->task->thread + UINT64_C(1) : 0);
	ucir_tasks_save(&r->tasks, b);
}

/* Back to having read nothing. */
static void reset(struct ucir_reader *r)
{
	ucir_tasks_fini(&r->tasks);
	r->n_processes = 0;
	r->task = NULL;
	r->left = 0;
	r->has_bare_exit = false;
	r->base.end = (struct ts_end){ 0 };
	ts_error_reset(&r->failed);
}

static bool restore(struct ucir_reader *r, struct point *p)
{
	const uint32_t n_threads = r->w.rec->base.n_threads;
	const uint64_t stream_len = r->w.rec->bytes.len, off = point_get(p, stream_len);
	uint64_t current;

	r->left = (uint32_t)point_get(p, UINT32_MAX);
	r->pid = point_get(p, UINT64_MAX);
	r->w.n_frames = point_get(p, UINT64_MAX);
	r->w.n_steps = point_get(p, UINT64_MAX);
	r->w.frame_off = point_get(p, stream_len);
	r->n_processes = (uint32_t)point_get(p, n_threads);
	r->last_thread = (uint32_t)point_get(p, n_threads ? n_threads - 1 : 0);
	point_get_end(p, &r->base.end);
	current = point_get(p, n_threads);
	if (!ucir_tasks_restore(&r->tasks, p, n_threads, stream_len))
		return false;
	r->task = current ? ucir_tasks_by_thread(&r->tasks, (uint32_t)(current - 1)) : NULL;
	if (current && !r->task)
		return point_refuse(p);
	return point_close(p) && ucir_stream_seek(&r->w.s, off, p->err);
}

static bool resume(struct ts_reader *base, const uint8_t *bytes, size_t len, struct ts_error *err)
{
	struct ucir_reader *r = (struct ucir_reader *)base;
	struct point p = point_open(bytes, len, err);

	reset(r);
	if (restore(r, &p))
		return true;
	r->failed = *err;
	return false;
}

static void close_reader(struct ts_reader *base)
{
	struct ucir_reader *r = (struct ucir_reader *)base;

	reset(r);
	ucir_stream_fini(&r->w.s);
	free(r);
}

static struct ucir_reader *reader_new(struct usercorn *rec, struct ts_error *err)
{
	static const struct ts_reader_ops ops = {
		.next = next, .save = save, .resume = resume, .close = close_reader
	};
	struct ucir_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		no_memory(err);
		return NULL;
	}
	r->base.ops = &ops;
	r->w.rec = rec;
	ts_error_reset(&r->failed);
	if (ucir_stream_init(&r->w.s, &rec->bytes, err))
		return r;
	close_reader(&r->base);
	return NULL;
}

struct ts_reader *ucir_reader_new(struct usercorn *rec, struct ts_error *err)
{
	struct ucir_reader *r = reader_new(rec, err);

	return r ? &r->base : NULL;
}

/* -------------------------------------------------------------------------------- before the first step */

static void note(struct ucir_start *start, uint8_t kind)
{
	start->has_jmp |= kind == UCIR_JMP;
	start->has_syscall |= kind == UCIR_SYSCALL;
}

/* One op that is not a STEP: keyframes give their state, all others are only looked at. */
static bool start_op(struct ucir_reader *r, const struct ucir_op *op, struct ucir_start *start,
		     struct ts_error *err)
{
	struct ts_steps nothing;
	bool has_exit;

	ts_steps_init(&nothing);
	if (!r->left && op->kind == UCIR_KEYFRAME) {
		start->has_keyframe = true;
		return keyframe(r, op, start->initial, AT_START, err);
	}
	if (!r->left)
		return stream_op(r, op, &nothing, err);
	if (!r->task && op->kind != UCIR_NOP && !begin_by_op(r, op, err))
		return false;
	r->left--;
	note(start, op->kind);
	if (op->kind == UCIR_SYSCALL)
		return ucir_apply_syscall(&r->w, r->task, op, NULL, &has_exit, err);
	return op->kind == UCIR_JMP || op->kind == UCIR_EXIT || ucir_apply(&r->w, r->task, op, NULL, err);
}

static enum ts_next read_start(struct ucir_reader *r, struct ucir_start *start, struct ts_error *err)
{
	struct ucir_op op;

	while (!is_at_end(r)) {
		if (!ucir_read(&r->w, &op, r->left, err))
			return TS_FAIL;
		if (r->left && op.kind == UCIR_STEP)
			return TS_ITEM;
		if (!start_op(r, &op, start, err))
			return TS_FAIL;
	}
	return TS_END;
}

enum ts_next ucir_read_start(struct usercorn *rec, struct ucir_start *start, struct ts_error *err)
{
	struct ucir_reader *r = reader_new(rec, err);
	enum ts_next result;

	if (!r)
		return TS_FAIL;
	r->w.seen = start->seen;
	r->w.is_quiet = !start->initial;
	result = read_start(r, start, err);
	start->n_frames = r->w.n_frames;
	close_reader(&r->base);
	return result;
}
