/* SPDX-License-Identifier: MIT */
/* The text of the system call that wrote a place, and the bytes of its buffer that are in the place. */
#ifndef TS_ASK_INPUT_TEXT_H
#define TS_ASK_INPUT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/error.h"
#include "src/query/query.h"

/* A place that was written at a step: bytes [first, last] of memory of a process, or a register of a thread. */
struct ts_input_place {
	bool is_memory;
	bool is_input;    /* of memory: the kernel wrote it */
	uint32_t process; /* of memory */
	uint32_t thread;  /* of a register */
	uint64_t first, last;
};

/*
 * Append the system call of step @pos that wrote @place to @text: "read(0x3, 0x404060, 0x10) = 0x8".  If the bytes are
 * in the buffer that the call filled, their offsets in the buffer follow, with the descriptor, the offset in its file if it
 * follows from earlier calls, and the bytes: ", bytes 0 to 3 of descriptor 3, from file offset 16: \"abcd\"".
 *
 * Returns false if the trace cannot be read (@err).  Nothing is appended if the step has no system call, or has several and
 * the one that wrote the place is unknown.
 */
bool ts_input_text(struct ts_query *q, uint64_t pos, const struct ts_input_place *place, struct ts_buf *text,
		   struct ts_error *err);

#endif
