/* SPDX-License-Identifier: MIT */
/*
 * Entries of functions without a recorded call instruction: by a jump (a tail call), by a signal, from code
 * that is not recorded.
 *
 * A cursor over the executions of the functions' first instructions, in order of the steps that led to them.
 */
#ifndef TS_ASK_ENTRIES_H
#define TS_ASK_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ask/verb.h"
#include "src/base/heap.h"
#include "src/query/call_list.h"
#include "src/query/scan.h"

enum ts_entry_kind {
	TS_ENTRY_TAIL,    /* a jump to the function: it ends with the call that it replaces */
	TS_ENTRY_HANDLER, /* a signal: the caller is the interrupted code */
	TS_ENTRY_FIRST,   /* the thread's first instruction: the caller, if any, is not recorded */
	TS_ENTRY_UNSEEN,  /* after a gap: neither the caller nor the end is recorded */
	TS_ENTRY_STUB,    /* a call of a stub that only jumps to the function: `call` is that call */
};

/*
 * call.pos: the step before the entry; for a thread's first instruction the position of that instruction.
 * call.pc: TS_NO_PC if it is the pc of that step.
 */
struct ts_entry {
	struct ts_call call;
	enum ts_entry_kind kind;
};

/* A function, and the number of executions of its first instruction minus the calls that led to it. */
struct ts_entry_count {
	uint64_t addr;
	uint64_t n;
};

struct ts_entry_counts {
	struct ts_entry_count *items; /* owned; by address, each once */
	size_t n, cap;
	struct ts_executed_at executed;
	bool has_executed; /* executions are counted */
	uint32_t thread, ordinal; /* the next call to count */
};

struct ts_entries {
	struct ts_ask *ask; /* borrowed */
	uint32_t process, thread; /* thread: TS_NO_THREAD: all threads */
	uint64_t from, to;        /* the range of the steps that lead to entries */
	bool is_reverse, is_of_one;
	uint64_t alias;           /* another address at which symbols have the one function's name; 0: none */
	struct ts_entry_counts counts; /* the functions */
	bool is_counted;
	uint64_t n_looked;
	struct ts_heap heap;  /* the next execution of each function */
	struct ts_heap found; /* entries found; returned when all executions before them have been examined */
	/*
	 * owned; forwards, by thread: the position at which it runs next (an entry there has been found
	 * already); 0: not known; TS_NO_POS: it does not run again
	 */
	uint64_t *resumes;
	uint32_t n_resumes;
	bool has_ends; /* entries of threads that wait at the end of the range have been found */
};

/*
 * Begin with no functions.  [@from, @to): the steps that may lead to an entry.  @is_of_one: one function will
 * be added; the first instructions of threads and calls of stubs that jump to the function are entries, too.
 * @alias is another address that has the function's name in the symbols, 0 if no other has it.  @e must not move until
 * ts_entries_fini().
 *
 * Returns false if memory is exhausted.  Call ts_entries_fini() in both cases.
 */
bool ts_entries_init(struct ts_entries *e, struct ts_ask *ask, uint32_t process, uint32_t thread, uint64_t from,
		     uint64_t to, bool is_reverse, bool is_of_one, uint64_t alias);
void ts_entries_fini(struct ts_entries *e);

/* Add the function that begins at @addr; addresses ascend.  Returns false if memory is exhausted. */
bool ts_entries_add(struct ts_entries *e, uint64_t addr);

/*
 * The next entry, in the direction of the cursor.  The index must have its calls.
 *
 * Returns TS_ITEM if *entry has it.
 * Returns TS_END after the last one.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_entries_next(struct ts_entries *e, struct ts_entry *entry, struct ts_budget *budget,
			     struct ts_error *err);

/*
 * Does @call, of a linkage table entry, lead to the function at @addr?  The index must have its calls.
 */
bool ts_entries_is_link(const struct ts_entries *e, const struct ts_call *call, uint64_t addr);

/*
 * Set *ret to the return address of the function that @thread is in at @pos, its first position, and *sp to
 * the stack pointer there.  *ret is 0 if the address is not known, or if the processor keeps it in a
 * register.  It is the word on top of the stack: an arbitrary number if the function has pushed anything.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_entries_first_return(struct ts_query *q, uint32_t thread, uint64_t pos, uint64_t *sp, uint64_t *ret,
			     struct ts_error *err);

/*
 * Copy the name of the function to which the entry @name of a linkage table leads to @to.  Returns false if it is no such
 * entry, or the name has @size bytes or more.
 */
bool ts_entries_linked_name(const char *name, char *to, size_t size);

#endif
