/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include "group.h"
#include "note.h"

static void note(struct ucir_start *start, uint8_t kind)
{
	start->has_jmp |= kind == UCIR_JMP;
	start->has_syscall |= kind == UCIR_SYSCALL;
}

/* Process an op that is not a STEP: the state of a keyframe is appended, other ops are only scanned. */
static bool start_op(struct ucir_reader *r, const struct ucir_op *op, struct ucir_start *start,
		     struct ts_error *err)
{
	struct ts_steps nothing;
	bool has_exit;

	ts_steps_init(&nothing);
	if (!r->left && op->kind == UCIR_KEYFRAME) {
		start->has_keyframe = true;
		return ucir_keyframe(r, op, start->initial, UCIR_AT_START, err);
	}
	if (op->kind == UCIR_NOTE && start->initial && !ucir_note_fact(r->w.rec, op, err))
		return false;
	if (!r->left)
		return ucir_stream_op(r, op, &nothing, err);
	if (!r->task && op->kind != UCIR_NOP && !ucir_begin_by_op(r, op, err))
		return false;
	r->left--;
	note(start, op->kind);
	if (op->kind == UCIR_SYSCALL)
		return ucir_apply_syscall(&r->w, r->task, op, NULL, &has_exit, err);
	if (op->kind == UCIR_SIGNAL)
		return ucir_apply_signal(&r->w, r->task, op, 0, NULL, err);
	if (op->kind == UCIR_GAP)
		return ucir_apply_gap(&r->w, r->task, op, NULL, err);
	return op->kind == UCIR_JMP || op->kind == UCIR_EXIT || ucir_apply(&r->w, r->task, op, NULL, err);
}

static enum ts_next read_start(struct ucir_reader *r, struct ucir_start *start, struct ts_error *err)
{
	struct ucir_op op;

	while (!ucir_is_at_end(r)) {
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
	struct ucir_reader *r = ucir_reader_open(rec, err);
	enum ts_next result;

	if (!r)
		return TS_FAIL;
	r->w.seen = start->seen;
	r->w.is_quiet = !start->initial;
	result = read_start(r, start, err);
	start->n_frames = r->w.n_frames;
	ts_reader_close(&r->base);
	return result;
}
