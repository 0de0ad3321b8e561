/* SPDX-License-Identifier: MIT */
/*
 * Where the index of a trace lies: beside it, in the user's cache folder, or where the user wants it.
 */
#ifndef TS_INDEX_PLACE_H
#define TS_INDEX_PLACE_H

#include <stdbool.h>

#include "index_file.h"
#include "src/trace/source.h"

/*
 * A trace that is smaller is read faster than its index is looked for: one is kept only if the user asks for
 * it.
 */
#define TS_INDEX_MIN_TRACE (UINT64_C(4) << 20)

#define TS_INDEX_MAX_PLACES 2

/* Paths at which to look for the index, the better one first. */
struct ts_index_places {
	char *paths[TS_INDEX_MAX_PLACES]; /* owned */
	unsigned n;
};

/* The places for @trace; only @wanted if that is not NULL.  False: no memory. */
bool ts_index_places_init(struct ts_index_places *p, const char *trace, const char *wanted);
void ts_index_places_fini(struct ts_index_places *p);

/*
 * The first finished index that can be used; NULL if there is none.  Of each that cannot be used the log says
 * why.
 */
struct ts_index_file *ts_index_places_open(const struct ts_index_places *p, const struct ts_index_key *key);

/*
 * Begin an index, or go on with one, at the first place that can be written.
 *
 * Returns NULL, and the last place's error, if there is none.
 */
struct ts_index_file *ts_index_places_create(const struct ts_index_places *p, const struct ts_index_key *key,
					     struct ts_error *err);

#endif
