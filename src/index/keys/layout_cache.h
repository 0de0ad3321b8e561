/* SPDX-License-Identifier: MIT */
/*
 * The layout of a trace that a loader found in a pass over all of it (struct ts_source_keeper), in a
 * file beside its index: INDEX.layout.
 *
 * It has the form of an index file with one signed record.  It is read before the recording
 * is opened, so that its key does not depend on options: it depends on the bytes of the trace only.
 */
#ifndef TS_LAYOUT_CACHE_H
#define TS_LAYOUT_CACHE_H

#include <stdbool.h>

#include "src/index/index_place.h"
#include "src/source/source.h"

struct ts_layout_cache {
	struct ts_source_keeper base;
	struct ts_source *src;         /* borrowed */
	const char *trace;             /* borrowed */
	struct ts_index_places places; /* of the file */
	struct ts_index_key key;
	bool has_key; /* the key was made, at its first use */
};

/*
 * Store the layout of @src, the trace @trace (both borrowed until fini), beside its index; @index as in
 * ts_index_places_init().  Nothing is stored if memory is exhausted, or if @src is a pipe.
 */
void ts_layout_cache_init(struct ts_layout_cache *k, struct ts_source *src, const char *trace,
			  const char *index);

/* Take the keeper from the source of ts_layout_cache_init(). */
void ts_layout_cache_fini(struct ts_layout_cache *k);

#endif
