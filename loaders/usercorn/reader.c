/* SPDX-License-Identifier: MIT */
/*
 * From a stream of ops to steps.
 *
 * A group is what one instruction did: everything after the previous STEP of its process up to its own.
 * Frames are transport: a group goes on over frame borders.  A SYSCALL is after the STEP of its
 * instruction, so next() looks a little ahead and takes what still belongs to the step (after_step.c).
 *
 *      FRAME JMP WRITE REG STEP  READ | FRAME JMP READ REG STEP  SYSCALL NOP | FRAME JMP ...
 *            `--- step 0 -----'  `------------- step 1 --------------------'   `--- step 2
 */
#include "group.h"

#include <inttypes.h>
#include <string.h>

#include "src/trace/point.h"
#include "note.h"
#include "plain.h"
#include "src/arch/traps.h"
#include "trace.h"
#include "x87.h"

/* The "length" of an undefined instruction. */
#define UNDEFINED_INSN 241

/* The processor with the byte order of its instructions. */
static const struct ts_arch *code_arch(const struct usercorn *rec)
{
	return rec->model->is_big_endian == rec->is_code_big_endian ? rec->model
								    : ts_arch_in_order(rec->model,
										       rec->is_code_big_endian);
}

/*
 * A process that ends with a bare EXIT made a system call that was not traced, or its last instruction
 * failed. The bytes of the instruction decide; if they are not in the trace, a register that changed after
 * EXIT shows that the instruction was completed.
 */
static bool is_fault(const struct ucir_reader *r, uint64_t insn_len, const struct ts_steps *out)
{
	const struct usercorn *rec = r->w.rec;
	size_t n = 0;
	const uint8_t *insn = ucir_initial_bytes(rec, r->task->thread, r->task->pc, &n);

	if (insn_len == UNDEFINED_INSN)
		return true;
	if (insn)
		return ts_insn_trap(code_arch(rec), insn_len == 2, insn, n) != TS_TRAP_SYSCALL;
	for (uint32_t i = r->exit_effects; i < out->n_effects; i++)
		if (out->effects[i].kind == TS_FX_REG_WRITE)
			return false;
	return true;
}

/*
 * The instruction failed.  The emulator stops at the access that it cannot make: the last one before EXIT did
 * not happen and is removed.  Earlier accesses of the same instruction (such as those of a string
 * instruction) did.
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

#define WORDS_AT_ONCE 512u

/*
 * The bytes before the last write, if it is alone in its frame: the header of the frame, perhaps with a JMP
 * to the pc of the task. Returns their length, 0 if there is something else.
 */
static size_t head_of_word(const struct ucir_reader *r, const uint8_t **head)
{
	const struct ucir_stream *s = &r->w.s;
	uint64_t len = ucir_stream_tell(s) - r->w.frame_off;

	*head = r->left ? NULL : ucir_stream_passed(s, r->w.frame_off);
	if (!*head)
		return 0;
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
 * The step has many effects, the last of which may be a write: a string instruction's go on after it,
 * thousands of them, and are one.
 */
static void write_on(struct ucir_reader *r, struct ts_steps *out)
{
	struct ts_effect *e = &out->effects[out->n_effects - 1];
	uint32_t n = 1;

	while (n && e->kind == TS_FX_WRITE && e->data + e->len == out->n_data) {
		/* no room after the last byte of the space, where addr is 0 or one more than the mask */
		uint64_t addr = e->addr + e->len, room = (r->w.rec->addr_mask - addr + 1) / 8;

		if (out->cap_data - out->n_data < 8 * WORDS_AT_ONCE &&
		    !ts_steps_grow_data(out, 8 * WORDS_AT_ONCE))
			return;
		n = words_on(r, addr, room < WORDS_AT_ONCE ? (uint32_t)room : WORDS_AT_ONCE,
			     out->data + out->n_data);
		e->len += 8 * n;
		out->n_data += 8 * n;
	}
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
	    !ucir_replay(r, op->off, out, err))
		return false;
	r->base.end.is_fault = false;
	if (__builtin_expect(t->is_exiting, 0))
		last_step(r, op->len, out);
	else
		ucir_x87_step(r, t, op->len, out);
	if (out->is_failed)
		return ts_no_memory(err, "reading the trace");
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
		ucir_end_task(r, t);
	return !out->is_failed || ts_no_memory(err, "reading the trace");
}

/* An op at stream level. */
bool ucir_stream_op(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
		    struct ts_error *err)
{
	switch (op->kind) {
	case UCIR_NOP: return true;
	case UCIR_FRAME: return ucir_begin_frame(r, op, out, err);
	case UCIR_KEYFRAME: return ucir_keyframe_in_group(r, op, out, err);
	case UCIR_EXIT:
		if (r->task)
			ucir_bare_exit(r, out);
		return true;
	case UCIR_NOTE:
		ucir_note(&r->w, op);
		if (r->part_off == op->off)
			ucir_take_up(r);
		return true;
	case UCIR_END:
		return ucir_end_early(r, op, out, err);
	default:
		return ucir_bad(&r->w, op->off, TS_ECORRUPT, err,
				"%s at stream level, after the frame at 0x%" PRIx64
				", whose op count may be wrong",
				ucir_kind_name(op->kind), r->w.frame_off);
	}
}

/* -------------------------------------------------------------------------------- the interface */

