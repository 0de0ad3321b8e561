/* SPDX-License-Identifier: MIT */
/*
 * Writes seekable zstd files, which zstd_frames.h reads in place and every zstd decoder decodes.
 */
#ifndef TS_ZSTD_WRITE_H
#define TS_ZSTD_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/atomic_file.h"
#include "src/base/buf.h"
#include "src/base/error.h"

struct ts_zstd_writer {
	struct ts_atomic_file *file; /* borrowed */
	struct ZSTD_CCtx_s *zstd;    /* owned */
	uint8_t *frame;              /* owned; the bytes of the next frame */
	size_t len;                  /* their number */
	uint8_t *packed;             /* owned; the frame compressed */
	size_t packed_cap;
	struct ts_buf table; /* entries of the frames so far */
	uint32_t n_frames;
	uint64_t n_in, n_out; /* bytes taken, and written to the file */
};

/*
 * Begin to write; compressed data is appended to @file (borrowed).
 *
 * Returns false if memory is exhausted (TS_ENOMEM).  ts_zstd_writer_fini() must be called either way.
 */
bool ts_zstd_writer_init(struct ts_zstd_writer *w, struct ts_atomic_file *file, struct ts_error *err);
void ts_zstd_writer_fini(struct ts_zstd_writer *w);

/*
 * Append.
 *
 * Returns false if it cannot be written (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_zstd_writer_add(struct ts_zstd_writer *w, const void *bytes, size_t len, struct ts_error *err);

/*
 * End the frame, so that later bytes can be read without earlier ones.
 *
 * Returns false if the file cannot be written (TS_EIO).
 * Returns false if the file would have too many frames (TS_ELIMIT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_zstd_writer_end_frame(struct ts_zstd_writer *w, struct ts_error *err);

/*
 * Write the last frame and the table.
 *
 * Returns false if the file cannot be written (TS_EIO), or if memory is exhausted (TS_ENOMEM).
 */
bool ts_zstd_writer_finish(struct ts_zstd_writer *w, struct ts_error *err);

#endif
