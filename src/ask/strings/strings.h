/* SPDX-License-Identifier: MIT */
/*
 * The verb strings: texts that stood in memory when a step read or wrote them.
 */
#ifndef TS_ASK_STRINGS_H
#define TS_ASK_STRINGS_H

struct ts_verb;

extern const struct ts_verb ts_verb_strings;

#endif
