/* SPDX-License-Identifier: MIT */
/*
 * The verb executions: a row each time that an instruction in a range of addresses ran.
 */
#ifndef TS_ASK_EXECUTIONS_H
#define TS_ASK_EXECUTIONS_H

struct ts_verb;

extern const struct ts_verb ts_verb_executions;

#endif
