/* SPDX-License-Identifier: MIT */
/*
 * The accesses of a chunk's steps to WHAT, the source of rows.
 */
#ifndef TS_ASK_HITS_H
#define TS_ASK_HITS_H

#include <stdbool.h>
#include <stdint.h>

#include "hits_parts.h"
#include "src/base/error.h"

/*
 * Returns false if memory is exhausted (TS_ENOMEM).
 * Call ts_hits_fini() in both cases.
 */
bool ts_hits_init(struct ts_hits *h, struct ts_error *err);
void ts_hits_fini(struct ts_hits *h);

/*
 * List the hits of a chunk, replacing the previous ones.  A hit in the chunk's first step may belong to the step
 * before it.  With h->is_late_first, only hits of the chunk's last steps may be listed, and ts_hits_have_more() says whether there
 * are earlier steps.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_hits_take(struct ts_hits *h, uint64_t chunk, struct ts_error *err);

/* Have no hits, and no chunk. */
void ts_hits_drop(struct ts_hits *h);

/*
 * List the hits of earlier steps of the chunk, replacing the previous ones.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_hits_take_more(struct ts_hits *h, struct ts_error *err);

#endif
