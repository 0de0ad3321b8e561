/* SPDX-License-Identifier: MIT */
/*
 * The verb find: where and when a value stands in memory.
 */
#ifndef TS_ASK_FIND_H
#define TS_ASK_FIND_H

struct ts_verb;

extern const struct ts_verb ts_verb_find_value;

#endif
