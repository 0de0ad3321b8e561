/* SPDX-License-Identifier: MIT */
/*
 * Questions about calls: callers, callees, and the calls that are open at a position.
 *
 * Each thread has a list of calls, by position; between them are notes of where it moved to another stack (of
 * kind TS_CALL_SWITCH).  An index of an older version has no calls: ts_query_need_calls() builds them.  A
 * call that ends after the snapshot is open.
 */
#ifndef TS_CALL_LIST_H
#define TS_CALL_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "src/query/query.h"
#include "src/calls/calls.h"

/*
 * Must be called before the other functions of this file.  If the index has no calls, they are built by a
 * pass over the trace, about @n_steps steps in each call.  All query objects of the timeline share the
 * result.
 *
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 * Returns TS_FAIL if the recording, whose index is of an older version, has not been read to its end
 * (TS_EUNSUPPORTED).
 */
enum ts_next ts_query_need_calls(struct ts_query *q, uint64_t n_steps, struct ts_error *err);

/* How many calls and switches a thread's list has in the snapshot. */
uint32_t ts_query_n_calls(struct ts_query *q, uint32_t thread);

/*
 * Copy the calls and switches of the block that contains @ordinal, in order, to @calls (TS_CALL_BLOCK
 * entries).  @ordinal is below ts_query_n_calls().  Calls after the snapshot become switches.
 *
 * Returns their number.
 */
uint32_t ts_query_call_block(const struct ts_query *q, uint32_t thread, uint32_t ordinal,
			     struct ts_call *calls);

/* The number of calls and switches by steps before position @pos.  @pos may be any number. */
uint32_t ts_query_n_calls_before(struct ts_query *q, uint32_t thread, uint64_t pos);

/*
 * The nearest position after (before) @pos at which a call of any thread returned.
 *
 * Return TS_NO_POS if no call returned there.
 */
uint64_t ts_query_next_return(const struct ts_query *q, uint64_t pos);
uint64_t ts_query_prev_return(const struct ts_query *q, uint64_t pos);

/*
 * Set *call to the innermost call that is open at @pos on the stack that @thread uses there; to the call around *call.
 * In its delay slot a call is not open yet.
 *
 * Return false if no call is open; if no call is around it.
 */
bool ts_query_innermost_call(struct ts_query *q, uint32_t thread, uint64_t pos, struct ts_call *call);
bool ts_query_outer_call(struct ts_query *q, struct ts_call *call);

#endif
