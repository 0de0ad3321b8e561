/* SPDX-License-Identifier: MIT */
/*
 * The verb executions: a row for each execution of an instruction in a range of addresses.
 */
#ifndef TS_ASK_EXECUTIONS_H
#define TS_ASK_EXECUTIONS_H

struct ts_verb;

extern const struct ts_verb ts_verb_executions;

#endif
