/* SPDX-License-Identifier: MIT */
/*
 * Whether an ARM processor executes Thumb code, for recordings that do not have its status register.
 *
 * The length of an instruction decides: two bytes are Thumb, and four are ARM unless they could be a long
 * Thumb instruction.  In that case its neighbours decide, since only a branch changes the state.
 */
#ifndef TS_THUMB_H
#define TS_THUMB_H

#include <stdbool.h>
#include <stdint.h>

#include "src/query/query.h"

/* The bit of the status register that says so. */
#define TS_THUMB_BIT UINT32_C(0x20)

/*
 * Does @thread execute Thumb code at @pos?  *is_thumb is false where nothing decides.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_thumb_at(struct ts_query *q, uint64_t pos, uint32_t thread, bool *is_thumb, struct ts_error *err);

#endif
