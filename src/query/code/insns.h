/* SPDX-License-Identifier: MIT */
/*
 * The instructions of steps, with the registers that they had.
 */
#ifndef TS_INSNS_H
#define TS_INSNS_H

#include <stdbool.h>
#include <stdint.h>

#include "decode.h"
#include "src/arch/operands/operands.h"
#include "src/query/query.h"

/*
 * The instruction of step @pos.  Its is_insn is false if the bytes are unknown, are not an instruction, or
 * are 16-bit code, and if the instruction did not complete; if it faulted, is_stopped is set, and ops.len and
 * the text are valid.
 *
 * Returns the instruction, borrowed until the next call of this function.
 * Returns NULL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_decoded *ts_query_insn(struct ts_query *q, uint64_t pos, struct ts_error *err);

/*
 * Set *state to the registers of @thread before step @pos, for ts_operands_addr().  They are valid until the
 * next call.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_query_op_state(struct ts_query *q, uint64_t pos, uint32_t thread, struct ts_op_state *state,
		       struct ts_error *err);

/*
 * Set *happens to whether the conditional transfers of the instruction @d of step @pos happen.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_query_happens(struct ts_query *q, uint64_t pos, const struct ts_decoded *d,
		      enum ts_op_happens *happens, struct ts_error *err);

/*
 * Find the virtual address by which step @pos of a whole machine accessed the physical address @phys.  A memory operand in the page
 * of @phys decides.  Without one, *addr is set by ts_untranslate_at().  *is_found is false if no address is
 * found.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_query_access_addr(struct ts_query *q, uint64_t pos, uint64_t phys, uint64_t *addr, bool *is_found,
			  struct ts_error *err);

#endif
