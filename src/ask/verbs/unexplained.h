/* SPDX-License-Identifier: MIT */
/* The verb unexplained: changes of memory that no recorded write explains. */
#ifndef TS_ASK_UNEXPLAINED_H
#define TS_ASK_UNEXPLAINED_H

struct ts_verb;

extern const struct ts_verb ts_verb_unexplained;

#endif
