/* SPDX-License-Identifier: MIT */
#include "dialects.h"

/* By its own grammar, which only the user can name. */
static unsigned probe_nothing(const uint8_t *, size_t, uint64_t)
{
	return 0;
}

GRAMMAR_LOADER(grammar, "grammar", "text traces by the grammar of --grammar", probe_nothing)
