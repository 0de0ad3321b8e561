/* SPDX-License-Identifier: MIT */
/*
 * The addresses to which the recorded calls of a process lead, and where its threads begin: the beginnings of its
 * functions, whether or not they have symbols.
 */
#ifndef TS_ASK_CALL_TARGETS_H
#define TS_ASK_CALL_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "covered.h"
#include "src/ask/verb.h"

/* All zero: nothing has been collected. */
struct ts_call_targets {
	struct ts_covered_table found; /* each once; ascending when all have been collected */
	uint32_t thread, ordinal;      /* the next call */
	bool is_begun;
};

void ts_call_targets_fini(struct ts_call_targets *t);

/*
 * Collect the targets, of which there are at most @max, in the whole recording.
 *
 * Returns TS_END when all have been collected.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_call_targets_collect(struct ts_call_targets *t, struct ts_ask *ask, uint32_t process, size_t max,
				    struct ts_budget *budget, struct ts_error *err);

/* The greatest target <= @addr, 0 if there is none.  All must have been collected. */
uint64_t ts_call_targets_before(const struct ts_call_targets *t, uint64_t addr);

#endif
