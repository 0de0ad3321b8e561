/* SPDX-License-Identifier: MIT */
/*
 * The entries of functions that no recorded call instruction made: by a jump (a tail call), by a signal, by code that is
 * not recorded.  A cursor over the
 * executions of the functions' first instructions, in the order of the steps that led to them.
 */
#ifndef TS_ASK_ENTRIES_H
#define TS_ASK_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "entry_counts.h"
#include "src/ask/verb.h"
#include "src/base/heap.h"
#include "src/query/call_list.h"

enum ts_entry_kind {
	TS_ENTRY_TAIL,    /* a jump to the function: it ends where the call that it replaces ends */
	TS_ENTRY_HANDLER, /* a signal: the caller is what it interrupted */
	TS_ENTRY_FIRST,   /* the thread's first instruction: what called is not recorded, if anything did */
	TS_ENTRY_UNSEEN,  /* after a gap: who called, and when it ends, is not recorded */
	TS_ENTRY_STUB,    /* a call of a few instructions that only jump there: `call` is that call */
};

/*
 * call.pos: the step that led to it; of the first instruction that position itself.  call.pc is TS_NO_PC where it is that
 * of the step.
 */
struct ts_entry {
	struct ts_call call;
	enum ts_entry_kind kind;
};

struct ts_entries {
	struct ts_ask *ask; /* borrowed */
	uint32_t process, thread; /* thread: TS_NO_THREAD: of all */
	uint64_t from, to;        /* steps that lead to them */
	bool is_reverse, is_of_one;
	uint64_t alias;           /* another address of the one function, by which symbols have its name; 0: none */
	struct ts_entry_counts counts; /* the functions */
	bool is_counted;
	uint64_t n_looked;
	struct ts_heap heap;  /* of each function the next execution */
	struct ts_heap found; /* entries that were found; their order is not known before the executions up to there are */
	/*
	 * owned; forwards, of each thread: it does not run before this position, where its entry has been found if it is
	 * one; 0: not known; TS_NO_POS: it does not run again
	 */
	uint64_t *resumes;
	uint32_t n_resumes;
	bool has_ends; /* entries of threads that wait at the end of the range were found */
};

/*
 * Begin with no functions.  @from, @to: the steps that may lead to an entry.  @is_of_one: one function will be added, of
 * which symbols may have the name at @alias, too (0: they do not); the first instructions of threads are entries then, and
 * calls of stubs that jump to it.  @e stays where it is until ts_entries_fini().
 *
 * Returns false if memory is exhausted; ts_entries_fini() is due all the same.
 */
bool ts_entries_init(struct ts_entries *e, struct ts_ask *ask, uint32_t process, uint32_t thread, uint64_t from,
		     uint64_t to, bool is_reverse, bool is_of_one, uint64_t alias);
void ts_entries_fini(struct ts_entries *e);

/* Add the function that begins at @addr; addresses ascend.  Returns false if memory is exhausted. */
bool ts_entries_add(struct ts_entries *e, uint64_t addr);

/*
 * The next entry, in the direction of the cursor; the calls of the index must be there.
 *
 * Returns TS_GOT_ROW if *entry has it, TS_GOT_END after the last one, TS_GOT_PENDING if the budget is used up,
 * TS_GOT_FAIL if the trace cannot be read or memory is exhausted.
 */
enum ts_got ts_entries_next(struct ts_entries *e, struct ts_entry *entry, struct ts_budget *budget,
			    struct ts_error *err);

/*
 * Does @call, of an entry of a linkage table, lead to the function at @addr?  The calls of the index must be there.
 */
bool ts_entries_is_link(const struct ts_entries *e, const struct ts_call *call, uint64_t addr);

/*
 * Where the function returns in which @thread was at @pos, its first position, and the stack pointer there.  *@ret is 0 if that
 * is not known, or the processor has it in a register.  That of a thread that calls nothing yet is any number.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_entries_first_return(struct ts_query *q, uint32_t thread, uint64_t pos, uint64_t *sp, uint64_t *ret,
			     struct ts_error *err);

#endif
