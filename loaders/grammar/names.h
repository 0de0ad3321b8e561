/* SPDX-License-Identifier: MIT */
/*
 * The names that text traces have for registers.
 */
#ifndef LOADERS_GRAMMAR_NAMES_H
#define LOADERS_GRAMMAR_NAMES_H

#include <stdbool.h>

#include "grammar.h"
#include "loaders/kit/regmap.h"
#include "src/base/error.h"

/*
 * Fill @map with the names of the registers of @set: those of the grammar, gdb's, and those that are usual for
 * the processor.
 *
 * Returns false if the grammar has too many names, or one of a register that the processor lacks (TS_EUSAGE).
 */
bool grammar_names(struct regmap *map, const struct grammar *g, const struct ts_regset *set,
		   struct ts_error *err);

/* Is the name of @len bytes, which the map lacks, one that the grammar ignores? */
bool grammar_ignores(const struct grammar *g, const char *name, size_t len);

#endif
