/* SPDX-License-Identifier: MIT */
/*
 * The move of a session to another position.
 */
#ifndef TS_ASK_POSITION_H
#define TS_ASK_POSITION_H

#include <stdint.h>

struct ts_ask;
struct ts_verb;

/*
 * Move the session of @ask to @pos because of @verb.  Except for back and forward, the old position is stored for back, and
 * the positions for forward are discarded.
 */
void ts_ask_move(struct ts_ask *ask, const struct ts_verb *verb, uint64_t pos);

#endif
