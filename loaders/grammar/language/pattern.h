/* SPDX-License-Identifier: MIT */
/*
 * The parser of patterns, for compile.c.  All functions return false (TS_EUSAGE) with the line, the column
 * and a sentence in s->err.
 */
#ifndef LOADERS_GRAMMAR_PATTERN_H
#define LOADERS_GRAMMAR_PATTERN_H

#include "grammar.h"
#include "scan.h"

/*
 * Copy @len bytes to the texts of the grammar.  *place is set to their offset there.  @at is their offset in
 * the grammar's file, for messages.
 *
 * Returns false if the texts are full.
 */
bool grammar_text(struct grammar *g, struct grammar_scan *s, size_t at, const char *text, size_t len,
		  uint32_t *place);

/*
 * Parse a literal in quotes, which begins at the next character and may contain \" \\ and \t.  *place and
 * *len are set to its place in the texts of the grammar.
 *
 * Returns false if the literal is malformed.
 */
bool grammar_literal(struct grammar *g, struct grammar_scan *s, uint32_t *place, uint32_t *len);

/*
 * Set *list to the ordinal of the item list called @name, which is added if it is new.
 *
 * Returns false if there are too many lists.
 */
bool grammar_list_find(struct grammar *g, struct grammar_scan *s, size_t at, struct grammar_word name,
		       unsigned *list);

/*
 * Parse the patterns of a statement, separated by "|".  @list is the list of items, for GRAMMAR_ITEM.
 *
 * Returns false if a pattern is malformed.
 * Returns false if there are too many.
 */
bool grammar_patterns(struct grammar *g, struct grammar_scan *s, enum grammar_kind kind, unsigned list);

/*
 * Complete the grammar after the last pattern: compute follow sets and first bytes, and check that nothing is
 * missing.
 *
 * Returns false if something is missing.
 */
bool grammar_patterns_done(struct grammar *g, struct grammar_scan *s);

#endif
