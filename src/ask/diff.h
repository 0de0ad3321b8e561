/* SPDX-License-Identifier: MIT */
/*
 * Where two recordings of one program part: which steps only one of them has, and which values differ.
 *
 * Threads are compared with each other in the order in which they appear, whatever their interleaving.  Where
 * the executed addresses differ, the shortest way to DIFF_SAME steps that are the same again is looked for.
 */
#ifndef TS_ASK_DIFF_H
#define TS_ASK_DIFF_H

#include <stdbool.h>

#include "verb.h"

struct ts_diff;

/* What rows of a difference have: for ts_form_new(); no question is asked with it. */
extern const struct ts_verb ts_verb_diff;

/*
 * Compare @a with @b, both complete.  @is_rebased: modules of the same name, or if there are none the
 * programs, lie at other addresses in @b; values that are addresses there are the same, too.
 *
 * Returns NULL if they are of different processors (TS_EUSAGE), or memory is exhausted (TS_ENOMEM).
 */
struct ts_diff *ts_diff_new(struct ts_query *a, struct ts_query *b, bool is_rebased, struct ts_error *err);
void ts_diff_free(struct ts_diff *d);

/* The next difference to @row, which is empty; rows ascend by position.  As a cursor's next(). */
enum ts_got ts_diff_next(struct ts_diff *d, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err);

#endif
