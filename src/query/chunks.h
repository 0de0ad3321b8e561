/* SPDX-License-Identifier: MIT */
/*
 * The decoded chunks of a query object: the reader is led to a chunk once, however many questions look at it.
 *
 * No other room includes this: it has ts_query_step().
 */
#ifndef TS_CHUNKS_H
#define TS_CHUNKS_H

#include <stdint.h>

#include "snapshot.h"

/* How many steps the chunk has: all but the last are full. */
uint32_t ts_query_chunk_len(const struct ts_query *q, uint64_t chunk);

/* The chunk's place in the cache, empty if it was not there. */
struct cached_chunk *ts_query_cached_chunk(struct ts_query *q, uint64_t chunk);

/*
 * The first @n_steps steps of a chunk, decoded, or all if it has fewer: step i is step chunk * TS_CHUNK_STEPS
 * + i of the recording.
 *
 * Returns the batch, which may hold more of them, borrowed until the next question.
 * Returns NULL if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
const struct ts_steps *ts_query_chunk(struct ts_query *q, uint64_t chunk, uint32_t n_steps,
				      struct ts_error *err);

#endif
