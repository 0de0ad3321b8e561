/* SPDX-License-Identifier: MIT */
/*
 * The location of the index of a trace: beside it, in the user's cache directory, or where the user chose.
 *
 * There is one index for each combination of the options with which the trace was read.  The first has the plain name,
 * PATH; later ones are called PATH-HASH.
 */
#ifndef TS_INDEX_PLACE_H
#define TS_INDEX_PLACE_H

#include <stdbool.h>

#include "index_file.h"
#include "index_verified.h"
#include "src/source/source.h"

/* The index of a smaller trace is stored only at the user's request, because reading the trace takes less time. */
#define TS_INDEX_MIN_TRACE (UINT64_C(4) << 20)

#define TS_INDEX_MAX_PLACES 2

/* The paths of the index, in order of preference. */
struct ts_index_places {
	char *paths[TS_INDEX_MAX_PLACES]; /* owned */
	unsigned n;
	bool is_too_long; /* no place can be used, because the names are too long */
};

/* The places for @trace; only @wanted if that is not NULL.  Returns false if memory is exhausted. */
bool ts_index_places_init(struct ts_index_places *p, const char *trace, const char *wanted);
void ts_index_places_fini(struct ts_index_places *p);

/* Is there a file at one of the places? */
bool ts_index_places_have_any(const struct ts_index_places *p);

/*
 * The signer of the trace @trace (trace_keys.h).
 *
 * Returns false as ts_trace_keys() does (TS_EIO, TS_ETRUNC, TS_ECORRUPT, TS_ENOMEM): no index file can be used or made then.
 */
bool ts_index_signer(struct ts_signer *s, const char *trace, struct ts_error *err);

/* A hash of the sources that determine the contents of an index; made by the Makefile. */
extern const char ts_index_sources[];

/* A hash of the sources that determine the contents of optional sections. */
extern const char ts_index_optional_sources[];

/* The bytes of a trace, for the comparison with an index that may be of another file (index_verified.h). */
struct ts_index_trace {
	const struct ts_source *src; /* borrowed */
	uint64_t max_len;	     /* the caller compares a longer trace */
	bool is_left;		     /* set by ts_index_places_open(): the caller must compare the trace's hash with @hash */
	uint8_t hash[TS_TRACE_HASH_LEN];
};

/*
 * Open the first finished index that can be used; the caller frees it.  Returns NULL if none can be used.  The reason for
 * which an index cannot be used is logged.  @trace: NULL to use an index that was made from any file.
 */
struct ts_index_file *ts_index_places_open(struct ts_index_places *p, const struct ts_index_key *key,
					   struct ts_index_trace *trace);

/*
 * If @src is the trace of a packed recording with an index, and none of the places has an index, copy
 * the packed index to the first place that can be written.  Like any index it is used only if this user's tracestub
 * signed it.
 */
void ts_index_places_adopt(const struct ts_index_places *p, const struct ts_source *src);

/*
 * Begin an index, or continue one, at the first place that can be written.  Called after ts_index_places_open().  If
 * the disk becomes full, the index is moved to the next place.
 *
 * Returns the file, which the caller closes with ts_index_close().
 * Returns NULL, with the error of the last place, if no place can be written (TS_EIO).
 * Returns NULL if another process builds the index there (TS_ELIMIT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_index_file *ts_index_places_create(const struct ts_index_places *p, const struct ts_index_key *key,
					     struct ts_error *err);

#endif
