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
	size_t at;        /* of the next character */
	size_t end;       /* of the statement */
	struct ts_error *err;
};

/* A word of the file, borrowed. */
struct grammar_word {
	const char *text;
	size_t len;
};

/*
 * Go to the next statement: a line that begins with a word, and the lines after it that begin with a blank.
 * Returns false at the end of the file.
 */
bool grammar_scan_statement(struct grammar_scan *s);

/* Pass over blanks.  Returns false at the end of the statement. */
bool grammar_scan_blanks(struct grammar_scan *s);

/* The next word, up to a blank or one of the characters of @stop; empty at the end of the statement. */
struct grammar_word grammar_scan_word(struct grammar_scan *s, const char *stop);

/* The rest of the statement's line, without blanks around it. */
struct grammar_word grammar_scan_rest(struct grammar_scan *s);

bool grammar_word_is(struct grammar_word w, const char *text);

/* Fail (TS_EUSAGE) with the line and column of the character @at.  Returns false. */
bool grammar_scan_fail(struct grammar_scan *s, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The line and the column of the character @at, from 1. */
void grammar_scan_place(const struct grammar_scan *s, size_t at, uint16_t *line, uint16_t *column);

/* The line alone. */
unsigned grammar_scan_line(const struct grammar_scan *s, size_t at);

#endif
