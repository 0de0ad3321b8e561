/* SPDX-License-Identifier: MIT */
/*
 * A missing optional section of a finished timeline, built alone by one more pass over the trace.
 *
 * An index file that another version made may lack an optional section (section.h).  A backfill builds the same
 * section as a complete indexing would have.  It saves the section in a separate file beside the index, PATH.NAME,
 * which ts_timeline_use_file() finds later.  The index file itself does not change.
 */
#ifndef TS_BACKFILL_H
#define TS_BACKFILL_H

#include <stdint.h>

#include "src/timeline/file/section.h"
#include "src/base/error.h"
#include "timeline.h"

struct ts_backfill;

/*
 * Begin to build @s, which @tl (borrowed, complete) lacks.  If the section's file cannot be written, the section stays
 * in memory, and the log has the reason.
 *
 * Returns NULL on failure: the trace cannot be read (TS_EIO), or memory is exhausted (TS_ENOMEM).
 */
struct ts_backfill *ts_backfill_new(struct ts_timeline *tl, const struct ts_section *s, struct ts_error *err);
void ts_backfill_free(struct ts_backfill *b);

/*
 * Read about @n_steps more steps (whole chunks).
 *
 * Returns TS_END when the timeline has the section.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO).
 * Returns TS_FAIL if the trace has changed (TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 * After a failure the section must not be queried.
 */
enum ts_next ts_backfill_grow(struct ts_backfill *b, uint64_t n_steps, struct ts_error *err);

/* The number of steps that have been read. */
uint64_t ts_backfill_n_read(const struct ts_backfill *b);

#endif
