/* SPDX-License-Identifier: MIT */
/*
 * Where the stack of a new program lies in two of its runs.
 *
 * Another variable in the environment, a longer argument or a stack at a random address move all that is below.  Frames move by
 * as much as the stack pointer; arguments, variables of the same name and entries of the auxiliary vector belong together, each
 * with its text.
 */
#ifndef TS_ASK_STACK_MOVES_H
#define TS_ASK_STACK_MOVES_H

#include <stdbool.h>

#include "rebase.h"
#include "src/base/error.h"
#include "src/query/query.h"

/* The initial stack of A: in it only the ranges that were added lie in B, too. */
struct ts_stack_moves {
	uint64_t first, last; /* addresses, both inclusive; first > last: nothing moved */
	uint64_t lowest;      /* its frames lie from here on, below first */
	size_t n;             /* the number of ranges that were added; they are the first of the rebase */
};

/*
 * Add to @r, which is empty, where the stack of @b lies in @a, if it moved and both recordings have all of the initial stack.
 *
 * Returns false if a trace cannot be read or memory is exhausted (TS_ENOMEM).
 */
bool ts_stack_moves_add(struct ts_stack_moves *m, struct ts_rebase *r, struct ts_query *a, struct ts_query *b, struct ts_error *err);

#endif
