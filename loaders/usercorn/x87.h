/* SPDX-License-Identifier: MIT */
/*
 * Stores of x86 that the recorder does not show, or not wholly.
 */
#ifndef LOADERS_USERCORN_X87_H
#define LOADERS_USERCORN_X87_H

#include "group.h"

/* The slow path of ucir_x87_step(): the instruction has not been examined. */
void ucir_x87_look(struct ucir_reader *r, uint64_t insn_len, struct ts_steps *out);

/* Is the instruction of @t at @pc known to need no change by ucir_x87_step()? */
static inline bool ucir_x87_is_other(const struct ucir_reader *r, const struct ucir_task *t, uint64_t pc)
{
	return r->others[pc % UCIR_N_OTHERS] == (pc ^ t->pc_key);
}

/*
 * Append the x87 effects that the recorder omits.  The group of @t, the current task, is complete; its
 * instruction has @insn_len bytes.
 */
static inline void ucir_x87_step(struct ucir_reader *r, const struct ucir_task *t, uint64_t insn_len,
				 struct ts_steps *out)
{
	if (__builtin_expect(!ucir_x87_is_other(r, t, t->pc), 0))
		ucir_x87_look(r, insn_len, out);
}

#endif
