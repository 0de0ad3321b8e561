/* SPDX-License-Identifier: MIT */
/*
 * The source lines of a function, with the number of executions of each, and its last execution in the pass before the
 * question's position with the values that it wrote.
 *
 * It is not in the table of verbs, because other clients have a debugger that shows the source.
 */
#ifndef TS_ASK_SOURCE_H
#define TS_ASK_SOURCE_H

#include "src/ask/verb.h"

extern const struct ts_verb ts_verb_source;

#endif
