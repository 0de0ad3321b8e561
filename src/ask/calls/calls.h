/* SPDX-License-Identifier: MIT */
/*
 * The verb calls: calls with caller, callee, arguments and result.
 */
#ifndef TS_ASK_CALLS_H
#define TS_ASK_CALLS_H

struct ts_verb;

extern const struct ts_verb ts_verb_calls;

#endif
