/* SPDX-License-Identifier: MIT */
/* The words of a question, in order, and the words of the grammar. */
#ifndef TS_ASK_WORDS_H
#define TS_ASK_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

struct ts_verb;

/* The unparsed rest of a question. */
struct ts_words {
	const char *p; /* the next word, or the end */
	size_t len;    /* of the next word; 0 at the end */
	unsigned seen; /* bit mask of the words that were parsed */
	bool is_value; /* the value of one argument: it has no words of the grammar */
};

/* The words of the grammar. */
enum ts_word {
	TS_WORD_IN,
	TS_WORD_IF,
	TS_WORD_AT,
	TS_WORD_THREAD,
	TS_WORD_FIRST,
	TS_WORD_LAST,
	TS_WORD_DEPTH,
	TS_WORD_TREE,
	TS_WORD_MIN,
	TS_WORD_BY,
	TS_WORD_INPUTS,
	TS_WORD_ADDRESSES,
	TS_WORD_CHANGES,
	TS_WORD_PARTIAL,
	TS_WORD_GO,
	TS_WORD_LCOV,
	TS_WORD_DRCOV,
	TS_WORD_EQUAL,
	TS_WORD_TO,
	TS_WORD_MINUS,
	TS_WORD_PROCESS,
	TS_WORD_RING,
	TS_N_WORDS,
};

/* Move to the first word at or after @p. */
void ts_words_go_to(struct ts_words *w, const char *p);

/* Pass over the next word. */
void ts_words_next(struct ts_words *w);

/* Is @text the next word? */
bool ts_words_is(const struct ts_words *w, const char *text);

/* Set *err (TS_EUSAGE) to a sentence that quotes the next word before @why.  Returns false. */
bool ts_words_fail(const struct ts_words *w, const char *why, struct ts_error *err);

/* Returns the next word if it is a word of the grammar, else TS_N_WORDS. */
enum ts_word ts_words_find(const struct ts_words *w);

/* Is there a next word that is not one of the grammar's words that @verb accepts? */
bool ts_words_have_operand(const struct ts_words *w, const struct ts_verb *verb);

/*
 * Copy the next word to @to (TS_MAX_WORD bytes) and advance.
 *
 * Returns false if it is too long (TS_EUSAGE).
 * Returns false at the end of the words (TS_EUSAGE).
 */
bool ts_words_copy(char *to, struct ts_words *w, struct ts_error *err);

/* Parse the next word as a number and advance.  Returns false if it is not a number (TS_EUSAGE). */
bool ts_words_number(struct ts_words *w, uint64_t *value, struct ts_error *err);

/* Returns the word of the grammar that is @text; TS_N_WORDS if the grammar has no such word. */
enum ts_word ts_word_named(const char *text, size_t len);

/* Returns the text of @word, which is not TS_N_WORDS; a literal. */
const char *ts_word_text(enum ts_word word);

/* Does @verb accept @word, which is not TS_N_WORDS? */
bool ts_word_is_taken(enum ts_word word, const struct ts_verb *verb);

#endif
