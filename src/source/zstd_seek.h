/* SPDX-License-Identifier: MIT */
/*
 * Seekable zstd files, read in place.
 *
 * Such a file has many frames that are compressed independently, and a table of their lengths in a skippable frame
 * at the end (contrib/seekable_format in zstd).  Frames are decoded when they are needed, and cached.
 */
#ifndef TS_ZSTD_SEEK_H
#define TS_ZSTD_SEEK_H

#include "source.h"

/*
 * Returns a source with the unpacked bytes of @src, which takes ownership of @src.
 *
 * Returns NULL with *err unchanged, and without taking @src, if @src is no such file or its frames are too large to
 * be decoded for each question.  Returns NULL with *err set if @src cannot be read (TS_EIO) or memory is exhausted.
 */
struct ts_source *ts_zstd_seek_open(struct ts_source *src, struct ts_error *err);

#endif
