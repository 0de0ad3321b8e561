/* SPDX-License-Identifier: MIT */
/*
 * Stores of x86 that the tool does not see, or not wholly: the x87's of 10 bytes and of its whole state.  The
 * bytes that the trace does not show become unknown.
 *
 * The instruction is taken from the memory at the start of the trace; its address from the general registers,
 * which the tasks keep for that.
 */
#ifndef LOADERS_USERCORN_X87_H
#define LOADERS_USERCORN_X87_H

#include "group.h"

/* As ucir_x87_step(), when the instruction is not known to be another one. */
void ucir_x87_look(struct ucir_reader *r, uint64_t insn_len, struct ts_steps *out);

/* Is the instruction of @t at @pc known to be one that this has no part in? */
static inline bool ucir_x87_is_other(const struct ucir_reader *r, const struct ucir_task *t, uint64_t pc)
{
	return r->others[pc % UCIR_N_OTHERS] == (pc ^ t->pc_key);
}

/* The group of @t, the current task, of an instruction of @insn_len bytes, is complete: add what it lacks. */
static inline void ucir_x87_step(struct ucir_reader *r, const struct ucir_task *t, uint64_t insn_len,
				 struct ts_steps *out)
{
	if (__builtin_expect(!ucir_x87_is_other(r, t, t->pc), 0))
		ucir_x87_look(r, insn_len, out);
}

#endif
