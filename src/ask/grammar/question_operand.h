/* SPDX-License-Identifier: MIT */
/* The operand of a question's verb. */
#ifndef TS_ASK_QUESTION_OPERAND_H
#define TS_ASK_QUESTION_OPERAND_H

#include <stdbool.h>

#include "src/base/error.h"

struct ts_ask;
struct ts_question;
struct ts_words;

/* Parse the operand of @qn's verb, if the verb has one.  Returns false if it is missing, or not understood (TS_EUSAGE). */
bool ts_question_operand(struct ts_question *qn, struct ts_ask *ask, struct ts_words *w, struct ts_error *err);

/* Parse a word that selects another verb (`hot loops`).  Returns false if the next word is no such word. */
bool ts_question_verb_word(struct ts_question *qn, struct ts_words *w);

#endif
