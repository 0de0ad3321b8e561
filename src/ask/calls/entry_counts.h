/* SPDX-License-Identifier: MIT */
/*
 * Which functions are entered by calls alone: as many calls lead to them as their first instruction was executed.
 * Of those no other entries need to be looked for.
 */
#ifndef TS_ASK_ENTRY_COUNTS_H
#define TS_ASK_ENTRY_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/ask/verb.h"
#include "src/query/scan.h"

/* A function, and how often its first instruction was executed, less the calls that led to it. */
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
 * Go on counting in the whole recording.  The calls of the index must be there, and all functions have been added.
 *
 * Returns true when all is counted, false if the budget is used up.
 */
bool ts_entry_counts_run(struct ts_entry_counts *c, struct ts_budget *budget);

/* All is counted: was the function at @addr, which was added, entered otherwise than by a call? */
bool ts_entry_counts_has_others(const struct ts_entry_counts *c, uint64_t addr);

#endif
