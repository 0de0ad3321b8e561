/* SPDX-License-Identifier: MIT */
/*
 * The values that each segment may have written to memory: the optional section FIND, which is built when a query needs
 * it.
 */
#ifndef TS_SKETCH_SECTION_H
#define TS_SKETCH_SECTION_H

#include "section.h"
#include "src/sketch/probe.h"
#include "timeline.h"

/* Were the timeline's sketches made with the image that the recording has now? */
bool ts_sketches_fit(const struct ts_timeline *tl);

/*
 * The first chunk of [@chunk, @end) in which the value may appear in memory; @end if it may appear in no chunk.  The timeline must
 * have the section and the chunks.
 */
uint64_t ts_sketches_next(const struct ts_timeline *tl, struct ts_probe *p, uint64_t chunk, uint64_t end);

#endif
