/* SPDX-License-Identifier: MIT */
/*
 * The kinds of events that questions list: the model's events, and events that are derived from threads, modules
 * and regions.
 */
#ifndef TS_ASK_LISTED_H
#define TS_ASK_LISTED_H

#include <stdbool.h>
#include <stddef.h>

#include "src/trace/step.h"

/* In the order in which the events of one step are listed. */
enum ts_listed {
	TS_LISTED_SYSCALL,
	TS_LISTED_SIGNAL,
	TS_LISTED_FAULT,
	TS_LISTED_INTERRUPT,
	TS_LISTED_THREAD_START,
	TS_LISTED_THREAD_END,
	TS_LISTED_MODULE,
	TS_LISTED_MODULE_END,
	TS_LISTED_MAP,
	TS_LISTED_UNMAP,
	TS_LISTED_GAP,
	TS_LISTED_EXIT,
	TS_N_LISTED,
};

/* The names in questions, by kind; TS_LISTED_MODULE and TS_LISTED_MODULE_END have the same name. */
extern const char *const ts_listed_names[TS_N_LISTED];

/* The names of the events of each kind in sentences: "system calls". */
extern const char *const ts_event_plurals[TS_N_EVENT_KINDS];

/* Is it the name of a kind of events? */
bool ts_listed_is_name(const char *name, size_t len);

#endif
