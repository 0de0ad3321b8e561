/* SPDX-License-Identifier: MIT */
/* The verb compares: comparisons whose result decided a branch, with both values. */
#ifndef TS_ASK_COMPARES_H
#define TS_ASK_COMPARES_H

struct ts_verb;

extern const struct ts_verb ts_verb_compares;

#endif
