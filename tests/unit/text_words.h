/* SPDX-License-Identifier: MIT */
/*
 * Words of lines that traces are written as in tests; the test fails at one that is not understood.
 */
#ifndef TS_TESTS_TEXT_WORDS_H
#define TS_TESTS_TEXT_WORDS_H

#include <stdint.h>

#include "src/base/collections/buf.h"

/* Call @put for every line of @text with a copy that it may change. */
void text_lines(const char *text, void (*put)(void *arg, char *line), void *arg);

/* The next word of a line, "" at its end.  *rest begins as the line. */
char *text_word(char **rest);

/* A number in hexadecimal, which is all of @word. */
uint64_t text_hex(const char *word);

/* Append bytes written in hexadecimal, up to the end of @word, a "-" or a "!". */
void text_bytes(struct ts_buf *b, const char *word);

#endif
