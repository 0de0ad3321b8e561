/* SPDX-License-Identifier: MIT */
/*
 * The registers that steps have recorded, which are those of a thread unless it waits (registers.c).
 */
#ifndef TS_RECORDED_REGS_H
#define TS_RECORDED_REGS_H

#include <stdbool.h>
#include <stdint.h>

#include "query.h"

/*
 * Copy the first @len bytes of the registers of @thread at @pos but its pc, as ts_query_first_regs().  Of a thread that
 * waits, what its last step wrote may be missing.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_recorded_regs(struct ts_query *q, uint64_t pos, uint32_t thread, uint32_t len, uint8_t *data, uint8_t *known,
		      struct ts_error *err);

/* Set the pc in registers in the 'g' layout; unless @has_pc, it is not known. */
void ts_recorded_put_pc(const struct ts_query *q, uint64_t pc, bool has_pc, uint8_t *data, uint8_t *known);

#endif
