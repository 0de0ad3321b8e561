/* SPDX-License-Identifier: MIT */
/*
 * The loaders of the built-in grammars.  Each grammar is a loader; they differ only in their names.
 */
#ifndef LOADERS_GRAMMAR_DIALECTS_H
#define LOADERS_GRAMMAR_DIALECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/grammar/language/grammar.h"
#include "log.h"
#include "loaders/loader.h"

/*
 * The functions of struct ts_loader: results, errors and owners are as ts_loader documents them.  grammar_probe() is for the
 * grammar called @name; the others are for the grammar with the name of the recording's format.
 */
unsigned grammar_probe(const char *name, const uint8_t *head, size_t len);
bool grammar_fill(struct ts_recording *base, const struct ts_source *src, const struct ts_loader_options *opt,
		  struct ts_error *err);
void grammar_close(struct ts_recording *base);
struct ts_reader *grammar_reader(struct ts_recording *base, struct ts_error *err);

/* The loader @id##_loader of the grammar called @name_. */
#define GRAMMAR_LOADER(id, name_, summary_, probe_)                                       \
	extern const struct ts_loader id##_loader;                                        \
	const struct ts_loader id##_loader = {                                            \
		.name = name_,                                                            \
		.summary = summary_,                                                      \
		.probe = probe_,                                                          \
		.has_thread_files = true,                                                 \
		.ops = { .size = sizeof(struct grammar_log), .reader = grammar_reader, .close = grammar_close },              \
		.fill = grammar_fill,                                                     \
	};

/* As above, for a built-in grammar; built_in_loaders.c has one for each. */
#define GRAMMAR_DIALECT(id, name_, summary_)                                              \
	static unsigned probe_##id(const uint8_t *head, size_t len, uint64_t file_len)    \
	{                                                                                 \
		(void)file_len;                                                           \
		return grammar_probe(name_, head, len);                                   \
	}                                                                                 \
	GRAMMAR_LOADER(id, name_, summary_, probe_##id)

#endif
