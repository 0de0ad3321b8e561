/* SPDX-License-Identifier: MIT */
/*
 * Several text files as one source: one after the other, with a newline after each.
 */
#ifndef LOADERS_KIT_JOINED_H
#define LOADERS_KIT_JOINED_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/source/source.h"

/*
 * @first and then @others, @n of them, which are borrowed until the source is closed with ts_source_close().  The
 * newline after file i is at offset ends[i]; @ends has room for n + 1.
 *
 * Returns NULL if memory is exhausted (TS_ENOMEM), or the files together have more than 2^63 bytes (TS_ELIMIT).
 */
struct ts_source *kit_joined_new(const struct ts_source *first, const struct ts_source *const *others, size_t n,
				 uint64_t *ends, struct ts_error *err);

#endif
