/* SPDX-License-Identifier: MIT */
/*
 * An answer in slices: drives a verb's cursor, bounds and counts its rows, and prints them in one of the
 * forms.
 *
 * All interfaces work this way: ts_answer_new(), ts_answer_run() until it is over, with other work in
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
 * Returns NULL if the question is not understood (TS_EUSAGE), the trace cannot be read or memory is
 * exhausted.
 */
struct ts_answer *ts_answer_new(struct ts_ask *ask, const char *text, enum ts_form_kind form,
				struct ts_error *err);
/*
 * Begin to answer a question about @verb that is given in @n arguments, whose texts must outlive the answer.
 *
 * Results are those of ts_answer_new().
 */
struct ts_answer *ts_answer_new_arguments(struct ts_ask *ask, const struct ts_verb *verb,
					  const struct ts_argument *arguments, size_t n, enum ts_form_kind form,
					  struct ts_error *err);
void ts_answer_free(struct ts_answer *a);

/*
 * The same of rows that no question asked for: of @verb, whose cursor @rows goes to the answer whatever
 * happens; only the @first ones, TS_NO_LIMIT: all.
 *
 * Returns NULL if memory is exhausted.
 */
struct ts_answer *ts_answer_of_rows(struct ts_ask *ask, const struct ts_verb *verb, struct ts_rows *rows,
				    uint64_t first, enum ts_form_kind form, struct ts_error *err);

/* Before it runs: show at most @max rows, whatever the question says.  The end line says so. */
void ts_answer_bound(struct ts_answer *a, uint64_t max);

/* Before it runs: its rows have a first column `recording` (ts_form_name_recording(), whose parameters these are). */
void ts_answer_name_recording(struct ts_answer *a, const char *recording, bool is_next);

/* Before it runs: its text is for a terminal of @width places (ts_form_fit()). */
void ts_answer_fit(struct ts_answer *a, uint32_t width);

/*
 * Continue for a slice of at most @n_chunks decoded chunks, or other work of that duration.  Output is
 * appended to @out, the end line to @end (which may be the same).
 *
 * Returns TS_GOT_PENDING if it is not over, TS_GOT_END if it is, TS_GOT_FAIL as a cursor's next().
 */
enum ts_got ts_answer_run(struct ts_answer *a, unsigned n_chunks, struct ts_buf *out, struct ts_buf *end,
			  struct ts_error *err);

/*
 * Interrupt the answer (^C): the search stops.  ts_answer_run() then prints the rows found so far, and an end
 * line that says so; rows of `last N` that were being printed already are left out.
 */
void ts_answer_stop(struct ts_answer *a);

const struct ts_question *ts_answer_question(const struct ts_answer *a);

/*
 * After an answer in a session: from now on #R refers to its table.  One without positions keeps the previous
 * table, and so does the sentence of goto; if memory is exhausted, too.
 */
void ts_answer_keep_shown(const struct ts_answer *a, struct ts_ask *ask);
uint64_t ts_answer_n_rows(const struct ts_answer *a);

/* Does it have rows, or did it do what was asked for, such as writing a file? */
bool ts_answer_has_any(const struct ts_answer *a);

/* The position up to which has been searched, for progress. */
uint64_t ts_answer_at(const struct ts_answer *a);

/* How many positions of the recording have been read to prepare the search; 0: it has begun. */
uint64_t ts_answer_prepared(const struct ts_answer *a);

/*
 * How many positions have been searched, of how many: *all.  Returns 0 as long as nobody knows: some verbs
 * look where the index says, in no order.
 */
uint64_t ts_answer_searched(const struct ts_answer *a, uint64_t *all);

/* The position to which the session moves at the end; TS_NO_POS: it stays. */
uint64_t ts_answer_go(const struct ts_answer *a);

#endif
