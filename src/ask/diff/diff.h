/* SPDX-License-Identifier: MIT */
/*
 * Where two recordings of one program part: which steps only one of them has, and which values differ.
 *
 * Threads are compared with each other in the order in which they appear, whatever their interleaving.  Where
 * the executed addresses differ, the shortest way to steps that are the same again is looked for (resync.h).
 * If only one of two steps writes a place, its value is compared with the one that the place has in the other recording.
 */
#ifndef TS_ASK_DIFF_H
#define TS_ASK_DIFF_H

#include "diff_options.h"
#include "src/ask/verb.h"

/* What rows of a difference have, for ts_answer_of_rows(); it is not in the table of verbs. */
extern const struct ts_verb ts_verb_diff;

/*
 * A cursor over the differences of the recording of @a and @b (both borrowed, complete), ascending by position.  Functions
 * and lines are those of the symbols of @a.
 *
 * Returns NULL if they are of different processors (TS_EUSAGE), if a trace cannot be read, or if memory is
 * exhausted (TS_ENOMEM).
 */
struct ts_rows *ts_diff_open(struct ts_ask *a, struct ts_query *b, const struct ts_diff_options *options, struct ts_error *err);

#endif
