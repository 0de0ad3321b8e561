/* SPDX-License-Identifier: MIT */
/*
 * Concatenates several text files into one source, with a newline after each.
 */
#ifndef LOADERS_KIT_JOINED_H
#define LOADERS_KIT_JOINED_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/source/source.h"

/*
 * A source of the file @first and then the @n files @others.  The files are borrowed until the source is
 * closed.  ends[i] is set to the offset of the newline after file i; @ends must have n + 1 elements.
 *
 * Returns the source, which the caller closes with ts_source_close().
 * Returns NULL if the files together have more than 2^63 bytes (TS_ELIMIT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_source *kit_joined_new(const struct ts_source *first, const struct ts_source *const *others, size_t n,
				 uint64_t *ends, struct ts_error *err);

#endif
