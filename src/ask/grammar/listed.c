/* SPDX-License-Identifier: MIT */
#include "listed.h"

#include <string.h>

const char *const ts_listed_names[TS_N_LISTED] = {
	[TS_LISTED_SYSCALL] = "syscall",
	[TS_LISTED_SIGNAL] = "signal",
	[TS_LISTED_FAULT] = "fault",
	[TS_LISTED_INTERRUPT] = "interrupt",
	[TS_LISTED_THREAD_START] = "thread-start",
	[TS_LISTED_THREAD_END] = "thread-end",
	[TS_LISTED_MODULE] = "module",
	[TS_LISTED_MODULE_END] = "module",
	[TS_LISTED_MAP] = "map",
	[TS_LISTED_UNMAP] = "unmap",
	[TS_LISTED_GAP] = "gap",
	[TS_LISTED_EXIT] = "exit",
};

const char *const ts_event_plurals[TS_N_EVENT_KINDS] = {
	[TS_EV_SYSCALL] = "system calls",
	[TS_EV_SIGNAL] = "signals",
	[TS_EV_FAULT] = "faults",
	[TS_EV_EXIT] = "exits",
	[TS_EV_GAP] = "gaps",
	[TS_EV_INTERRUPT] = "interrupts",
	[TS_EV_THREAD_END] = "the ends of threads",
};

bool ts_listed_is_name(const char *name, size_t len)
{
	for (unsigned i = 0; i < TS_N_LISTED; i++) {
		if (strlen(ts_listed_names[i]) == len && !memcmp(ts_listed_names[i], name, len))
			return true;
	}
	return false;
}
