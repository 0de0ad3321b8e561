/* SPDX-License-Identifier: MIT */
/*
 * Where the activation of a function that is at one position reaches an address.
 *
 * A debugger stops a function after its prologue, since there its variables are where they belong.  A question
 * has the position of the function's first instruction.  Between the two other threads may run, and signal
 * handlers, which may call the same function: what they do belongs to other activations.
 */
#ifndef TS_ASK_ACTIVATION_H
#define TS_ASK_ACTIVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ask/verb.h"

/* A search in slices; zero at first. */
struct ts_activation_search {
	uint64_t from;  /* positions before it have been searched */
	bool has_begun; /* the thread has executed the instruction of the search's position */
};

/*
 * The first step from @pos on with which the activation in which @thread is at @pos executes @addr: the
 * innermost open call is that of @pos.  The activation is over when this call ends, and when it executes the
 * instruction of @pos again: that is another activation, by a jump (a tail call).
 *
 * @search is kept by the caller while TS_GOT_PENDING is returned.  Calls must be there (ts_ask_need_calls()).
 *
 * Returns TS_GOT_ROW and *at, TS_GOT_END if it never does, TS_GOT_PENDING if the budget is used up, TS_GOT_FAIL
 * if the trace cannot be read.
 */
enum ts_got ts_activation_reaches(const struct ts_ask *ask, uint64_t pos, uint32_t thread, uint64_t addr,
				  struct ts_activation_search *search, uint64_t *at, struct ts_budget *budget,
				  struct ts_error *err);

#endif
