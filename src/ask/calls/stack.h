/* SPDX-License-Identifier: MIT */
/*
 * The note of answers about calls in programs that move their stacks.
 */
#ifndef TS_ASK_STACK_H
#define TS_ASK_STACK_H

struct ts_rows;

/*
 * If the program moves stacks while calls are open on them, as Go does, and the rows have no note: set the note that the
 * ends of these calls are not found.
 */
void ts_note_moved_stacks(struct ts_rows *rows);

#endif
