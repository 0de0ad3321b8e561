/* SPDX-License-Identifier: MIT */
/* How searches report what they have come to, and how much they may do at a time. */
#ifndef TS_SEARCH_BUDGET_H
#define TS_SEARCH_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum ts_got {
	TS_GOT_ROW,
	TS_GOT_END,     /* there are no more */
	TS_GOT_PENDING, /* the budget is used up; call again */
	TS_GOT_FAIL,    /* the trace cannot be read, or memory is exhausted; @err is set */
};

/*
 * The work that a search may still do before it returns: about one for each decoded chunk, or 10 us of other
 * work.
 */
struct ts_budget {
	uint32_t left;
};

/* Decrement the budget.  Returns false if it is used up: the caller then returns TS_GOT_PENDING. */
static inline bool ts_budget_take(struct ts_budget *b)
{
	return b->left && b->left--;
}

#endif
