/* SPDX-License-Identifier: MIT */
/*
 * The note of answers about calls in programs that move their stacks.
 */
#ifndef TS_ASK_STACK_H
#define TS_ASK_STACK_H

struct ts_rows;

/*
 * If the program moves stacks while calls are open on them, as Go does: mark the answer as incomplete, because the ends of
 * these calls are not found, and say so in its note if it has none.
 */
void ts_note_moved_stacks(struct ts_rows *rows);

#endif
