/* SPDX-License-Identifier: MIT */
/*
 * The chunks in which runs of instructions that may do something (write_runs.h) have steps.
 *
 * They are found for a group of chunks at a time, when one of it is asked for, and kept with the query object for later
 * questions about the same.
 */
#ifndef TS_RUN_CHUNKS_H
#define TS_RUN_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/query/code/does.h"
#include "src/query/query.h"

/* The number of parts of a chunk: a bit for each is set if such a run has a step in it. */
#define TS_RUN_PARTS  16u
#define TS_PART_STEPS (TS_CHUNK_STEPS < TS_RUN_PARTS ? 1u : TS_CHUNK_STEPS / TS_RUN_PARTS)
_Static_assert((TS_CHUNK_STEPS - 1) / TS_PART_STEPS < TS_RUN_PARTS, "a bit a part");

struct ts_run_chunks;

/*
 * The chunks of the runs that may do something of @does.  ts_query_need_write_runs() has returned TS_END.
 *
 * Returns them, borrowed until the next call.
 * Returns NULL if memory is exhausted.
 */
struct ts_run_chunks *ts_query_run_chunks(struct ts_query *q, const struct ts_does *does);

/*
 * Find out about @chunk and others in the same group of chunks, and about @n_groups - 1 groups behind it.
 *
 * Returns false if memory is exhausted.
 */
bool ts_run_chunks_fill(struct ts_run_chunks *m, struct ts_query *q, uint64_t chunk, uint64_t n_groups);

/* Note a question about @chunk.  Returns whether there was one about its group of chunks before. */
bool ts_run_chunks_ask(struct ts_run_chunks *m, uint64_t chunk);

/* Set *parts to the parts of @chunk in which such runs have steps.  Returns false if ts_run_chunks_fill() was not called for it. */
bool ts_run_chunks_at(const struct ts_run_chunks *m, uint64_t chunk, uint16_t *parts);

/* All of a query object, which owns them. */
struct ts_run_maps;

void ts_run_maps_free(struct ts_run_maps *maps);

#endif
