/* SPDX-License-Identifier: MIT */
/*
 * The verbs mark, marks and unmark.
 */
#ifndef TS_ASK_BOOKMARKS_H
#define TS_ASK_BOOKMARKS_H

struct ts_verb;

extern const struct ts_verb ts_verb_mark;
extern const struct ts_verb ts_verb_marks;
extern const struct ts_verb ts_verb_unmark;

#endif
