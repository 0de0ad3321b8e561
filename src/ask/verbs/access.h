/* SPDX-License-Identifier: MIT */
/*
 * The verbs history, accesses, last-X and next-X: the accesses to a register or to a range of memory.
 *
 * The index selects the chunks to decode.  The accesses of a chunk's steps to WHAT are listed (hits.h), and become rows
 * with the values before and after.
 */
#ifndef TS_ASK_ACCESS_H
#define TS_ASK_ACCESS_H

struct ts_verb;

extern const struct ts_verb ts_verb_history;
extern const struct ts_verb ts_verb_accesses;
extern const struct ts_verb ts_verb_last_write;
extern const struct ts_verb ts_verb_last_read;
extern const struct ts_verb ts_verb_last_access;
extern const struct ts_verb ts_verb_last_change;
extern const struct ts_verb ts_verb_last_exec;
extern const struct ts_verb ts_verb_next_write;
extern const struct ts_verb ts_verb_next_read;
extern const struct ts_verb ts_verb_next_access;
extern const struct ts_verb ts_verb_next_change;
extern const struct ts_verb ts_verb_next_exec;

#endif
