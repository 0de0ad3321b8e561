/* SPDX-License-Identifier: MIT */
/* The verbs: each is defined beside its cursor.  verbs.c has the table of those that every door offers. */
#ifndef TS_ASK_VERBS_H
#define TS_ASK_VERBS_H

#include "src/ask/verb.h"

/* access.c: what happened to a register or to a range of memory. */
extern const struct ts_verb ts_verb_history, ts_verb_accesses;
extern const struct ts_verb ts_verb_last_write, ts_verb_last_read, ts_verb_last_access, ts_verb_last_change, ts_verb_last_exec;
extern const struct ts_verb ts_verb_next_write, ts_verb_next_read, ts_verb_next_access, ts_verb_next_change, ts_verb_next_exec;

/* One file each. */
extern const struct ts_verb ts_verb_calls, ts_verb_executions, ts_verb_stack;
extern const struct ts_verb ts_verb_why, ts_verb_flows, ts_verb_events, ts_verb_steps, ts_verb_compares, ts_verb_unexplained;
extern const struct ts_verb ts_verb_find_value, ts_verb_strings;

/* world.c, contents.c: the state at a position. */
extern const struct ts_verb ts_verb_threads, ts_verb_processes, ts_verb_modules, ts_verb_maps;
extern const struct ts_verb ts_verb_memory, ts_verb_registers;

/* position.c, bookmarks.c: the position of the session, and marks. */
extern const struct ts_verb ts_verb_when, ts_verb_goto, ts_verb_back, ts_verb_forward;
extern const struct ts_verb ts_verb_mark, ts_verb_marks, ts_verb_unmark;

/* coverage.c: how often what was executed. */
extern const struct ts_verb ts_verb_hot, ts_verb_coverage;

/* blocks.c: what hot becomes by the word blocks or loops.  They are not in the table. */
extern const struct ts_verb ts_verb_hot_blocks, ts_verb_hot_loops;

/*
 * source.c: the lines of a function's source, with how often each ran, when it ran last before the position that is asked
 * from, and what it wrote then.  It is not in the table: other doors have a debugger that shows the source.
 */
extern const struct ts_verb ts_verb_source;

/*
 * Move the session of @ask to @pos because of @verb.  Except for back and forward, the old position is stored for back, and
 * the positions for forward are discarded.
 */
void ts_ask_move(struct ts_ask *ask, const struct ts_verb *verb, uint64_t pos);

#endif
