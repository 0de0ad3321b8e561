/* SPDX-License-Identifier: MIT */
/* A test whether a register can have a value in a chunk, without an examination of each instruction. */
#ifndef TS_ASK_REG_VALUES_H
#define TS_ASK_REG_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ask/grammar/cond.h"
#include "src/ask/verb.h"

/*
 * Set *may to whether the value of register @what (not the pc) of @thread can satisfy @cond after a step of the chunk; true
 * if a byte of the register is unknown.  @room has twice the size of the 'g' layout.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_reg_values_may_hold(const struct ts_ask *ask, const struct ts_cond *cond, const struct ts_what *what, uint32_t thread,
			    uint64_t chunk, uint8_t *room, bool *may, struct ts_error *err);

#endif
