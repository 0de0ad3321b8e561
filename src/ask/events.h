/* SPDX-License-Identifier: MIT */
/*
 * The verb events: what happened besides instructions.
 */
#ifndef TS_ASK_EVENTS_H
#define TS_ASK_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

struct ts_verb;

extern const struct ts_verb ts_verb_events;

/* Is it the name of a kind of events? */
bool ts_events_is_kind(const char *name, size_t len);

#endif
