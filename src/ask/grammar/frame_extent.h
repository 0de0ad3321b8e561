/* SPDX-License-Identifier: MIT */
/*
 * How long the frame of a function is there.
 *
 * A call may be that of several functions: one that is about to return jumps to another (a tail call, a linkage
 * table), whose frame takes the place of its own.
 */
#ifndef TS_FRAME_EXTENT_H
#define TS_FRAME_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ask/verb.h"
#include "src/query/call_list.h"
#include "src/object/variables.h"

struct ts_frame_extent {
	uint64_t begin, end;     /* positions; end: of the call if the frame is the last one in it */
	bool ends_by_jump;
	bool is_unsure;          /* of both: the code of the function is not known, or was executed too often to be looked through */
};

/*
 * The frame, at position @at, of the function that has the variable @v.  @call is the innermost call that is open there; calls
 * must be there (ts_ask_need_calls()).
 *
 * Returns false if the trace cannot be read: *err tells.
 */
bool ts_frame_extent(struct ts_ask *ask, const struct ts_call *call, const struct ts_variable *v, uint64_t at,
		     struct ts_frame_extent *extent, struct ts_error *err);

#endif
