/* SPDX-License-Identifier: MIT */
/*
 * Which values each segment may have made of memory: the optional section FIND, which is built when it is
 * asked for.
 */
#ifndef TS_SKETCH_SECTION_H
#define TS_SKETCH_SECTION_H

#include "section.h"
#include "src/sketch/probe.h"
#include "timeline.h"

/* Were the sketches, which the timeline has, made with the files that lie beneath the recording now? */
bool ts_sketches_fit(const struct ts_timeline *tl);

/*
 * The first chunk of [@chunk, @end) in which the value may begin to stand somewhere in memory; @end if there
 * is none.  The timeline has the section, and the chunks.
 */
uint64_t ts_sketches_next(const struct ts_timeline *tl, struct ts_probe *p, uint64_t chunk, uint64_t end);

#endif
