/* SPDX-License-Identifier: MIT */
/*
 * The threads of the program take turns: one of them runs at a time, so that the order of the recording is
 * the order of what happened in memory.
 */
#ifndef TS_RECORDER_TURN_H
#define TS_RECORDER_TURN_H

#include <stdatomic.h>
#include <stdbool.h>

struct ts_turn_taker {
	_Atomic unsigned n_used; /* instructions of this turn */
	_Atomic bool is_inside;  /* of a callback */
};

/*
 * A callback of @t begins, and ends.  QEMU 9 does not let a thread that waits leave its callback, though QEMU
 * may want all threads to stop, among them the one that has the turn: whoever waits takes the turn from a
 * thread that does nothing and is in no callback.  Returns whether @t has the turn.
 */
bool ts_turn_enter(struct ts_turn_taker *t);
void ts_turn_leave(struct ts_turn_taker *t);

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
