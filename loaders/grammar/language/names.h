/* SPDX-License-Identifier: MIT */
/*
 * The names of registers in text traces.
 */
#ifndef LOADERS_GRAMMAR_NAMES_H
#define LOADERS_GRAMMAR_NAMES_H

#include <stdbool.h>

#include "grammar.h"
#include "loaders/kit/regmap.h"
#include "src/base/error.h"

/*
 * Fill @map with the names of the registers of @set: the grammar's, gdb's, and the usual names of the
 * processor.
 *
 * Returns false if the grammar has too many names (TS_EUSAGE).
 * Returns false if the grammar names a register that the processor does not have (TS_EUSAGE).
 */
bool grammar_names(struct regmap *map, const struct grammar *g, const struct ts_regset *set,
		   struct ts_error *err);

/* Does the grammar ignore the name of @len bytes?  For names that are not in the map. */
bool grammar_ignores(const struct grammar *g, const char *name, size_t len);

#endif
