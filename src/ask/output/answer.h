/* SPDX-License-Identifier: MIT */
/*
 * An answer in slices: drives a verb's cursor, bounds and counts its rows, and prints them in one of the
 * forms.
 *
 * The caller calls ts_answer_new(), then ts_answer_run() until the answer has ended, with other work in
 * between, and ts_answer_free().
 */
#ifndef TS_ASK_ANSWER_H
#define TS_ASK_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "form.h"
#include "src/ask/verb.h"

struct ts_answer;
struct ts_argument;

/*
 * Begin to answer @text in the form @form.
 *
 * Returns the answer, which the caller frees with ts_answer_free().
 * Returns NULL if the question is not understood (TS_EUSAGE).
 * Returns NULL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_answer *ts_answer_new(struct ts_ask *ask, const char *text, enum ts_form_kind form,
				struct ts_error *err);

/*
 * Begin to answer a question about @verb that consists of @n arguments, whose texts must outlive the answer.
 *
 * Returns the answer, which the caller frees with ts_answer_free().
 * Returns NULL if the arguments are not understood (TS_EUSAGE).
 * Returns NULL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_answer *ts_answer_new_arguments(struct ts_ask *ask, const struct ts_verb *verb,
					  const struct ts_argument *arguments, size_t n, enum ts_form_kind form,
					  struct ts_error *err);
void ts_answer_free(struct ts_answer *a);

/*
 * Begin an answer from a cursor instead of a question: the first @first rows (TS_NO_LIMIT: all) of @rows, a cursor of
 * @verb.  The answer takes ownership of @rows, also on failure.
 *
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_answer *ts_answer_of_rows(struct ts_ask *ask, const struct ts_verb *verb, struct ts_rows *rows,
				    uint64_t first, enum ts_form_kind form, struct ts_error *err);

/* Before the first ts_answer_run(): return at most @max rows.  The end line reports the limit. */
void ts_answer_bound(struct ts_answer *a, uint64_t max);

/* Before the first ts_answer_run(): add a first column `recording`; see ts_form_name_recording(). */
void ts_answer_name_recording(struct ts_answer *a, const char *recording, bool is_next);

/* Before the first ts_answer_run(): format text for a terminal of @width columns (ts_form_fit()). */
void ts_answer_fit(struct ts_answer *a, uint32_t width);

/*
 * Continue for a slice of at most @n_chunks decoded chunks, or other work of that duration.  Output is
 * appended to @out, the end line to @end (which may be the same).
 *
 * Returns TS_MORE if the answer has not ended.
 * Returns TS_END if it has ended.
 * Returns TS_FAIL as next() of a cursor does (struct ts_rows_ops).
 */
enum ts_next ts_answer_run(struct ts_answer *a, unsigned n_chunks, struct ts_buf *out, struct ts_buf *end,
			   struct ts_error *err);

/*
 * Interrupt the answer (^C).  ts_answer_run() then prints the rows found so far, and an end line that reports the
 * interrupt.  If rows of `last N` were already being printed, the remaining ones are omitted.
 */
void ts_answer_stop(struct ts_answer *a);

/* Returns the parsed question, borrowed from the answer. */
const struct ts_question *ts_answer_question(const struct ts_answer *a);

/*
 * After an answer in a session: #R refers to the table of this answer from now on.  The previous table is kept if the
 * answer has no positions, is the sentence of goto, or memory is exhausted.
 */
void ts_answer_keep_shown(const struct ts_answer *a, struct ts_ask *ask);

/* Returns the number of rows that have been printed. */
uint64_t ts_answer_n_rows(const struct ts_answer *a);

/* Does the answer have rows, or did it carry out an action, such as writing a file? */
bool ts_answer_has_any(const struct ts_answer *a);

/* The position up to which has been searched, for progress. */
uint64_t ts_answer_at(const struct ts_answer *a);

/* The number of positions of the recording that were read to prepare the search; 0: the search has begun. */
uint64_t ts_answer_prepared(const struct ts_answer *a);

/*
 * The number of positions that have been searched; *all is set to their total.  Returns 0 if it is unknown, because some
 * verbs search the chunks that the index selects, in no order.
 */
uint64_t ts_answer_searched(const struct ts_answer *a, uint64_t *all);

/* The position to which the session moves after the answer; TS_NO_POS: it does not move. */
uint64_t ts_answer_go(const struct ts_answer *a);

#endif
