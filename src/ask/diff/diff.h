/* SPDX-License-Identifier: MIT */
/*
 * Compare two recordings of one program: steps that only one of them has, and values that differ.
 *
 * Threads are paired in order of appearance; their interleaving does not matter.  Where the executed
 * addresses differ, the shortest way to equal steps is searched for (diff_path.c).  If only one of two steps
 * writes a place, the value is compared with that of the place in the other recording.
 */
#ifndef TS_ASK_DIFF_H
#define TS_ASK_DIFF_H

#include "diff_options.h"
#include "src/ask/verb.h"

/* The columns of a comparison, for ts_answer_of_rows().  It is not in the table of verbs. */
extern const struct ts_verb ts_verb_diff;

/*
 * Open a cursor over the differences between the recording of @a and @b (both borrowed, complete), ascending
 * by position.  Functions and lines come from the symbols of @a.
 *
 * Returns NULL if the processors differ (TS_EUSAGE).
 * Returns NULL if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_rows *ts_diff_open(struct ts_ask *a, struct ts_query *b, const struct ts_diff_options *options, struct ts_error *err);

#endif
