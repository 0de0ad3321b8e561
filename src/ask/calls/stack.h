/* SPDX-License-Identifier: MIT */
/*
 * The verb stack: the calls that are open at a position, innermost first.
 */
#ifndef TS_ASK_STACK_H
#define TS_ASK_STACK_H

struct ts_verb;

extern const struct ts_verb ts_verb_stack;

#endif
