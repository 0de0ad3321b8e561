/* SPDX-License-Identifier: MIT */
/* What the files of the search for stops share.  Included by search*.c only. */
#ifndef TS_QUERY_SEARCH_PARTS_H
#define TS_QUERY_SEARCH_PARTS_H

#include "replay.h"
#include "search.h"

/* May the search stop at @pos: is the position not one that the filter skips? */
bool ts_search_is_admitted(const struct ts_search *s, uint64_t pos);

/* Make one window for each place, with all their bytes in one allocation.  Returns false if memory is exhausted. */
bool ts_watch_make_views(struct ts_search *s, struct ts_error *err);

/*
 * The first chunk from @chunk on, in the direction of the search, in which one of the places may be touched.
 */
uint64_t ts_watch_touched_chunk(const struct ts_search *s, uint64_t chunk);

/*
 * Look through a chunk for the trigger that is nearest in the direction of the search: of its steps, and of
 * the one before, whose changes the first one may see.  What the last step's successor sees belongs to the
 * next chunk.
 *
 * Returns TS_ITEM with @found.  Returns TS_END if the part of the span in the chunk has none.  What the
 * last step of a span going back does to the tables counts for what comes after it, which has been looked
 * through.
 */
enum ts_next ts_watch_chunk(struct ts_search *s, uint64_t chunk, struct ts_found *found,
			     struct ts_error *err);

#endif
