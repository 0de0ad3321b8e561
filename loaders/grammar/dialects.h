/* SPDX-License-Identifier: MIT */
/*
 * Each grammar that tracestub has is a loader: they share everything but the name.
 */
#ifndef LOADERS_GRAMMAR_DIALECTS_H
#define LOADERS_GRAMMAR_DIALECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grammar.h"
#include "loaders/loader.h"

/* Returns the built-in grammar with the name @name, NULL if no grammar has it. */
const struct grammar_text *grammar_find(const char *name);

/* What struct ts_loader describes, of the grammar called @name or, of opening, called as the recording's format. */
unsigned grammar_probe(const char *name, const uint8_t *head, size_t len);
bool grammar_fill(struct ts_recording *base, const struct ts_source *src, const struct ts_loader_options *opt,
		  struct ts_error *err);
void grammar_close(struct ts_recording *base);
struct ts_reader *grammar_reader(struct ts_recording *base, struct ts_error *err);

#endif
