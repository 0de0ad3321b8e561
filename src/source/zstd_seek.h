/* SPDX-License-Identifier: MIT */
/*
 * Seekable zstd files, read in place.
 *
 * Such a file is many frames, each compressed for itself, and a table of their lengths in a skippable frame
 * at the end (contrib/seekable_format in zstd).  The frames that are asked for are decoded, and the last ones
 * kept.
 */
#ifndef TS_ZSTD_SEEK_H
#define TS_ZSTD_SEEK_H

#include "source.h"

/*
 * The unpacked bytes of @src, which is taken: closed with the source that is returned.
 *
 * Returns NULL with *err untouched, and @src left alone, if it is no such file or its frames are too large to
 * be decoded for each question.  Returns NULL if it cannot be read (TS_EIO) or memory is exhausted.
 */
struct ts_source *ts_zstd_seek_open(struct ts_source *src, struct ts_error *err);

#endif
