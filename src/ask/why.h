/* SPDX-License-Identifier: MIT */
/*
 * The verbs why: where a value came from, step by step backwards.
 *
 * Each place is looked up with last-write; the inputs of the instruction that wrote it (inputs.h) are the
 * next places.  A loop that hands a value on from turn to turn is one turn of it, with a count.
 */
#ifndef TS_ASK_WHY_H
#define TS_ASK_WHY_H

struct ts_verb;

extern const struct ts_verb ts_verb_why;

#endif
