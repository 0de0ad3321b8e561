/* SPDX-License-Identifier: MIT */
/*
 * The table of verbs, in the order of the manual.
 */
#include <string.h>

#include "verbs.h"

static const struct ts_verb *const verbs[] = {
	&ts_verb_history,
	&ts_verb_accesses,
	&ts_verb_last_write,
	&ts_verb_last_read,
	&ts_verb_last_access,
	&ts_verb_last_change,
	&ts_verb_last_exec,
	&ts_verb_next_write,
	&ts_verb_next_read,
	&ts_verb_next_access,
	&ts_verb_next_change,
	&ts_verb_next_exec,
	&ts_verb_executions,
	&ts_verb_calls,
	&ts_verb_stack,
	&ts_verb_why,
	&ts_verb_flows,
	&ts_verb_events,
	&ts_verb_threads,
	&ts_verb_processes,
	&ts_verb_modules,
	&ts_verb_maps,
	&ts_verb_steps,
	&ts_verb_compares,
	&ts_verb_memory,
	&ts_verb_registers,
	&ts_verb_unexplained,
	&ts_verb_find_value,
	&ts_verb_strings,
	&ts_verb_hot,
	&ts_verb_coverage,
	&ts_verb_when,
	&ts_verb_goto,
	&ts_verb_back,
	&ts_verb_forward,
	&ts_verb_mark,
	&ts_verb_marks,
	&ts_verb_unmark,
};

const struct ts_verb *ts_verb_find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strlen(verbs[i]->name) == len && !memcmp(verbs[i]->name, name, len))
			return verbs[i];
	}
	return NULL;
}

const struct ts_verb *const *ts_verbs(size_t *n)
{
	*n = sizeof(verbs) / sizeof(verbs[0]);
	return verbs;
}
