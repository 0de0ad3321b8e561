/* SPDX-License-Identifier: MIT */
/*
 * The verb strings: texts in memory that a step read or wrote.
 */
#ifndef TS_ASK_STRINGS_H
#define TS_ASK_STRINGS_H

struct ts_verb;

extern const struct ts_verb ts_verb_strings;

#endif
