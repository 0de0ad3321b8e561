/* SPDX-License-Identifier: MIT */
/* A range of positions A:B that is given outside of a question: an option of diff or plot, an argument of MCP. */
#ifndef TS_ASK_RANGE_H
#define TS_ASK_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

struct ts_ask;

/*
 * The positions [*from, *to) of @text, A:B, whose ends are PLACEs without blanks; as in questions, either may be left out.
 *
 * Returns false if it is not understood, or empty (TS_EUSAGE), if the trace cannot be read, or if memory is exhausted.
 */
bool ts_range_find(struct ts_ask *ask, const char *text, uint64_t *from, uint64_t *to, struct ts_error *err);

#endif
