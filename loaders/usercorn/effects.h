/* SPDX-License-Identifier: MIT */
/*
 * From ops to effects: the change of the state by each op of a Usercorn trace, for all callers.
 *
 * A walk reads ops and knows its place.  The caller (reader.c) decides to which step an effect belongs.
 */
#ifndef LOADERS_USERCORN_EFFECTS_H
#define LOADERS_USERCORN_EFFECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ops.h"
#include "tasks.h"
#include "trace.h"

/* The state of a walk over the stream. */
struct ucir_walk {
	struct usercorn *rec; /* borrowed */
	struct ucir_stream s;
	uint64_t n_frames;  /* frame headers passed: the number of the current one, from 1 */
	uint64_t frame_off; /* stream offset of its header */
	uint64_t n_steps;   /* STEPs passed */
	bool is_quiet;      /* no warnings: another walk reads the same ops */
	bool *seen;         /* borrowed, NULL: register numbers are not noted */
};

/*
 * Fill @err with a sentence about the op at stream offset @off: file offset, frame and stream offset are
 * added.  Returns false.
 */
bool ucir_bad(const struct ucir_walk *w, uint64_t off, enum ts_code code, struct ts_error *err,
	      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Warn about the op at stream offset @off, once however often it is read. */
#define ucir_warn(w, off, ...)                                              \
	do {                                                                \
		if (!(w)->is_quiet)                                         \
			ts_warn_at(&(w)->rec->warner, (off), __VA_ARGS__);  \
	} while (0)

/*
 * Extend @err, the reason for which @op could not be read, to a sentence about the trace.  @left_ops is the number of ops
 * left in the current frame.  Returns false.
 */
bool ucir_explain(const struct ucir_walk *w, const struct ucir_op *op, uint32_t left_ops,
		  struct ts_error *err);

/*
 * Read the next op.  Returns false if the trace ends inside it (TS_ETRUNC; the sentence has the length of the valid part), or
 * if the op is malformed.
 */
static inline bool ucir_read(struct ucir_walk *w, struct ucir_op *op, uint32_t left_ops, struct ts_error *err)
{
	if (__builtin_expect(ucir_op_read(&w->s, w->rec->version, op, err), 1))
		return true;
	return ucir_explain(w, op, left_ops, err);
}

/*
 * Append the effects of @op (NOP, registers, memory, regions, FORGET, CHANGED) of the process @t to @to, unless @to is NULL.
 *
 * Returns false if the op contradicts itself or is not allowed here (TS_ECORRUPT).
 */
bool ucir_apply(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op, struct ts_steps *to,
		struct ts_error *err);

/*
 * As ucir_apply() for a SYSCALL and its ops, which are read.  *has_exit is set to whether one of them is EXIT: the process
 * ends.  In version 2 EXIT means only that the call did not return.
 */
bool ucir_apply_syscall(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op,
			struct ts_steps *to, bool *has_exit, struct ts_error *err);

/*
 * As ucir_apply() for a SIGNAL and its ops, which are read.  Its effects are hidden, because no instruction made them.  @flags
 * are the op->flags that are valid here.
 */
bool ucir_apply_signal(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op, unsigned flags,
		       struct ts_steps *to, struct ts_error *err);

/*
 * As ucir_apply() for a GAP and its ops, which are read: the effects of unrecorded instructions between this step and the
 * next one.
 */
bool ucir_apply_gap(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op, struct ts_steps *to,
		    struct ts_error *err);

/* As ucir_apply() for a KEYFRAME and the ops in it, which are read: the whole state of @t. */
bool ucir_apply_keyframe(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op,
			 struct ts_steps *to, struct ts_error *err);

/* Append the end of the process, with its status if there is one. */
void ucir_add_exit(struct ts_steps *to, const uint64_t *status);

#endif
