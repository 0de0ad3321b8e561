/* SPDX-License-Identifier: MIT */
/*
 * Frames into steps.
 */
#ifndef LOADERS_TFILE_READER_H
#define LOADERS_TFILE_READER_H

#include "trace.h"

/*
 * Steps of the recording: one for each frame, but at least one.  The last one leads nowhere: it is there for
 * its pc, and the recording ends before it.
 */
static inline uint64_t tfile_n_steps(const struct tfile *t)
{
	return t->frames.n_frames ? t->frames.n_frames : 1;
}

struct ts_reader *tfile_reader(struct ts_recording *rec, struct ts_error *err);

/* Append to @out the effects that lead from frame @from (NULL: nothing is known) to @to. */
void tfile_put_change(const struct tfile *t, const struct tfile_frame *from, const struct tfile_frame *to,
		      struct ts_steps *out);

#endif
