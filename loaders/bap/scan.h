/* SPDX-License-Identifier: MIT */
/*
 * What the first frames tell of a trace before it is read.
 */
#ifndef LOADERS_BAP_SCAN_H
#define LOADERS_BAP_SCAN_H

#include "bap.h"

/*
 * Look at the first frames, with the names of all registers in place, to find which features of the
 * architecture have values: *features, a mask; and whose the first instruction is.
 *
 * Returns false if there is no instruction (TS_EUNSUPPORTED), or if the trace is damaged before the first
 * one.
 */
bool bap_scan(struct bap *rec, uint32_t *features, struct ts_error *err);

/*
 * Is the trace one of the recorder that lists all registers as gdb calls them?  Others write names in
 * capitals, or the flags after an instruction.  A trace without names may be one.
 */
bool bap_is_snapshot(struct bap *rec);

/* Among the first instructions, do more look like big-endian words of MIPS code than like little-endian ones?
 */
bool bap_is_code_big_endian(struct bap *rec);

/*
 * Decide in which order the bytes of memory values stand: in that in which the first accesses contradict each
 * other less; where both fit, rec->is_mem_reversed stays.
 */
void bap_vote_memory_order(struct bap *rec);

#endif
