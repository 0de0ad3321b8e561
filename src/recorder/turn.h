/* SPDX-License-Identifier: MIT */
/*
 * The threads of the program take turns: one of them runs at a time, so that the order of the recording is the
 * order of what happened in memory.
 */
#ifndef TS_RECORDER_TURN_H
#define TS_RECORDER_TURN_H

#include <stdbool.h>

struct ts_turn_taker {
	unsigned n_used; /* instructions of this turn */
};

/* Does @t have the turn? */
bool ts_turn_is_of(const struct ts_turn_taker *t);

/* Wait for the turn: as long as it takes, or at most two milliseconds.  Returns whether @t has it. */
void ts_turn_take(struct ts_turn_taker *t);
bool ts_turn_try(struct ts_turn_taker *t);

/* Give it to whoever waits. */
void ts_turn_give(struct ts_turn_taker *t);

/* Has @t run for long enough, while somebody waits?  Counts an instruction. */
bool ts_turn_is_over(struct ts_turn_taker *t);

#endif
