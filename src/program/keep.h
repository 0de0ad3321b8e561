/* SPDX-License-Identifier: MIT */
/*
 * A timeline with the index file that belongs to its trace: found and used, or begun.
 */
#ifndef TS_KEEP_H
#define TS_KEEP_H

#include <stdbool.h>

#include "cli.h"
#include "src/timeline/timeline.h"
#include "src/trace/source.h"

/*
 * A timeline over @rec, which reads the trace @src with the options of @cli.  What an index file already has
 * needs not be read; what is missing goes to one, if the trace is large or @cli asks for it.  The log says
 * what is wrong with files.
 *
 * Returns NULL on failure.  If *is_bad_file is set then a file was to blame, which is gone now: @rec is to be
 * closed, and all done once more.
 */
struct ts_timeline *ts_keep_timeline(struct ts_recording *rec, struct ts_image *image,
				     const struct ts_source *src, const struct ts_cli *cli, bool *is_bad_file,
				     struct ts_error *err);

/* The recording has been read: say if its index could not be written. */
void ts_keep_report(const struct ts_timeline *tl);

/*
 * Say on stdout where the index of @tl is, and what it costs.
 *
 * Returns false if it is nowhere, or stdout cannot be written.
 */
bool ts_keep_show(const struct ts_timeline *tl, struct ts_error *err);

#endif
