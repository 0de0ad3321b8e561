/* SPDX-License-Identifier: MIT */
/*
 * Trace frames as a trace file of gdb, which its `target tfile` opens without any other file.
 *
 * All register blocks of a file have the same size, and a file cannot mark a single register as unknown.  So
 * that an unknown register does not look like a zero, the blocks hold only the registers that are known in
 * every frame which has registers, and the file's target description numbers the others after them.
 * Registers that gdb has before its program counter or stack pointer cannot be left out, since gdb stops at
 * the first missing one: they are zeros where they are unknown, and the notes of the run say so.  The work is
 * done in slices, so that a server can do other work in between; its memory does not grow with the number
 * of frames.
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
 * Begin to write @frames to @path.  @tracing are the tracepoints, variables and status that go with them.
 * All but @path are borrowed until ts_export_free().
 *
 * Returns NULL if no file can be created in the directory of @path (TS_EIO), or memory is exhausted.
 */
struct ts_export *ts_export_new(struct ts_query *q, struct ts_frames *frames,
				const struct ts_tracing *tracing, const char *path, struct ts_error *err);

/* Discard a file that is not complete. */
void ts_export_free(struct ts_export *e);

/*
 * Work on about @n_frames frames.
 *
 * Returns TS_ITEM when there is more to do, TS_END when the file is complete, synced and renamed;
 * TS_FAIL if the trace cannot be read any more, the file cannot be written (TS_EIO), a frame is larger than a
 * file can have (TS_ELIMIT), or memory is exhausted.
 */
enum ts_next ts_export_run(struct ts_export *e, uint64_t n_frames, struct ts_error *err);

/* Returns the fraction that is done: 0 to 1. */
double ts_export_progress(const struct ts_export *e);

/*
 * After TS_END: append the names, each after a blank, of registers that some frame does not know: those that
 * were left out, or those that are zeros in such a frame.
 */
void ts_export_left_out(const struct ts_export *e, struct ts_buf *names);
void ts_export_zeros(const struct ts_export *e, struct ts_buf *names);

#endif
