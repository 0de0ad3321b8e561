/* SPDX-License-Identifier: MIT */
/*
 * The lines of a function's source, with how often each ran, and when it ran last in the pass before the position that is
 * asked from, and what it wrote then.
 *
 * It is not in the table of verbs: other doors have a debugger that shows the source.
 */
#ifndef TS_ASK_SOURCE_H
#define TS_ASK_SOURCE_H

#include "src/ask/verb.h"

extern const struct ts_verb ts_verb_source;

#endif
