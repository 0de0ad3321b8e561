/* SPDX-License-Identifier: MIT */
/*
 * Makes the sketches of a recording, from its steps and from what memory holds at the start of each chunk.
 * Which bytes are known there may have been found out later: all of the recording has been read before.
 */
#ifndef TS_SKETCHER_H
#define TS_SKETCHER_H

#include "blocks.h"
#include "sketch.h"
#include "src/trace/reader.h"

struct ts_sketcher;

/*
 * @rec (borrowed) says of which process a thread is; @read and its @user tell what memory held.
 *
 * Returns NULL if memory is exhausted.
 */
struct ts_sketcher *ts_sketcher_new(const struct ts_recording *rec, ts_blocks_read *read, void *user);
void ts_sketcher_free(struct ts_sketcher *sk);

/* Take the steps of @chunk; chunks come in order.  Returns false if memory is exhausted. */
bool ts_sketcher_take(struct ts_sketcher *sk, uint64_t chunk, const struct ts_steps *steps);

/* Before the next chunk: [@first, @last] holds what the steps so far need not have shown. */
void ts_sketcher_drop(struct ts_sketcher *sk, uint32_t process, uint64_t first, uint64_t last);

/* The segment is over: *s gets its sketch.  Returns false if memory is exhausted. */
bool ts_sketcher_seal(struct ts_sketcher *sk, struct ts_sketch *s);

#endif
