/* SPDX-License-Identifier: MIT */
/*
 * A trace frame as trace buffers and trace files have it: bytes in the target's order.
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
 * Append frame @f.  Only what is known of its memory is there; a register that is not known is zeros, for the
 * form has no way to say so; of ARM's status register the Thumb bit is there all the same.  Of a whole frame
 * it is the registers, the instruction, and the memory that the instruction accessed, as it was before.
 *
 * Returns false if the trace cannot be read any more, or memory is exhausted; what @out then has behind its
 * old end is void.
 */
bool ts_frame_bytes(struct ts_query *q, const struct ts_frame *f, struct ts_buf *out, struct ts_error *err);

/*
 * Zeros where registers of position @pos are not known; but a debugger gets nowhere on ARM without knowing
 * which instructions it sees: an unknown status register says that.
 *
 * Returns false if the trace cannot be read any more.
 */
bool ts_frame_fill_regs(struct ts_query *q, uint64_t pos, uint8_t *data, const uint8_t *known,
			struct ts_error *err);

#endif
