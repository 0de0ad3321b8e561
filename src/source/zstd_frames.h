/* SPDX-License-Identifier: MIT */
/*
 * The frames of a seekable zstd file: its table, and the frames that were decoded last.  All sources of the
 * file share them, on whichever threads they are read, so that what they keep does not grow with their
 * number, which a packed recording chooses.
 */
#ifndef TS_ZSTD_FRAMES_H
#define TS_ZSTD_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"

/* No more bytes than these are kept, in no more frames. */
#define TS_ZSTD_MAX_KEPT_LEN (UINT64_C(64) << 20)
#define TS_ZSTD_MAX_KEPT     64u

struct ts_zstd_frames;

/*
 * Read the table of @src, which is not needed any more afterwards.
 *
 * Returns the frames, to be released with ts_zstd_frames_release().  Returns NULL with *err untouched if it
 * is no such file or its frames are too large to be decoded for each question.  Returns NULL if it cannot be
 * read (TS_EIO) or memory is exhausted.
 */
struct ts_zstd_frames *ts_zstd_frames_open(const struct ts_source *src, struct ts_error *err);

/* One more owner of @f, which is returned. */
struct ts_zstd_frames *ts_zstd_frames_share(struct ts_zstd_frames *f);

/* By the last owner they are freed; NULL is ignored. */
void ts_zstd_frames_release(struct ts_zstd_frames *f);

/* The decoded bytes of all. */
uint64_t ts_zstd_frames_len(const struct ts_zstd_frames *f);

/*
 * Copy @len decoded bytes from @off on, all of which there are; @src is a source of the compressed file.
 *
 * *n gets how many were copied.  Returns false if a frame cannot be read (TS_EIO, TS_ETRUNC), is damaged
 * (TS_ECORRUPT), or memory is exhausted.
 */
bool ts_zstd_frames_read(struct ts_zstd_frames *f, const struct ts_source *src, uint64_t off, uint8_t *out,
			 size_t len, size_t *n, struct ts_error *err);

/* How many bytes are kept now; for tests. */
uint64_t ts_zstd_frames_kept(struct ts_zstd_frames *f);

#endif
