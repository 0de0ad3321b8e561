/* SPDX-License-Identifier: MIT */
/*
 * The chunks that may create a match of a value in memory, without decoding: sketches of what the chunks
 * changed (src/sketch).
 *
 * They are not built with the index.  A search that must decode most of a complete recording builds them, by
 * a pass over the trace.  They are then kept beside the index file, for later searches.
 */
#ifndef TS_FIND_FILTER_H
#define TS_FIND_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "query.h"

struct ts_probe;

/*
 * A probe for a value of @len bytes; bytes i with mask[i] 0 may be anything, known or not.
 *
 * Returns NULL if sketches cannot help to find this value (no byte of it counts).
 * Returns NULL if memory is exhausted.
 */
struct ts_probe *ts_query_probe_new(const uint8_t *bytes, const uint8_t *mask, uint32_t len);
void ts_query_probe_free(struct ts_probe *p);

/* Are there sketches, of the recording and of the files that lie beneath it now? */
bool ts_query_has_values(const struct ts_query *q);

/*
 * Build the sketches, if the recording has none, about @n_steps steps in each call.  Several callers share the work.  The
 * recording must be complete.
 *
 * Returns TS_END if the recording has them.
 * Returns TS_MORE if steps are left to be read.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_query_need_values(struct ts_query *q, uint64_t n_steps, struct ts_error *err);

/* Returns the number of steps that ts_query_need_values() has read. */
uint64_t ts_query_n_values_read(const struct ts_query *q);

/*
 * The first existing chunk of [@chunk, @end) that may create a match of the value, in memory of any process.
 * Requires ts_query_has_values().  The first query of a segment costs about a millisecond.
 *
 * Returns @end if no chunk may.
 */
uint64_t ts_query_next_begin(const struct ts_query *q, struct ts_probe *p, uint64_t chunk, uint64_t end);

#endif
