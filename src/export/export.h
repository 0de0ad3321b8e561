/* SPDX-License-Identifier: MIT */
/*
 * Trace frames as a trace file of gdb, which its `target tfile` opens without any other file.
 *
 * All register blocks of a file have the same size, and a file cannot mark a single register as unknown.  An
 * unknown register must not look like a zero.  The blocks therefore contain only the registers that are known
 * in every frame with registers, and the file's target description numbers the other registers after them.
 * gdb stops at the first missing register, so that registers before its program counter or stack pointer
 * cannot be omitted: if they are unknown they are zeros, and the notes of the run say so.  The work is done
 * in slices, so that a server can do other work in between.  The memory does not grow with the number of
 * frames.
 */
#ifndef TS_EXPORT_H
#define TS_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/error.h"
#include "src/base/next.h"
#include "src/frames/frames.h"
#include "src/frames/tracepoint.h"
#include "src/query/query.h"

struct ts_export;

/*
 * Begin to write @frames to @path.  @tracing has the tracepoints, variables and status of the same run.
 * All but @path are borrowed until ts_export_free().
 *
 * Returns the export, which the caller frees with ts_export_free().
 * Returns NULL if no file can be created in the directory of @path (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_export *ts_export_new(struct ts_query *q, struct ts_frames *frames,
				const struct ts_tracing *tracing, const char *path, struct ts_error *err);

/* Free the export and discard the file unless it is complete.  @e may be NULL. */
void ts_export_free(struct ts_export *e);

/*
 * Work on about @n_frames frames.
 *
 * Returns TS_MORE if there is more to do.
 * Returns TS_END if the file is complete, synced and renamed.
 * Returns TS_FAIL if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if the file cannot be written (TS_EIO).
 * Returns TS_FAIL if a frame or the number of a tracepoint is too large for the file format (TS_ELIMIT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_export_run(struct ts_export *e, uint64_t n_frames, struct ts_error *err);

/* Returns the fraction that is done: 0 to 1. */
double ts_export_progress(const struct ts_export *e);

/*
 * After TS_END: append the names, each after a blank, of the registers that are unknown in some frame.
 * ts_export_left_out() appends those that the file omits; ts_export_zeros() those that are zeros in such
 * frames.
 */
void ts_export_left_out(const struct ts_export *e, struct ts_buf *names);
void ts_export_zeros(const struct ts_export *e, struct ts_buf *names);

#endif
