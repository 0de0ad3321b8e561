/* SPDX-License-Identifier: MIT */
/*
 * The tail of a step: what stands after its STEP and belongs to it.  That is SYSCALLs that do not end the
 * process, the state of processes and threads that begin there, and in version 2 signals, the ends of threads
 * and processes, and the JMP that says where the thread goes on.
 *
 * In version 2 the tail may be another thread's: its system call returned after a step of this one.
 */
#ifndef LOADERS_USERCORN_AFTER_STEP_H
#define LOADERS_USERCORN_AFTER_STEP_H

#include "group.h"

/* Can the next op belong to the step before?  A look at one byte spares most of the looking ahead. */
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
 * A step was closed: what follows and belongs to it becomes its effect.  An op that does not, or that is bad,
 * is left for next().
 *
 * Returns false if the trace cannot be read (TS_EIO) or memory is exhausted (TS_ENOMEM): the step may lack
 * some of its tail.
 */
bool ucir_read_tail(struct ucir_reader *r, struct ts_steps *out, struct ts_error *err);

/*
 * An END that no step can have: before the first one, or inside an instruction.
 *
 * Returns false if it is of an unknown kind (TS_ECORRUPT), or if memory is exhausted (TS_ENOMEM).
 */
bool ucir_end_early(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
		    struct ts_error *err);

#endif
