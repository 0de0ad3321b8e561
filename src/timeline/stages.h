/* SPDX-License-Identifier: MIT */
/*
 * The stages of building: reading stops while what was read is sorted, sealed, and saved.
 *
 * All functions return as ts_timeline_grow().  A stage that was begun may be at work on another thread: once
 * that is done, ts_stage_end() is called.
 */
#ifndef TS_STAGES_H
#define TS_STAGES_H

#include "timeline.h"

/*
 * Sort what was read of the first segment, so that it can be queried.  If no client waits, only the current run is ended,
 * because sorting ends it, too: the index is the same in both cases.
 */
enum ts_grow ts_stage_copy(struct ts_timeline *tl, struct ts_error *err);

/* A segment has been read to its end. */
enum ts_grow ts_stage_segment(struct ts_timeline *tl, struct ts_error *err);

/* The recording has been read. */
enum ts_grow ts_stage_last(struct ts_timeline *tl, struct ts_error *err);

/* The work of the stage is done. */
enum ts_grow ts_stage_end(struct ts_timeline *tl, struct ts_error *err);

#endif
