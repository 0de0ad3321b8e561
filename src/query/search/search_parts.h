/* SPDX-License-Identifier: MIT */
/* Shared declarations of the search for stops; private to search*.c. */
#ifndef TS_QUERY_SEARCH_PARTS_H
#define TS_QUERY_SEARCH_PARTS_H

#include "src/query/replay.h"
#include "search.h"

/* Does the filter admit @pos as a stop? */
bool ts_search_is_admitted(const struct ts_search *s, uint64_t pos);

/*
 * Make one window for each place, with all their bytes in one allocation.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_watch_make_views(struct ts_search *s, struct ts_error *err);

/*
 * The first chunk from @chunk on, in the direction of the search, in which one of the places may be touched.
 */
uint64_t ts_watch_touched_chunk(const struct ts_search *s, uint64_t chunk);

/*
 * Search a chunk for the trigger that is nearest in the direction of the search.  A trigger is one of the chunk's steps, or the
 * step before them, whose change the first step may show.
 *
 * In a backward search, what the last step of a span does to the page tables applies to the steps after it, which have been
 * searched.
 *
 * Returns TS_ITEM with @found.
 * Returns TS_END if no step of the span in this chunk triggers a watchpoint.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
enum ts_next ts_watch_chunk(struct ts_search *s, uint64_t chunk, struct ts_found *found,
			     struct ts_error *err);

#endif
