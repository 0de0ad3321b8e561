/* SPDX-License-Identifier: MIT */
/*
 * Converts the ops of a Usercorn trace to effects.
 *
 * A walk reads ops in order.  The caller (reader.c) decides to which step an effect belongs.
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
	uint64_t n_frames;  /* the number of the current frame, counted from 1 */
	uint64_t frame_off; /* stream offset of its header */
	uint64_t n_steps;   /* STEPs read so far */
	bool is_quiet;      /* suppress warnings: another walk reads the same ops */
	bool *seen;         /* borrowed; set to true for each register number; may be NULL */
};

/*
 * Fill @err with @code and a sentence about the op at stream offset @off.  The file offset, the frame and the
 * stream offset are added.
 *
 * Returns false, with err->code set to @code (TS_ECORRUPT, ...).
 */
bool ucir_bad(const struct ucir_walk *w, uint64_t off, enum ts_code code, struct ts_error *err,
	      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Warn about the op at stream offset @off, once even if the op is read several times. */
#define ucir_warn(w, off, ...)                                              \
	do {                                                                \
		if (!(w)->is_quiet)                                         \
			ts_warn_at(&(w)->rec->warner, (off), __VA_ARGS__);  \
	} while (0)

/*
 * Extend @err, the reason for which @op could not be read, to a sentence about the trace.  @left_ops is the number of ops
 * left in the current frame.
 *
 * Returns false, with the code that @err had (TS_ETRUNC, TS_ECORRUPT, TS_EIO, TS_ENOMEM).
 */
bool ucir_explain(const struct ucir_walk *w, const struct ucir_op *op, uint32_t left_ops,
		  struct ts_error *err);

/*
 * Read the next op.
 *
 * Returns false if the trace ends inside the op (TS_ETRUNC; the sentence has the length of the valid part).
 * Returns false if the op is malformed (TS_ECORRUPT).
 * Returns false if the trace cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
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
 *
 * Returns false if the op or one of its ops is malformed or not allowed here (TS_ECORRUPT).
 * Returns false if its ops cannot be read, as ucir_read().
 */
bool ucir_apply_syscall(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op,
			struct ts_steps *to, bool *has_exit, struct ts_error *err);

/*
 * As ucir_apply() for a SIGNAL and its ops, which are read.  Its effects are hidden, because no instruction made them.  @flags
 * are the op->flags that are valid here.
 *
 * Returns false if the op or one of its ops is malformed or not allowed here (TS_ECORRUPT).
 * Returns false if its ops cannot be read, as ucir_read().
 */
bool ucir_apply_signal(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op, unsigned flags,
		       struct ts_steps *to, struct ts_error *err);

/*
 * As ucir_apply() for a GAP and its ops, which are read: the effects of unrecorded instructions between this step and the
 * next one.
 *
 * Returns false if the op or one of its ops is malformed or not allowed here (TS_ECORRUPT).
 * Returns false if its ops cannot be read, as ucir_read().
 */
bool ucir_apply_gap(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op, struct ts_steps *to,
		    struct ts_error *err);

/*
 * As ucir_apply() for a KEYFRAME and the ops in it, which are read: the whole state of @t.
 *
 * Returns false if the op or one of its ops is malformed or not allowed here (TS_ECORRUPT).
 * Returns false if its ops cannot be read, as ucir_read().
 */
bool ucir_apply_keyframe(struct ucir_walk *w, struct ucir_task *t, const struct ucir_op *op,
			 struct ts_steps *to, struct ts_error *err);

/* Append the end of the process with *status as its exit status; NULL: unknown. */
void ucir_add_exit(struct ts_steps *to, const uint64_t *status);

#endif
