/* SPDX-License-Identifier: MIT */
/* Whether a register has a value at all in a chunk, without looking at its instructions one by one. */
#ifndef TS_ASK_REG_VALUES_H
#define TS_ASK_REG_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ask/grammar/cond.h"
#include "src/ask/verb.h"

/*
 * May the value of register @what (not the pc) of @thread satisfy @cond after a step of the chunk?  *may is true where a byte
 * of it is not known.  @room has twice as many bytes as the 'g' layout.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_reg_values_may_hold(const struct ts_ask *ask, const struct ts_cond *cond, const struct ts_what *what, uint32_t thread,
			    uint64_t chunk, uint8_t *room, bool *may, struct ts_error *err);

#endif
