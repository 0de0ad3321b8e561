/* SPDX-License-Identifier: MIT */
/*
 * The verb events: system calls, signals, threads, modules, maps and other events.
 */
#ifndef TS_ASK_EVENTS_H
#define TS_ASK_EVENTS_H

struct ts_verb;

extern const struct ts_verb ts_verb_events;

#endif
