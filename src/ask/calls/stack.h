/* SPDX-License-Identifier: MIT */
/*
 * The verb stack: the calls that are open at a position, innermost first.
 */
#ifndef TS_ASK_STACK_H
#define TS_ASK_STACK_H

struct ts_rows;
struct ts_verb;

extern const struct ts_verb ts_verb_stack;

/*
 * Add to the rows' note, if it is empty and if so, that the program moves stacks while calls are open on them, as Go does: which
 * of those calls ends where is not found then.
 */
void ts_note_moved_stacks(struct ts_rows *rows);

#endif
