/* SPDX-License-Identifier: MIT */
/*
 * The entries of functions that no call instruction made: by a jump (a tail call), by a signal, through an entry of a
 * linkage table.  A cursor over the executions of the functions' first instructions.
 */
#ifndef TS_ASK_ENTRIES_H
#define TS_ASK_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/heap.h"
#include "src/query/call_list.h"
#include "src/ask/verb.h"

enum ts_entry_kind {
	TS_ENTRY_TAIL,    /* a jump to the function: it ends where the call that it replaces ends */
	TS_ENTRY_HANDLER, /* a signal: the caller is what it interrupted */
	TS_ENTRY_LINKED,  /* the call is that of the linkage table's entry, which jumped to the function */
	TS_ENTRY_FIRST,   /* the thread's first instruction: nothing called */
};

/* call.pos: the step that led to it; of the first instruction that position itself. */
struct ts_entry {
	struct ts_call call;
	enum ts_entry_kind kind;
};

struct ts_entries {
	struct ts_ask *ask; /* borrowed */
	struct ts_heap heap; /* of each function the next execution */
	uint32_t process, thread; /* thread: TS_NO_THREAD: of all */
	uint64_t from, to;  /* steps that lead to them */
	bool is_reverse, has_linked;
};

/*
 * Begin with no functions.  @from, @to: the steps that may lead to an entry.  @has_linked: calls through linkage tables
 * and the first instructions of threads are told: the caller does not list calls of all functions.  @e stays where it is until ts_entries_fini().
 */
void ts_entries_init(struct ts_entries *e, struct ts_ask *ask, uint32_t process, uint32_t thread, uint64_t from,
		     uint64_t to, bool is_reverse, bool has_linked);
void ts_entries_fini(struct ts_entries *e);

/* Add the function that begins at @addr.  Returns false if memory is exhausted. */
bool ts_entries_add(struct ts_entries *e, uint64_t addr);

/*
 * The next entry, in the direction of the cursor; the calls of the index must be there.
 *
 * Returns TS_GOT_ROW if *entry has it, TS_GOT_END after the last one, TS_GOT_PENDING if the budget is used up,
 * TS_GOT_FAIL if the trace cannot be read or memory is exhausted.
 */
enum ts_got ts_entries_next(struct ts_entries *e, struct ts_entry *entry, struct ts_budget *budget,
			    struct ts_error *err);

#endif
