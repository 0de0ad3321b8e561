/* SPDX-License-Identifier: MIT */
/*
 * A patch: records of an index file that were built again, to take the place of those that were damaged.
 */
#ifndef TS_INDEX_PATCH_H
#define TS_INDEX_PATCH_H

#include "index_file.h"

/*
 * A file that begins with the records of @f before the first one in which damage was found, at most @max of them,
 * to be continued with those that are built again; it is removed when it is closed.  @f may be read, and mended, by
 * another thread meanwhile.
 *
 * Returns NULL as ts_index_create() does.
 */
struct ts_index_file *ts_index_create_patch(const struct ts_index_file *f, size_t max, struct ts_error *err);

/*
 * Write the records of @patch that were built again over those of @f in which damage was found, on disk.  A
 * record that is not the same is left, and what cannot be written; the log says so.  @f may be read by
 * another thread meanwhile.
 */
void ts_index_write_back(const struct ts_index_file *f, const struct ts_index_file *patch);

/*
 * Put them in place of those of @f in memory.  @patch may be closed afterwards.
 *
 * Returns true if no damage is left; false if @patch does not have a record yet, or not the same one.
 */
bool ts_index_mend(struct ts_index_file *f, const struct ts_index_file *patch);

/* The first record from @i on in which damage was found; the number of records if there is none. */
size_t ts_index_next_damaged(const struct ts_index_file *f, size_t i);

#endif
