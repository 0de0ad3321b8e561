/* SPDX-License-Identifier: MIT */
/* How much a search may do at a time. */
#ifndef TS_SEARCH_BUDGET_H
#define TS_SEARCH_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/next.h"

/*
 * The work that a search may still do before it returns: about one for each decoded chunk, or 10 us of other
 * work.
 */
struct ts_budget {
	uint32_t left;
};

/* Decrement the budget.  Returns false if it is used up: the caller then returns TS_MORE. */
static inline bool ts_budget_take(struct ts_budget *b)
{
	return b->left && b->left--;
}

#endif
