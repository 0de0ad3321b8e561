/* SPDX-License-Identifier: MIT */
/*
 * Finds the calls of a recording from its steps, without symbols and without a disassembler.
 *
 * Step k is a call if it stores the address after its instruction as the return address and transfers control
 * to another address.  On processors whose calls push (x86, m68k) the return address is at the new stack
 * pointer, and the call ends when the stack pointer is above it.  On other processors the return address is
 * in the link register, and the call ends when control is at the return address and the stack pointer is not
 * below its value at the beginning.  The end of a call also ends the calls inside of it on the same stack.
 *
 * A thread may have several stacks (stacks.h).  A move to another stack ends no call.
 */
#ifndef TS_CALL_TRACKER_H
#define TS_CALL_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "src/arch/arch.h"
#include "src/trace/step.h"

struct ts_call_tracker;

/*
 * A tracker that adds calls to @out, from steps with the registers of @set; both are borrowed until
 * ts_call_tracker_free().  With @is_physical the memory accesses of steps have physical addresses, and the
 * stack pointer is virtual.  With @is_before the register writes of the last step of a thread, before another
 * thread runs, appear in a later step.
 *
 * Returns the tracker, which the caller frees with ts_call_tracker_free().
 * Returns NULL if memory is exhausted.
 */
struct ts_call_tracker *ts_call_tracker_new(struct ts_calls *out, const struct ts_regset *set,
					    bool is_physical, bool is_before);
void ts_call_tracker_free(struct ts_call_tracker *tr);

/* Process the effects that define position 0, of thread 0.  Returns false if memory is exhausted. */
bool ts_call_tracker_start(struct ts_call_tracker *tr, const struct ts_steps *initial);

/*
 * Process the steps from position @pos on.
 *
 * Returns false if memory is exhausted.
 */
bool ts_call_tracker_take(struct ts_call_tracker *tr, uint64_t pos, const struct ts_steps *steps);

/*
 * Process the end of the recording: @end_pc is the pc of the thread that ran last.
 *
 * Returns false if memory is exhausted.
 */
bool ts_call_tracker_end(struct ts_call_tracker *tr, uint64_t end_pc);

/*
 * Save the state to an index file, from which another tracker can continue, or load it from the file's
 * arrays.  When it is loaded, all calls of the tracker's output must be sealed.  The recording has @n_threads
 * threads.
 *
 * ts_call_tracker_load() returns false if memory is exhausted, or if the arrays contradict each other or the
 * calls.
 */
struct ts_index_file;
struct ts_index_arrays;
void ts_call_tracker_save(const struct ts_call_tracker *tr, struct ts_index_file *f);
bool ts_call_tracker_load(struct ts_call_tracker *tr, struct ts_index_arrays *a, uint32_t n_threads);

#endif
