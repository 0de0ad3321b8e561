/* SPDX-License-Identifier: MIT */
/*
 * Find the position at which one activation of a function reaches an address.
 *
 * A debugger stops a function after its prologue, because its variables are in their places only there.  A question
 * has the position of the function's first instruction.  Other threads and signal handlers may run between the two,
 * and may call the same function: their steps belong to other activations.
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
 * Find the first step at or after @pos at which @thread executes @addr in the activation that it executes at @pos:
 * the innermost open call is the same as at @pos.  The activation ends with this call, or when the call executes the
 * instruction of @pos again, which begins another activation by a jump (a tail call).
 *
 * The caller keeps @search while TS_GOT_PENDING is returned.  ts_ask_need_calls() must have succeeded before.
 *
 * Returns TS_GOT_ROW with *at set.  Returns TS_GOT_END if the activation does not execute @addr, TS_GOT_PENDING if the
 * budget is used up, TS_GOT_FAIL if the trace cannot be read.
 */
enum ts_got ts_activation_reaches(const struct ts_ask *ask, uint64_t pos, uint32_t thread, uint64_t addr,
				  struct ts_activation_search *search, uint64_t *at, struct ts_budget *budget,
				  struct ts_error *err);

#endif
