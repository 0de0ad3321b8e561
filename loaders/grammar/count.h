/* SPDX-License-Identifier: MIT */
/*
 * For the author of a grammar: which of its patterns the first lines of a trace match, and which lines none does.
 */
#ifndef LOADERS_GRAMMAR_COUNT_H
#define LOADERS_GRAMMAR_COUNT_H

#include <stdbool.h>

#include "log.h"

/*
 * Add the notes "lines", how many of the first lines each line of the grammar matches, and "no pattern", the first
 * lines that none does.
 *
 * Returns false if the trace cannot be read (TS_EIO) or memory is exhausted (TS_ENOMEM).
 */
bool grammar_count_lines(struct grammar_log *log, struct ts_error *err);

#endif
