/* SPDX-License-Identifier: MIT */
/*
 * Map the stack of a new program between two of its runs.
 *
 * Another environment variable, a longer argument or a random stack address moves everything below.  Frames
 * move by as much as the stack pointer.  Arguments, variables of the same name and entries of the auxiliary
 * vector correspond, each with its text.
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
	uint64_t lowest;      /* the frames are in [lowest, first) */
	size_t n;             /* the number of ranges that were added; they are the first of the rebase */
};

/*
 * Add the ranges of the stack of @b that correspond to the stack of @a to @r, which is empty.  Nothing is
 * added if the stack did not move, or if a recording does not have all of the initial stack.
 *
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_stack_moves_add(struct ts_stack_moves *m, struct ts_rebase *r, struct ts_query *a, struct ts_query *b, struct ts_error *err);

#endif