/* Nothing more comes: where would the last process go on?  Jumps after its last step count. */
static void end_here(struct ucir_reader *r)
{
	const struct ucir_task *t = ucir_tasks_by_thread(&r->tasks, r->last_thread);
	bool is_over = true;

	if (r->w.n_steps && t && t->has_stepped && !r->base.end.is_fault && t->pc != r->base.end.pc) {
		r->base.end.pc = t->pc;
		r->base.end.is_assumed = false;
	}
	for (uint32_t i = 0; i < r->tasks.n; i++) {
		is_over &= r->tasks.items[i]->is_exiting;
		ucir_note_end_pc(r, r->tasks.items[i]);
	}
	r->base.end.has_exit = is_over && r->n_processes;
}

static enum ts_next end_of_trace(struct ucir_reader *r, const struct ts_steps *out)
{
	uint64_t end = r->w.rec->bytes.end;

	if (out->n_effects > r->begin)
		ucir_warn(&r->w, end, "ops after the last STEP belong to no instruction and are ignored");
	end_here(r);
	if (!r->base.end.has_exit && !r->w.rec->is_cut)
		ucir_warn(&r->w, end + 1, "the trace ends without the program's exit");
	return TS_END;
}

static bool read_group(struct ucir_reader *r, struct ts_steps *out, bool *is_end, struct ts_error *err)
{
	struct ucir_op op;

	for (;;) {
		if (__builtin_expect(!r->left, 0)) {
			*is_end = ucir_is_at_end(r);
			if (*is_end)
				return true;
			if (!ucir_read(&r->w, &op, 0, err) || !ucir_stream_op(r, &op, out, err))
				return false;
			continue;
		}
		if (!ucir_read(&r->w, &op, r->left, err))
			return false;
		if (__builtin_expect(!r->task, 0) && op.kind != UCIR_NOP && !ucir_begin_by_op(r, &op, err))
			return false;
		r->left--;
		if (op.kind == UCIR_STEP)
			return step(r, &op, out, err);
		if (!ucir_group_op(r, &op, out, err))
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
	ucir_take_up(r);
	if (!read_group(r, out, &is_end, err)) {
		end_here(r);
		r->failed = *err;
		return TS_FAIL;
	}
	if (is_end)
		return end_of_trace(r, out);
	if (ucir_may_be_tail(r) && !ucir_read_tail(r, out, err)) {
		out->n_closed = out->steps[--out->n_steps].first;
		r->failed = *err;
		return TS_FAIL;
	}
	return TS_ITEM;
}

static void next_plain(struct ts_reader *base, uint32_t max, struct ts_steps *out)
{
	ucir_plain_steps((struct ucir_reader *)base, max, out);
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

/*
 * A decode point: stream offset; ops left in the frame; pid of the frame; frames and steps passed; offset of
 * the frame; processes that began; last thread; the end; thread of the current task and 1; the tasks.
 */
static bool pass_point(struct ucir_reader *r, struct ts_point *p)
{
	const uint32_t n_threads = r->w.rec->base.n_threads;
	const uint64_t stream_end = r->w.rec->bytes.end, off = ts_point_number(p, ucir_stream_tell(&r->w.s), stream_end);
	uint64_t current;

	TS_POINT(p, r->left, UINT32_MAX);
	TS_POINT(p, r->pid, UINT64_MAX);
	TS_POINT(p, r->w.n_frames, UINT64_MAX);
	TS_POINT(p, r->w.n_steps, UINT64_MAX);
	TS_POINT(p, r->w.frame_off, stream_end);
	TS_POINT(p, r->n_processes, n_threads);
	TS_POINT(p, r->last_thread, n_threads ? n_threads - 1 : 0);
	ts_point_end(p, &r->base.end);
	current = ts_point_number(p, r->task ? r->task->thread + UINT64_C(1) : 0, n_threads);
	if (!ucir_tasks_point(&r->tasks, r->w.rec->n_gprs, p, n_threads, stream_end))
		return false;
	r->task = current ? ucir_tasks_by_thread(&r->tasks, (uint32_t)(current - 1)) : NULL;
	if (current && !r->task)
		return ts_point_fail(p);
	if (!ts_point_close(p))
		return false;
	if (!p->to)
		ucir_stream_seek(&r->w.s, off);
	return true;
}

static bool point(struct ts_reader *base, struct ts_point *p)
{
	struct ucir_reader *r = (struct ucir_reader *)base;

	if (!p->to)
		reset(r);
	if (pass_point(r, p))
		return true;
	r->failed = *p->err;
	return false;
}

static void close_reader(struct ts_reader *base)
{
	struct ucir_reader *r = (struct ucir_reader *)base;

	reset(r);
	ucir_stream_fini(&r->w.s);
}

static const struct ts_reader_ops ops = {
	.size = sizeof(struct ucir_reader), .next = next, .next_plain = next_plain, .point = point, .close = close_reader
};

struct ucir_reader *ucir_reader_open(struct usercorn *rec, struct ts_error *err)
{
	struct ucir_reader *r = ts_reader_new(&ops, err);

	if (!r)
		return NULL;
	r->w.rec = rec;
	ts_error_reset(&r->failed);
	if (ucir_stream_init(&r->w.s, &rec->bytes, err))
		return r;
	ts_reader_close(&r->base);
	return NULL;
}

struct ts_reader *ucir_reader_new(struct usercorn *rec, struct ts_error *err)
{
	struct ucir_reader *r = ucir_reader_open(rec, err);

	return r ? &r->base : NULL;
}
