/* SPDX-License-Identifier: MIT */
/* What `tracestub help VERB` says, and the list of verbs of `tracestub query TRACE`. */
#ifndef TS_VERB_HELP_H
#define TS_VERB_HELP_H

#include <stdbool.h>
#include <stdio.h>

/* A line for each verb: its words, and what it does. */
void ts_verb_help_list(FILE *out);

/* The page of the verb called @name on stdout.  Returns false if there is none. */
bool ts_verb_help_print(const char *name);

#endif
