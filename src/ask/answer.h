/* SPDX-License-Identifier: MIT */
/*
 * An answer in slices: drives a verb's cursor, bounds and counts its rows, and prints them in one of the forms.
 *
 * Every door works this way: ts_answer_new(), ts_answer_run() until it is over, in between whatever else there
 * is to do, and ts_answer_free().
 */
#ifndef TS_ASK_ANSWER_H
#define TS_ASK_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "form.h"
#include "verb.h"

struct ts_answer;

/*
 * Begin to answer @text in the form @form.
 *
 * Returns NULL if the question is not understood (TS_EUSAGE), the trace cannot be read or memory is exhausted.
 */
struct ts_answer *ts_answer_new(struct ts_ask *ask, const char *text, enum ts_form_kind form,
				struct ts_error *err);
void ts_answer_free(struct ts_answer *a);

/*
 * Go on for a slice of at most @n_chunks decoded chunks, or what takes as long.  What is to be shown is appended
 * to @out, the end line to @end (which may be the same).
 *
 * Returns TS_GOT_PENDING if it is not over, TS_GOT_END if it is, TS_GOT_FAIL as a cursor's next().
 */
enum ts_got ts_answer_run(struct ts_answer *a, unsigned n_chunks, struct ts_buf *out, struct ts_buf *end,
			  struct ts_error *err);

/* End it early, by ^C: what has been found is appended, and an end that says so. */
void ts_answer_stop(struct ts_answer *a, struct ts_buf *out, struct ts_buf *end);

const struct ts_question *ts_answer_question(const struct ts_answer *a);

/* Positions of the rows that were shown, for PLACE `#R`; *n gets how many. */
const uint64_t *ts_answer_shown(const struct ts_answer *a, size_t *n);
uint64_t ts_answer_n_rows(const struct ts_answer *a);

/* The position up to which has been looked, for progress. */
uint64_t ts_answer_at(const struct ts_answer *a);

/* Where the session goes now that it is over; TS_NO_POS: it stays. */
uint64_t ts_answer_go(const struct ts_answer *a);

#endif
