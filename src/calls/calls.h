/* SPDX-License-Identifier: MIT */
/*
 * The calls of a recording: caller, callee, beginning and end.
 *
 * Each thread has a list of calls by position.  A list also has the moves of the thread to other stacks, so
 * that the open calls at any position are found by a binary search and a walk from the innermost one
 * outwards.  While a segment is read its calls are plain structs; after sealing they are blocks of up to
 * TS_CALL_BLOCK calls (call_block.h), one to three bytes each.  The end of a call that ends after its segment was
 * sealed is stored in the segment in which it ends.
 */
#ifndef TS_CALLS_H
#define TS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"

struct ts_index_file;
struct ts_index_arrays;

struct ts_calls;

/*
 * Returns an empty object, which the caller frees with ts_calls_free().
 * Returns NULL if memory is exhausted.
 */
struct ts_calls *ts_calls_new(void);
void ts_calls_free(struct ts_calls *c);

/*
 * Returns the approximate memory of the calls in bytes, without calls in a file; 0 for NULL.  Any thread may
 * call this.
 */
uint64_t ts_calls_mem(const struct ts_calls *c);

/*
 * Add a call or switch to the list of call->thread.  Positions of a thread must not descend.  A call is open
 * until ts_calls_end(): call->ordinal and call->end are ignored, and call->kind matters only if it is
 * TS_CALL_SWITCH.
 *
 * Returns its ordinal.
 * Returns TS_NO_CALL if memory is exhausted, or the thread has 2^32 - 1 calls.
 */
uint32_t ts_calls_add(struct ts_calls *c, const struct ts_call *call);

/* End an open call at position @end.  Returns false if memory is exhausted. */
bool ts_calls_end(struct ts_calls *c, uint32_t thread, uint32_t ordinal, uint64_t end,
		  enum ts_call_kind kind);

/*
 * Seal the calls that were added into a segment, which makes them visible to questions.
 *
 * Returns false if memory is exhausted.
 */
bool ts_calls_seal(struct ts_calls *c);

/*
 * Make the calls of the first segment that were added so far visible to questions.  Ends that are added later may
 * become visible, too.  Such an end is after every position that was visible before.
 *
 * Returns false if memory is exhausted.
 */
bool ts_calls_show(struct ts_calls *c);

/*
 * Save the segment that was sealed last to an index file, or load a segment from the file's arrays.  With
 * @in_place the loaded segment replaces the one that was sealed last; its bytes are then mapped from the
 * file.
 *
 * ts_calls_load() returns false if memory is exhausted, or if the arrays contradict each other.
 */
void ts_calls_save(struct ts_calls *c, struct ts_index_file *f);
bool ts_calls_load(struct ts_calls *c, struct ts_index_arrays *a, bool in_place, uint32_t n_threads);

/*
 * A cache of one unpacked block of one struct ts_calls, because the next question often needs the same block.
 * All zero: empty.
 */
struct ts_call_window {
	uint32_t thread, n;
	uint32_t version; /* of the list */
	struct ts_call calls[TS_CALL_BLOCK];
};

/*
 * Queries.  They see calls that were sealed or shown, change only the window, and cannot fail.
 */

/* The number of threads with lists, and the length of a thread's list. */
uint32_t ts_calls_n_threads(const struct ts_calls *c);
uint32_t ts_calls_n(const struct ts_calls *c, uint32_t thread);

/* Set *call to a call or switch.  @ordinal must be below ts_calls_n(). */
void ts_calls_get(const struct ts_calls *c, struct ts_call_window *w, uint32_t thread, uint32_t ordinal,
		  struct ts_call *call);

/*
 * Copy the calls and switches of the block that contains @ordinal, which is below ts_calls_n(): up to TS_CALL_BLOCK, in
 * order.
 *
 * Returns their number.
 */
uint32_t ts_calls_block(const struct ts_calls *c, uint32_t thread, uint32_t ordinal, struct ts_call *calls);

/*
 * The last call or switch of a thread by a step before position @pos.
 *
 * Returns its ordinal.
 * Returns TS_NO_CALL if the thread has no earlier one.
 */
uint32_t ts_calls_before(const struct ts_calls *c, struct ts_call_window *w, uint32_t thread, uint64_t pos);

/*
 * The nearest position after (before) @pos at which a call of the thread returned; positions after @limit need not be
 * found.
 *
 * Return TS_NO_END if no call returned there.
 */
uint64_t ts_calls_next_return(const struct ts_calls *c, uint32_t thread, uint64_t pos, uint64_t limit);
uint64_t ts_calls_prev_return(const struct ts_calls *c, uint32_t thread, uint64_t pos);

/*
 * Set *call to the innermost call that is open at position @pos on the thread's current stack.
 *
 * Returns false if no call is open.
 */
bool ts_calls_innermost(const struct ts_calls *c, struct ts_call_window *w, uint32_t thread, uint64_t pos,
			struct ts_call *call);

/* Replace *call by the call that contains it on its stack.  Returns false if no call contains it. */
bool ts_calls_outer(const struct ts_calls *c, struct ts_call_window *w, struct ts_call *call);

/* The size of the sealed part in an index file, in bytes. */
uint64_t ts_calls_saved_len(const struct ts_calls *c);

#endif
