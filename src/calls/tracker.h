/* SPDX-License-Identifier: MIT */
/*
 * Finds the calls of a recording, from its steps: no symbols, no disassembler.
 *
 * Step k is a call if it leaves the address after its instruction as return address and control goes
 * elsewhere.  Where calls push (x86, m68k) the return address is at the new stack pointer; the call ends when
 * the stack pointer is above it.  Where there is a link register it is there; the call ends at its return
 * address, with the stack pointer not below its value at the beginning.  A call also ends where a call of its
 * stack outside of it does.
 *
 * A thread may have several stacks (stacks.h).  Moving to another one ends no call.
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
 * steps' memory has physical addresses, the stack pointer a virtual one.  @is_before: what the last step of a
 * thread did to registers, before another one ran, shows in a later step.
 *
 * Returns NULL if memory is exhausted.
 */
struct ts_call_tracker *ts_call_tracker_new(struct ts_calls *out, const struct ts_regset *set,
					    bool is_physical, bool is_before);
void ts_call_tracker_free(struct ts_call_tracker *tr);

/* The effects that make position 0, which concern thread 0.  Returns false if memory is exhausted. */
bool ts_call_tracker_start(struct ts_call_tracker *tr, const struct ts_steps *initial);

/*
 * The steps from position @pos on.
 *
 * Returns false if memory is exhausted.
 */
bool ts_call_tracker_take(struct ts_call_tracker *tr, uint64_t pos, const struct ts_steps *steps);

/*
 * The recording has ended: @end_pc is the pc of the thread that ran last.
 *
 * Returns false if memory is exhausted.
 */
bool ts_call_tracker_end(struct ts_call_tracker *tr, uint64_t end_pc);

/*
 * To an index file: the state, so that another tracker can continue.  From there, with its arrays; all that
 * @out has so far is sealed, and the recording has @n_threads threads.
 *
 * ts_call_tracker_load() returns false if memory is exhausted, or the arrays contradict each other or @out.
 */
struct ts_index_file;
struct ts_index_arrays;
void ts_call_tracker_save(const struct ts_call_tracker *tr, struct ts_index_file *f);
bool ts_call_tracker_load(struct ts_call_tracker *tr, struct ts_index_arrays *a, uint32_t n_threads);

#endif
