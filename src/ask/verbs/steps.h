/* SPDX-License-Identifier: MIT */
/* The verb steps: a row for each executed step. */
#ifndef TS_ASK_STEPS_H
#define TS_ASK_STEPS_H

struct ts_verb;

extern const struct ts_verb ts_verb_steps;

#endif
