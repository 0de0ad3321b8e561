/* SPDX-License-Identifier: MIT */
/*
 * The places and ranges in the words of a question: at PLACE, in A:B, minus A:B.  Where they are is found by
 * anchors.h.
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

/* The position that a question about @verb is asked from, if its words do not say it. */
uint64_t ts_question_here(const struct ts_ask *ask, const struct ts_verb *verb);

/* Take a PLACE, seen from @here.  This and the others return false for what is not understood (TS_EUSAGE). */
bool ts_question_place(struct ts_ask_place *place, struct ts_ask *ask, struct ts_words *w, uint64_t here,
		       struct ts_error *err);

/* Take the PLACE of `at`. */
bool ts_question_at(struct ts_question *qn, struct ts_ask *ask, struct ts_words *w, struct ts_error *err);

/* Take the words of A:B: up to the one with the colon that separates, and those of B. */
bool ts_question_take_range(struct ts_question *qn, struct ts_words *w, struct ts_error *err);

/* Parse A:B, whose words were taken: after all other words, since it may be seen from the PLACE of `at`. */
bool ts_question_range(struct ts_question *qn, struct ts_ask *ask, struct ts_error *err);

/* Take A:B of `minus`, one word. */
bool ts_question_minus(struct ts_question *qn, struct ts_ask *ask, struct ts_words *w, struct ts_error *err);

#endif
