/* SPDX-License-Identifier: MIT */
/*
 * Finds the calls of a recording, from its steps: no symbols, no disassembler.
 *
 * Step k is a call if it stores the address after its instruction as return address and transfers control
 * to another address.  If calls push (x86, m68k), the return address is at the new stack pointer, and the call ends
 * when the stack pointer is above it.  Otherwise the return address is in the link register, and the call ends at its
 * return address, with the stack pointer not below its value at the beginning.  A call also ends with each outer call
 * of its stack.
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
 * A tracker that adds to @out (borrowed), for steps with registers of @set (borrowed).  @is_physical: the
 * steps' memory has physical addresses, the stack pointer is virtual.  @is_before: the register writes of a thread's
 * last step before another thread's appear in a later step.
 *
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
 * Save the state to an index file, so that another tracker can continue, or load it from its arrays.  All calls of
 * @out must be sealed when it is loaded, and the recording has @n_threads threads.
 *
 * ts_call_tracker_load() returns false if memory is exhausted, or the arrays contradict each other or @out.
 */
struct ts_index_file;
struct ts_index_arrays;
void ts_call_tracker_save(const struct ts_call_tracker *tr, struct ts_index_file *f);
bool ts_call_tracker_load(struct ts_call_tracker *tr, struct ts_index_arrays *a, uint32_t n_threads);

#endif
