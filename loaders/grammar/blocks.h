/* SPDX-License-Identifier: MIT */
/*
 * Is a state listed before each instruction, or before each block of them?
 */
#ifndef LOADERS_GRAMMAR_BLOCKS_H
#define LOADERS_GRAMMAR_BLOCKS_H

#include "log.h"

/*
 * Look at the first states: log->is_blocks gets whether instructions that lead to the next one are mostly followed
 * by another state than the next instruction's.  It is not known, and false, where the log has no code.
 *
 * Returns false if the source cannot be read (TS_EIO, TS_ETRUNC) or memory is exhausted (TS_ENOMEM).
 */
bool grammar_find_blocks(struct grammar_log *log, struct ts_error *err);

#endif
