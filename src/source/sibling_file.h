/* SPDX-License-Identifier: MIT */
/*
 * The files of a recording in the same folder as the opened one, on disk or in the same packed recording.
 */
#ifndef TS_TRACE_SIBLING_FILE_H
#define TS_TRACE_SIBLING_FILE_H

#include "source.h"

/*
 * Open the file @file in the folder of @src, for recordings of several files.  @file is a plain name;
 * it may come from the trace.  A symbolic link is not followed, because the user did not name its target.
 *
 * Returns NULL as ts_source_open() does, a symbolic link being one that cannot be opened, or if @file is not
 * a plain name (TS_ECORRUPT) or @src has no directory (TS_EUNSUPPORTED: memory, a pipe).
 */
struct ts_source *ts_source_open_beside(const struct ts_source *src, const char *file, struct ts_error *err);

#endif
