/* SPDX-License-Identifier: MIT */
/*
 * The range of positions in which the frame of a function exists.
 *
 * One call may execute several functions: a function that is about to return jumps to another one (a tail call, a linkage
 * table), whose frame replaces its own.
 */
#ifndef TS_FRAME_EXTENT_H
#define TS_FRAME_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ask/verb.h"
#include "src/query/call_list.h"
#include "src/object/variables.h"

struct ts_frame_extent {
	uint64_t begin, end;     /* positions; the last frame of a call ends with the call */
	bool ends_by_jump;
	bool is_unsure;          /* both ends: the function's code is unknown, or its executions are too many to be searched */
};

/*
 * The frame, at position @at, of the function of the variable @v.  @call is the innermost open call at @at.
 * ts_ask_need_calls() must have succeeded before.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_frame_extent(struct ts_ask *ask, const struct ts_call *call, const struct ts_variable *v, uint64_t at,
		     struct ts_frame_extent *extent, struct ts_error *err);

#endif
