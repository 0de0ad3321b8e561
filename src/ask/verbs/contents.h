/* SPDX-License-Identifier: MIT */
/*
 * The verbs memory and registers: the contents of memory and registers at a position.
 */
#ifndef TS_ASK_CONTENTS_H
#define TS_ASK_CONTENTS_H

struct ts_verb;

extern const struct ts_verb ts_verb_memory;
extern const struct ts_verb ts_verb_registers;

#endif
