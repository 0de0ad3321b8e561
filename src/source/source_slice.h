/* SPDX-License-Identifier: MIT */
/*
 * A part of another source, as a source.
 */
#ifndef TS_SOURCE_SLICE_H
#define TS_SOURCE_SLICE_H

#include "source.h"

/*
 * The @len bytes from @off of @src, all before its end.  Takes ownership of @src, also on failure.  @name is the name
 * of the new source; its time is that of @src.
 *
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_source *ts_part_open(struct ts_source *src, uint64_t off, uint64_t len, const char *name,
			       struct ts_error *err);

#endif
