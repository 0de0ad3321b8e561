/* SPDX-License-Identifier: MIT */
/*
 * The verbs hot and coverage: execution counts of code.
 */
#ifndef TS_ASK_COVERAGE_H
#define TS_ASK_COVERAGE_H

struct ts_verb;

extern const struct ts_verb ts_verb_hot;
extern const struct ts_verb ts_verb_coverage;

#endif
