/* SPDX-License-Identifier: MIT */
/*
 * Calls that the recorder stepped over: one step, and then a gap.  The callee's effects are not recorded.
 */
#ifndef TS_ASK_STEPPED_H
#define TS_ASK_STEPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ask/verb.h"
#include "src/query/search/call_list.h"

/* A cursor over the gaps of [from, to).  Members are private. */
struct ts_stepped {
	struct ts_query *q;       /* borrowed */
	uint32_t thread;          /* TS_NO_THREAD: all threads */
	uint64_t next, end;       /* ordinals of events; the remaining ones */
	bool is_reverse;
};

void ts_stepped_init(struct ts_stepped *s, struct ts_query *q, uint32_t thread, uint64_t from, uint64_t to, bool is_reverse);

/*
 * The next call, in the direction of the cursor.  Its kind is TS_CALL_RETURN if the thread continues right after the call; its end is
 * also known if the thread goes on a few instructions later.  Its target is TS_NO_PC if the operand does not determine it.
 * The index must have its calls.
 *
 * Returns TS_ITEM, TS_END after the last one, TS_MORE if the budget is used up, TS_FAIL if the trace cannot be read.
 */
enum ts_next ts_stepped_next(struct ts_stepped *s, struct ts_call *call, struct ts_budget *budget, struct ts_error *err);

#endif
