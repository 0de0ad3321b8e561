/* SPDX-License-Identifier: MIT */
/*
 * Properties of a trace found from its first frames, before it is read.
 */
#ifndef LOADERS_BAP_DETECT_H
#define LOADERS_BAP_DETECT_H

#include "trace.h"

/*
 * Scan the first frames, after all names of registers have been added, for the features of the architecture
 * that have values: *features, a mask; and for the thread of the first instruction.
 *
 * Returns false if there is no instruction (TS_EUNSUPPORTED), or if the trace is damaged before the first
 * one.
 */
bool bap_scan(struct bap *rec, uint32_t *features, struct ts_error *err);

/*
 * Fill rec->first_flags: which bits of the first thread's flag registers the first frames show before any
 * instruction changes them.  The model infers the past of bytes; a byte of which one bit is written before
 * another one is seen would stay unknown.
 *
 * Returns false if the trace cannot be read or memory is exhausted.
 */
bool bap_scan_flags(struct bap *rec, struct ts_error *err);

/*
 * Is the trace from the recorder that lists all registers by gdb's names?  Others write names in capitals, or
 * the flags after an instruction.  A trace without names may be one.
 *
 * Returns false if the trace cannot be read or memory is exhausted, as the next two do.
 */
bool bap_is_snapshot(struct bap *rec, bool *is_snapshot, struct ts_error *err);

/*
 * Among the first instructions, do more look like big-endian words of MIPS code than like little-endian ones?
 */
bool bap_is_code_big_endian(struct bap *rec, bool *is_big, struct ts_error *err);

/*
 * Determine the byte order of memory values: the one in which the first accesses contradict each other less;
 * if both fit, rec->is_mem_reversed is unchanged.
 */
bool bap_vote_memory_order(struct bap *rec, struct ts_error *err);

#endif
