/* SPDX-License-Identifier: MIT */
/*
 * The cache of decoded chunks of a query object: a chunk is decoded once for several questions.
 *
 * Only src/query includes this file; other rooms use ts_query_step().
 */
#ifndef TS_CHUNKS_H
#define TS_CHUNKS_H

#include <stdint.h>

#include "snapshot.h"

/* Returns the number of steps of a chunk: TS_CHUNK_STEPS, fewer of the last chunk. */
uint32_t ts_query_chunk_len(const struct ts_query *q, uint64_t chunk);

/*
 * Returns the cache entry of a chunk, borrowed until the next call; it has no steps if the chunk was not
 * cached.
 */
struct cached_chunk *ts_query_cached_chunk(struct ts_query *q, uint64_t chunk);

/*
 * Decode the first @n_steps steps of a chunk, or all if it has fewer.  Step i of the batch is step
 * chunk * TS_CHUNK_STEPS + i of the recording.
 *
 * Returns the batch, which may hold more of them, borrowed until the next question.
 * Returns NULL if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
const struct ts_steps *ts_query_chunk(struct ts_query *q, uint64_t chunk, uint32_t n_steps,
				      struct ts_error *err);

#endif
