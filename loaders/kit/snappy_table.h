/* SPDX-License-Identifier: MIT */
/*
 * The table of a stream's chunks, without a scan where somebody has scanned it before: this process, for a
 * twin of the recording, or an earlier one, whose table the source's keeper has (src/source/source.h).
 */
#ifndef LOADERS_SNAPPY_TABLE_H
#define LOADERS_SNAPPY_TABLE_H

#include "snappy.h"

/* Shorter tables are made anew faster than they are read. */
#define SNAPPY_TABLE_MIN_KEPT 4096u

/*
 * As snappy_frames_scan().  @like is the table of another recording, or NULL; it is copied if its source is
 * @src. A table from the keeper is used only if its chunks follow each other and lie within the file;
 * otherwise the headers are scanned.
 */
bool snappy_table_open(struct snappy_frames *f, const struct ts_source *src, uint64_t off,
		       const struct snappy_frames *like, struct ts_error *err);

#endif
