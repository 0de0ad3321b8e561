/* SPDX-License-Identifier: MIT */
/*
 * The frames of a trace file.
 */
#ifndef LOADERS_TFILE_FRAMES_H
#define LOADERS_TFILE_FRAMES_H

#include "trace.h"

/*
 * Find all frames; the byte order is known.
 *
 * Returns false if the file cannot be read or memory is exhausted.  Damage is noted in t->damage.
 */
bool tfile_find_frames(struct tfile *t, struct ts_error *err);

/* A score of how well the frames make sense in this byte order; higher is better. */
unsigned tfile_rate_order(const struct tfile *t, bool is_big_endian);

/*
 * Do the blocks of the first frames fill them, with registers of @reg_len bytes?  @err is set if the frames
 * could not be read.
 */
bool tfile_fits(struct tfile *t, uint64_t reg_len, struct ts_error *err);

/* Sort t->places by tracepoint.  Returns false if memory is exhausted. */
bool tfile_sort_frames(struct tfile *t, struct ts_error *err);

/*
 * Read frame @n.  Blocks from the first impossible one on are ignored; a warning says so once.
 *
 * Returns false if the file cannot be read any more or memory is exhausted.
 */
bool tfile_load(struct tfile *t, uint64_t n, struct tfile_frame *f, struct ts_error *err);
void tfile_frame_fini(struct tfile_frame *f);

/* Set the functions of t->frames. */
void tfile_init_frames(struct tfile *t);

#endif
