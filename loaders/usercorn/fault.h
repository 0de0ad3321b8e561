/* SPDX-License-Identifier: MIT */
/*
 * The step that ends its process: by a system call, or because the instruction failed.
 */
#ifndef LOADERS_USERCORN_FAULT_H
#define LOADERS_USERCORN_FAULT_H

#include "group.h"

/*
 * The STEP, of @insn_len bytes, of a task that is exiting: the open step gets the fault, if it is one, and
 * the exit.
 */
void ucir_last_step(struct ucir_reader *r, uint64_t insn_len, struct ts_steps *out);

#endif
