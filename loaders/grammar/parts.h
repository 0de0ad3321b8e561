/* SPDX-License-Identifier: MIT */
/*
 * The files of a text trace: one, or one for each thread, one after the other.
 */
#ifndef LOADERS_GRAMMAR_PARTS_H
#define LOADERS_GRAMMAR_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/source/source.h"

/* So many threads a file may have, where its lines tell them, too. */
#define GRAMMAR_PART_THREADS 4096u

struct grammar_parts {
	struct ts_source *joined; /* owned; NULL: it is one file */
	const char **names;       /* owned; of the files, which are borrowed; NULL: it is one file */
	uint64_t *ends;           /* owned; of the newline after each file in the joined ones */
	uint32_t n;               /* at least 1 */
};

/*
 * The files @src and @others, @n of them, borrowed until grammar_parts_fini().
 *
 * Returns the source to read, borrowed; NULL if there are too many (TS_ELIMIT), or memory is exhausted (TS_ENOMEM).
 */
const struct ts_source *grammar_parts_init(struct grammar_parts *p, const struct ts_source *src,
					   const struct ts_source *const *others, size_t n, struct ts_error *err);
void grammar_parts_fini(struct grammar_parts *p);

/* The ordinal of the file that has the byte at @off. */
uint32_t grammar_part_at(const struct grammar_parts *p, uint64_t off);

/* Offset of the first byte of the file of ordinal @part. */
uint64_t grammar_part_begin(const struct grammar_parts *p, uint32_t part);

/* Returns true if the byte at @off is the newline inserted after a file. */
bool grammar_part_ends(const struct grammar_parts *p, uint64_t off);

#endif
