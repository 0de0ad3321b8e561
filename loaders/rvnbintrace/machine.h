/* SPDX-License-Identifier: MIT */
/*
 * The machine description: memory, registers, and operations on them.
 */
#ifndef LOADERS_RVNBINTRACE_MACHINE_H
#define LOADERS_RVNBINTRACE_MACHINE_H

#include "trace.h"

/*
 * Read the machine description, whose bytes @c has (they are those of rec->machine).
 *
 * Returns false if it contradicts itself (TS_ETRUNC, TS_ECORRUPT), is more than tracestub handles (TS_ELIMIT,
 * TS_EUNSUPPORTED) or memory is exhausted.
 */
bool rvn_read_machine(struct rvn *rec, struct ts_cursor *c);

/*
 * Read the initial registers into the recording's initial effects and into rec->kept.
 *
 * Returns false if one is missing, there twice or unknown (TS_ECORRUPT), the bytes end (TS_ETRUNC), or memory
 * is exhausted.
 */
bool rvn_read_registers(struct rvn *rec, struct ts_cursor *c);

#endif
