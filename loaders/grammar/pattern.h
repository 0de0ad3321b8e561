/* SPDX-License-Identifier: MIT */
/*
 * The language of patterns, for compile.c.  All functions fail with line, column and sentence.
 */
#ifndef LOADERS_GRAMMAR_PATTERN_H
#define LOADERS_GRAMMAR_PATTERN_H

#include "grammar.h"
#include "scan.h"

/* Keep a copy of @len bytes in the grammar; @at is where they are in the file, for messages. */
bool grammar_text(struct grammar *g, struct grammar_scan *s, size_t at, const char *text, size_t len,
		  uint32_t *place);

/* A literal in quotes, which begins at the next character; \" \\ and \t are characters of it. */
bool grammar_literal(struct grammar *g, struct grammar_scan *s, uint32_t *place, uint32_t *len);

/* The ordinal of the item list called @name, which is added if it is new. */
bool grammar_list_find(struct grammar *g, struct grammar_scan *s, size_t at, struct grammar_word name,
		       unsigned *list);

/* The patterns of a statement, with "|" between them; of items, those of @list. */
bool grammar_patterns(struct grammar *g, struct grammar_scan *s, enum grammar_kind kind, unsigned list);

/* When all patterns are there: what follows texts and lists, first bytes, and what the grammar lacks. */
bool grammar_patterns_done(struct grammar *g, struct grammar_scan *s);

#endif
