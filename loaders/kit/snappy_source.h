/* SPDX-License-Identifier: MIT */
/*
 * What the chunks of a snappy stream decode to, as a source: chunks that are read whole are decoded where
 * they are wanted, others are kept for the next reads.
 */
#ifndef LOADERS_SNAPPY_SOURCE_H
#define LOADERS_SNAPPY_SOURCE_H

#include "snappy.h"

/*
 * A source over the decoded stream of @frames, borrowed until close.  A read that meets a damaged chunk gives
 * the bytes before it, and fails with its file offset in the compressed file (TS_ECORRUPT).
 *
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_source *snappy_source_open(const struct snappy_frames *frames, struct ts_error *err);

#endif
