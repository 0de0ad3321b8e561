/* SPDX-License-Identifier: MIT */
/*
 * The verbs when, goto, back and forward: showing and changing the position.
 */
#ifndef TS_ASK_POSITION_H
#define TS_ASK_POSITION_H

#include <stdint.h>

struct ts_ask;
struct ts_verb;

extern const struct ts_verb ts_verb_when;
extern const struct ts_verb ts_verb_goto;
extern const struct ts_verb ts_verb_back;
extern const struct ts_verb ts_verb_forward;

/*
 * The session of @ask goes to @pos by @verb; by all but back and forward the position that it leaves is one to go back to,
 * and there is none to go forward to.
 */
void ts_ask_move(struct ts_ask *ask, const struct ts_verb *verb, uint64_t pos);

#endif
