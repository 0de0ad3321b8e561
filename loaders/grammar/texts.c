/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "loaders/grammar/language/grammar.h"

const struct grammar_text *grammar_find(const char *name)
{
	for (const struct grammar_text *t = grammar_texts; t->name; t++) {
		if (!strcmp(t->name, name))
			return t;
	}
	return NULL;
}
