/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a trace frame in trace buffers and trace files, in the target's byte order.
 *
 *      u16 tracepoint, u32 length of what follows
 *      'R' registers in the layout of the 'g' packet
 *      'M' u64 address, u16 length, bytes
 *      'V' s32 number, s64 value
 */
#ifndef TS_FRAME_BYTES_H
#define TS_FRAME_BYTES_H

#include <stdbool.h>

#include "src/base/collections/buf.h"
#include "src/base/error.h"
#include "src/frames/frames.h"
#include "src/query/query.h"

/*
 * Append frame @f.  Unknown memory is omitted.  Unknown registers are zeros, because the format cannot
 * express them; the Thumb bit of ARM's status register is always correct.  A frame that is_whole has the
 * registers, the instruction, and the accessed memory with its contents before the instruction.
 *
 * Returns true on success.
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 * After a failure the bytes that were appended to @out are meaningless.
 */
bool ts_frame_bytes(struct ts_query *q, const struct ts_frame *f, struct ts_buf *out, struct ts_error *err);

/*
 * Fill the unknown registers of position @pos with zeros.  @data and @known are in the 'g' layout.  The Thumb
 * bit of an unknown status register of ARM is set as the code requires, because a debugger needs it to decode
 * instructions.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_frame_fill_regs(struct ts_query *q, uint64_t pos, uint8_t *data, const uint8_t *known,
			struct ts_error *err);

#endif
