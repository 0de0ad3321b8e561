/* SPDX-License-Identifier: MIT */
/*
 * The words of a grammar file, statement by statement.
 */
#ifndef LOADERS_GRAMMAR_SCAN_H
#define LOADERS_GRAMMAR_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

struct grammar_scan {
	const char *text; /* borrowed; the whole file */
	size_t len;
	size_t at;        /* offset of the next character */
	size_t end;       /* offset of the end of the statement */
	struct ts_error *err;
};

/* A word of the file, borrowed. */
struct grammar_word {
	const char *text;
	size_t len;
};

/*
 * Advance to the next statement: a line that begins with a word, and the lines after it that begin with a
 * blank.
 * Returns false at the end of the file.
 */
bool grammar_scan_statement(struct grammar_scan *s);

/* Skip blanks.  Returns false at the end of the statement. */
bool grammar_scan_blanks(struct grammar_scan *s);

/*
 * Returns the next word, which ends at a blank or at one of the characters of @stop; an empty word at the end
 * of the statement.
 */
struct grammar_word grammar_scan_word(struct grammar_scan *s, const char *stop);

/* Returns the rest of the statement's line, without leading and trailing blanks. */
struct grammar_word grammar_scan_rest(struct grammar_scan *s);

/* Is @w the word @text? */
bool grammar_word_is(struct grammar_word w, const char *text);

/* Set s->err (TS_EUSAGE) to the sentence, with the line and the column of offset @at.  Returns false. */
bool grammar_scan_fail(struct grammar_scan *s, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Set *line and *column to the line and the column of offset @at, counted from 1. */
void grammar_scan_place(const struct grammar_scan *s, size_t at, uint16_t *line, uint16_t *column);

/* Returns the line of offset @at, counted from 1. */
unsigned grammar_scan_line(const struct grammar_scan *s, size_t at);

#endif
