/* SPDX-License-Identifier: MIT */
/*
 * The verb calls: who called whom, with which arguments and to which result.
 */
#ifndef TS_ASK_CALLS_H
#define TS_ASK_CALLS_H

struct ts_verb;

extern const struct ts_verb ts_verb_calls;

#endif
