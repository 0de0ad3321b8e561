/* SPDX-License-Identifier: MIT */
/*
 * Builds the sketches of a recording from its steps, and from the contents of memory at the start of each chunk.
 *
 * The whole recording must have been indexed before: later reads may show what memory held at the start of a chunk.
 */
#ifndef TS_SKETCHER_H
#define TS_SKETCHER_H

#include "blocks.h"
#include "sketch.h"
#include "src/trace/reader.h"

struct ts_sketcher;

/*
 * @rec (borrowed) has the process of each thread.  @read is called with @user for the contents of memory.
 *
 * Returns NULL if memory is exhausted.
 */
struct ts_sketcher *ts_sketcher_new(const struct ts_recording *rec, ts_blocks_read *read, void *user);
void ts_sketcher_free(struct ts_sketcher *sk);

/* Add the steps of @chunk.  Chunks are added in order.  Returns false if memory is exhausted. */
bool ts_sketcher_take(struct ts_sketcher *sk, uint64_t chunk, const struct ts_steps *steps);

/* Before the next chunk: the contents of [@first, @last] may differ from what the steps so far have shown. */
void ts_sketcher_drop(struct ts_sketcher *sk, uint32_t process, uint64_t first, uint64_t last);

/* End the segment, and set *s to its sketch.  Returns false if memory is exhausted. */
bool ts_sketcher_seal(struct ts_sketcher *sk, struct ts_sketch *s);

#endif
