/* SPDX-License-Identifier: MIT */
/*
 * The verb hot with the word blocks or loops: the basic blocks and the loops with most steps.
 */
#ifndef TS_ASK_BLOCKS_H
#define TS_ASK_BLOCKS_H

#include "src/ask/verb.h"

/* The verbs that the words select; they are not in the table of verbs. */
extern const struct ts_verb ts_verb_hot_blocks;
extern const struct ts_verb ts_verb_hot_loops;

#endif
