/* SPDX-License-Identifier: MIT */
/*
 * A trace frame as it is in trace buffers and trace files: bytes in the target's byte order.
 *
 *      u16 tracepoint, u32 length of what follows
 *      'R' registers in the layout of the 'g' packet
 *      'M' u64 address, u16 length, bytes
 *      'V' s32 number, s64 value
 */
#ifndef TS_FRAME_BYTES_H
#define TS_FRAME_BYTES_H

#include <stdbool.h>

#include "src/base/buf.h"
#include "src/base/error.h"
#include "src/frames/frames.h"
#include "src/query/query.h"

/*
 * Append frame @f.  Unknown memory is left out; unknown registers are zeros, since the format cannot express
 * them, but the Thumb bit of ARM's status register is always set correctly.  A frame that is_whole has the
 * registers, the instruction, and the memory that the instruction accessed, as it was before.
 *
 * Returns false if the trace cannot be read any more, or memory is exhausted; the bytes that were appended to
 * @out are then meaningless.
 */
bool ts_frame_bytes(struct ts_query *q, const struct ts_frame *f, struct ts_buf *out, struct ts_error *err);

/*
 * Fill unknown registers of position @pos with zeros; an unknown status register of ARM gets its Thumb bit,
 * which a debugger needs to decode instructions.
 *
 * Returns false if the trace cannot be read any more.
 */
bool ts_frame_fill_regs(struct ts_query *q, uint64_t pos, uint8_t *data, const uint8_t *known,
			struct ts_error *err);

#endif
