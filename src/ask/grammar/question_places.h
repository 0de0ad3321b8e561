/* SPDX-License-Identifier: MIT */
/*
 * Parse the places and ranges of a question: at PLACE, in A:B, minus A:B.  anchors.h resolves them to positions.
 */
#ifndef TS_ASK_QUESTION_PLACES_H
#define TS_ASK_QUESTION_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"

struct ts_ask;
struct ts_ask_place;
struct ts_question;
struct ts_verb;
struct ts_words;

/* The default position of a question about @verb. */
uint64_t ts_question_here(const struct ts_ask *ask, const struct ts_verb *verb);

/*
 * Parse a PLACE, relative to @here.
 *
 * Returns false if the text is not a place (TS_EUSAGE).
 */
bool ts_question_place(struct ts_ask_place *place, struct ts_ask *ask, struct ts_words *w, uint64_t here,
		       struct ts_error *err);

/* Parse the PLACE of `at`.  Returns false if the text is not a place (TS_EUSAGE). */
bool ts_question_at(struct ts_question *qn, struct ts_ask *ask, struct ts_words *w, struct ts_error *err);

/* Store the words of A:B, up to the end of B.  Returns false if they are not a range (TS_EUSAGE). */
bool ts_question_take_range(struct ts_question *qn, struct ts_words *w, struct ts_error *err);

/*
 * Parse the stored A:B.  Called after all other words, because it may be relative to the PLACE of `at`.
 *
 * Returns false if it is not a range (TS_EUSAGE).
 */
bool ts_question_range(struct ts_question *qn, struct ts_ask *ask, struct ts_error *err);

/* Parse the A:B of `minus`, which is one word.  Returns false if it is not a range (TS_EUSAGE). */
bool ts_question_minus(struct ts_question *qn, struct ts_ask *ask, struct ts_words *w, struct ts_error *err);

#endif
