/* SPDX-License-Identifier: MIT */
/*
 * The reads and writes of a step, as texts "PLACE=VALUE": "$eax=0x5", "0x404000,4=0x7", "$ZF=1".
 *
 * The places are the operands of the instruction, or the recorded accesses if the instruction is unknown.  The value of a
 * read is the value before the step, the value of a write is the value after it.
 */
#ifndef TS_ASK_STEP_PLACES_H
#define TS_ASK_STEP_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ask/row.h"
#include "src/base/error.h"
#include "src/query/code/insns.h"

struct ts_step_places;

/* For the steps of @q (borrowed).  Returns NULL if memory is exhausted (TS_ENOMEM). */
struct ts_step_places *ts_step_places_new(struct ts_query *q, struct ts_error *err);
void ts_step_places_free(struct ts_step_places *p);

/*
 * Fill the lists @reads and @writes (columns of @row) with the places of step @pos, whose instruction is @d, the result of
 * ts_query_insn().  A list without places is null.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_step_places_put(struct ts_step_places *p, uint64_t pos, const struct ts_decoded *d, struct ts_row *row,
			unsigned reads, unsigned writes, struct ts_error *err);

/*
 * Append the value before the step of @place, an operand of the instruction @ops of step @pos, to @out: a number if all
 * bytes are known, else bytes.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_step_places_value(struct ts_step_places *p, uint64_t pos, const struct ts_operands *ops,
			  const struct ts_op_place *place, struct ts_buf *out, struct ts_error *err);

#endif
