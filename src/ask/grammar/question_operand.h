/* SPDX-License-Identifier: MIT */
/* What follows the verb of a question. */
#ifndef TS_ASK_QUESTION_OPERAND_H
#define TS_ASK_QUESTION_OPERAND_H

#include <stdbool.h>

#include "src/base/error.h"

struct ts_ask;
struct ts_question;
struct ts_words;

/* Take the operand of @qn's verb, if there is one.  Returns false if it is missing, or is not understood (TS_EUSAGE). */
bool ts_question_operand(struct ts_question *qn, struct ts_ask *ask, struct ts_words *w, struct ts_error *err);

/* Take a word that makes the question one about another verb.  Returns false if the next word is not such a one. */
bool ts_question_verb_word(struct ts_question *qn, struct ts_words *w);

#endif
