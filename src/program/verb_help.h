/* SPDX-License-Identifier: MIT */
/* The output of `tracestub help VERB` and `tracestub help formats`, and the list of verbs of `tracestub query TRACE`. */
#ifndef TS_VERB_HELP_H
#define TS_VERB_HELP_H

#include <stdbool.h>
#include <stdio.h>

/* Print a line for each verb: its words, and its description. */
void ts_verb_help_list(FILE *out);

/* Print the page of the verb called @name, or of "formats" a line for each format.  Returns false for any other name. */
bool ts_verb_help_print(const char *name);

#endif
