/* SPDX-License-Identifier: MIT */
/*
 * The verbs threads, processes, modules and maps: their state at a position, or in a range of positions.
 */
#ifndef TS_ASK_WORLD_H
#define TS_ASK_WORLD_H

struct ts_verb;

extern const struct ts_verb ts_verb_threads;
extern const struct ts_verb ts_verb_processes;
extern const struct ts_verb ts_verb_modules;
extern const struct ts_verb ts_verb_maps;

#endif
