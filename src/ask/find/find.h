/* SPDX-License-Identifier: MIT */
/*
 * The verb find: the places and times at which memory holds a value.
 */
#ifndef TS_ASK_FIND_H
#define TS_ASK_FIND_H

struct ts_verb;

extern const struct ts_verb ts_verb_find_value;

#endif
