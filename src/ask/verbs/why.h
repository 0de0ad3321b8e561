/* SPDX-License-Identifier: MIT */
/*
 * The verbs why: where a value came from, step by step backwards.
 *
 * src/search/cause finds the tree; a node is a row, or one for each range of memory that it has.
 */
#ifndef TS_ASK_WHY_H
#define TS_ASK_WHY_H

struct ts_verb;

extern const struct ts_verb ts_verb_why;

#endif
