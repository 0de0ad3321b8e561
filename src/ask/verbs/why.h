/* SPDX-License-Identifier: MIT */
/*
 * The verb why: the origin of a value, step by step backwards.
 *
 * src/search/cause builds the tree.  A node is one row, or one row for each of its ranges of memory.
 */
#ifndef TS_ASK_WHY_H
#define TS_ASK_WHY_H

struct ts_verb;

extern const struct ts_verb ts_verb_why;

#endif
