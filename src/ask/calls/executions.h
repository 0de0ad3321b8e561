/* SPDX-License-Identifier: MIT */
/*
 * The verb executions: every step whose instruction is at an address.
 */
#ifndef TS_ASK_EXECUTIONS_H
#define TS_ASK_EXECUTIONS_H

struct ts_verb;

extern const struct ts_verb ts_verb_executions;

#endif
