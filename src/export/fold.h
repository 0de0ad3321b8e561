/* SPDX-License-Identifier: MIT */
/*
 * A table of different stacks, as a tree: a stack is a function and the stack that it was called from.
 */
#ifndef TS_FOLD_H
#define TS_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_table.h"

#define TS_NO_FOLD UINT32_MAX

struct ts_fold {
	uint32_t parent;  /* TS_NO_FOLD: a thread's own */
	uint32_t depth;   /* of calls: 0 is a thread's own */
	uint64_t key;     /* the address of the function, or the thread */
	uint64_t n_steps; /* of the innermost function itself */
};

struct ts_folds {
	struct ts_fold *items; /* owned */
	size_t n, cap;
	struct ts_hash_table by_stack;
};

void ts_folds_fini(struct ts_folds *folds);

/*
 * The ordinal of the stack of @key on @parent; one that is not there yet is added with no steps.
 *
 * Returns TS_NO_FOLD if memory is exhausted, or if there are 2^32 - 1 stacks already.
 */
uint32_t ts_folds_get(struct ts_folds *folds, uint32_t parent, uint64_t key);

#endif
