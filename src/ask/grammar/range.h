/* SPDX-License-Identifier: MIT */
/* A range of positions A:B outside a question: an option of diff or plot, an argument of MCP. */
#ifndef TS_ASK_RANGE_H
#define TS_ASK_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

struct ts_ask;

/*
 * Parse @text, A:B, to the positions [*from, *to).  The ends are PLACEs without blanks; either may be missing, as in
 * questions.
 *
 * Returns false if the range is not understood, or empty (TS_EUSAGE).
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_range_find(struct ts_ask *ask, const char *text, uint64_t *from, uint64_t *to, struct ts_error *err);

#endif
