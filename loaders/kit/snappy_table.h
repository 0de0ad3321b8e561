/* SPDX-License-Identifier: MIT */
/*
 * The table of a stream's chunks, without a scan where somebody has scanned it before: this process, for a
 * twin of the recording, or an earlier one, whose table the source's keeper has (src/trace/source.h).
 */
#ifndef LOADERS_SNAPPY_TABLE_H
#define LOADERS_SNAPPY_TABLE_H

#include "snappy.h"

/* Shorter tables are made anew faster than they are read. */
#define SNAPPY_TABLE_MIN_KEPT 4096u

/*
 * As snappy_frames_scan().  @like is the table of another recording, NULL if there is none; if it is of the same
 * source it is copied.  A table that the keeper had is believed as far as its chunks lie one after the other
 * within the file.
 */
bool snappy_table_open(struct snappy_frames *f, const struct ts_source *src, uint64_t off,
		       const struct snappy_frames *like, struct ts_error *err);

#endif
