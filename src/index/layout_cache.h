/* SPDX-License-Identifier: MIT */
/*
 * What loaders learnt of the layout of a trace from a pass over all of it (struct ts_source_keeper), in a
 * file beside its index: INDEX.layout.
 *
 * It has the form of an index file of one record, and is signed like one.  It is found before the recording
 * is opened, so what the loader made of options is not part of its key: it depends on the bytes of the trace
 * only.
 */
#ifndef TS_LAYOUT_CACHE_H
#define TS_LAYOUT_CACHE_H

#include <stdbool.h>

#include "index_place.h"
#include "src/source/source.h"

struct ts_layout_cache {
	struct ts_source_keeper base;
	struct ts_source *src;         /* borrowed */
	const char *trace;             /* borrowed */
	struct ts_index_places places; /* of the file */
	struct ts_index_key key;
	bool has_key; /* it was made, when it was needed first */
};

/*
 * Keep what is learnt from @src, the trace @trace (both borrowed until fini), beside its index; @index as in
 * ts_index_places_init().  Stores nothing if memory is exhausted, or if @src is
 * a pipe.
 */
void ts_layout_cache_init(struct ts_layout_cache *k, struct ts_source *src, const char *trace,
			  const char *index);

/* @src no longer has a keeper. */
void ts_layout_cache_fini(struct ts_layout_cache *k);

#endif
