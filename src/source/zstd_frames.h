/* SPDX-License-Identifier: MIT */
/*
 * A seekable zstd file has many frames that are compressed independently, and a table of their lengths in a skippable
 * frame at the end (contrib/seekable_format in zstd).  This is the table and a cache of decoded frames.  All sources of the
 * file share them, on all threads, so that the cache does not grow with the number of sources, which a packed recording
 * determines.
 */
#ifndef TS_ZSTD_FRAMES_H
#define TS_ZSTD_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"

/* The limits of the cache, in bytes and in frames. */
#define TS_ZSTD_MAX_KEPT_LEN (UINT64_C(64) << 20)
#define TS_ZSTD_MAX_KEPT     64u

struct ts_zstd_frames;

/*
 * Read the table of @src, which is not needed afterwards.
 *
 * Returns the frames, which the caller releases with ts_zstd_frames_release().
 * Returns NULL with *err unchanged if @src is no such file or its frames are too large to be decoded for each
 * question.
 * Returns NULL with *err set if @src cannot be read (TS_EIO).
 * Returns NULL with *err set if memory is exhausted (TS_ENOMEM).
 */
struct ts_zstd_frames *ts_zstd_frames_open(const struct ts_source *src, struct ts_error *err);

/* One more owner of @f, which is returned. */
struct ts_zstd_frames *ts_zstd_frames_share(struct ts_zstd_frames *f);

/* Remove one owner, and free the frames after the last one; NULL is ignored. */
void ts_zstd_frames_release(struct ts_zstd_frames *f);

/* The total number of decoded bytes. */
uint64_t ts_zstd_frames_len(const struct ts_zstd_frames *f);

/*
 * Copy @len decoded bytes from @off on, all before the end; @src is a source of the compressed file.
 *
 * *n is set to the number of copied bytes.
 *
 * Returns false if a frame cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if a frame is damaged (TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_zstd_frames_read(struct ts_zstd_frames *f, const struct ts_source *src, uint64_t off, uint8_t *out,
			 size_t len, size_t *n, struct ts_error *err);

/* The number of cached bytes; for tests. */
uint64_t ts_zstd_frames_kept(struct ts_zstd_frames *f);

/*
 * Returns a source with the unpacked bytes of @src, which takes ownership of @src.
 *
 * Returns NULL with *err unchanged, and without taking @src, if @src is no such file or its frames are too
 * large to be decoded for each question.
 * Returns NULL with *err set if @src cannot be read (TS_EIO).
 * Returns NULL with *err set if memory is exhausted (TS_ENOMEM).
 */
struct ts_source *ts_zstd_seek_open(struct ts_source *src, struct ts_error *err);

#endif
