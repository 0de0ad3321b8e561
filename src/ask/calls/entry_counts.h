/* SPDX-License-Identifier: MIT */
/*
 * Find the functions that are entered by calls only: the number of calls equals the number of executions of
 * their first instruction.  No other entries of them need to be searched for.
 */
#ifndef TS_ASK_ENTRY_COUNTS_H
#define TS_ASK_ENTRY_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/ask/verb.h"
#include "src/query/scan.h"

/* A function, and the number of executions of its first instruction minus the calls that led to it. */
struct ts_entry_count {
	uint64_t addr;
	uint64_t n;
};

struct ts_entry_counts {
	struct ts_ask *ask; /* borrowed */
	uint32_t process;
	struct ts_entry_count *items; /* owned; by address, each once */
	size_t n, cap;
	struct ts_executed_at executed;
	bool has_executed; /* executions are counted */
	uint32_t thread, ordinal; /* the next call to count */
};

void ts_entry_counts_init(struct ts_entry_counts *c, struct ts_ask *ask, uint32_t process);
void ts_entry_counts_fini(struct ts_entry_counts *c);

/* Add the function that begins at @addr; addresses ascend.  Returns false if memory is exhausted. */
bool ts_entry_counts_add(struct ts_entry_counts *c, uint64_t addr);

/* Does a function that was added begin at @addr? */
bool ts_entry_counts_has(const struct ts_entry_counts *c, uint64_t addr);

/*
 * Continue to count, in the whole recording.  All functions must have been added, and the index must have its
 * calls.
 *
 * Returns true when the counts are complete, false if the budget is used up.
 */
bool ts_entry_counts_run(struct ts_entry_counts *c, struct ts_budget *budget);

/* Was the function at @addr, which was added, also entered without a call?  The counts must be complete. */
bool ts_entry_counts_has_others(const struct ts_entry_counts *c, uint64_t addr);

#endif
