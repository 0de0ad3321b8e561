/* SPDX-License-Identifier: MIT */
/*
 * The verbs when, goto, back and forward: showing and changing the position.
 */
#ifndef TS_ASK_POSITION_H
#define TS_ASK_POSITION_H

struct ts_verb;

extern const struct ts_verb ts_verb_when;
extern const struct ts_verb ts_verb_goto;
extern const struct ts_verb ts_verb_back;
extern const struct ts_verb ts_verb_forward;

#endif
