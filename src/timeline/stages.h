/* SPDX-License-Identifier: MIT */
/*
 * The stages of building.  Reading pauses while notes are sorted, sealed, and saved.
 *
 * All functions return as ts_timeline_grow().  The work of a stage may run on another thread.  When that has ended,
 * ts_stage_end() is called.
 */
#ifndef TS_STAGES_H
#define TS_STAGES_H

#include "timeline.h"

/*
 * Sort the notes of the first segment so far, so that they can be queried.  If no client waits, end only the current
 * run, as sorting does too, so that the index is the same in both cases.
 */
enum ts_grow ts_stage_copy(struct ts_timeline *tl, struct ts_error *err);

/* Begin the work after a segment was read to its end. */
enum ts_grow ts_stage_segment(struct ts_timeline *tl, struct ts_error *err);

/* Begin the work after the whole recording was read. */
enum ts_grow ts_stage_last(struct ts_timeline *tl, struct ts_error *err);

/* End the stage, whose work is done. */
enum ts_grow ts_stage_end(struct ts_timeline *tl, struct ts_error *err);

#endif
