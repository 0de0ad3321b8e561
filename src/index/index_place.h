/* SPDX-License-Identifier: MIT */
/*
 * The location of the index of a trace: beside it, in the user's cache directory, or where the user chose.
 *
 * An index that differs only in the options with which the trace was read is kept: there is one file for each
 * combination.  The first has the plain name, PATH; those that find it taken are called PATH-HASH.
 */
#ifndef TS_INDEX_PLACE_H
#define TS_INDEX_PLACE_H

#include <stdbool.h>

#include "index_file.h"
#include "index_verified.h"
#include "src/source/source.h"

/* A smaller trace is read faster than its index is found: an index is kept only if the user asks for it. */
#define TS_INDEX_MIN_TRACE (UINT64_C(4) << 20)

#define TS_INDEX_MAX_PLACES 2

/* Paths at which to look for the index, the better one first. */
struct ts_index_places {
	char *paths[TS_INDEX_MAX_PLACES]; /* owned */
	unsigned n;
	bool is_too_long; /* there is no place, because no file can have its name */
};

/* The places for @trace; only @wanted if that is not NULL.  Returns false if memory is exhausted. */
bool ts_index_places_init(struct ts_index_places *p, const char *trace, const char *wanted);
void ts_index_places_fini(struct ts_index_places *p);

/* Is there a file at one of the places? */
bool ts_index_places_have_any(const struct ts_index_places *p);

/*
 * The signer of the trace @trace (trace_keys.h).
 *
 * Returns false if its keys cannot be made: no index file can be used or made then.
 */
bool ts_index_signer(struct ts_signer *s, const char *trace, struct ts_error *err);

/* A hash of the sources that decide what an index holds; made by the Makefile. */
extern const char ts_index_sources[];

/* The same for those that decide what optional sections hold. */
extern const char ts_index_optional_sources[];

/* The bytes of a trace, with which an index is compared that may be of another file (index_verified.h). */
struct ts_index_trace {
	const struct ts_source *src; /* borrowed */
	uint64_t max_len;	     /* a longer trace is left to the caller to compare */
	bool is_left;		     /* from ts_index_places_open(): the hash of the trace must be @hash, or the index is wrong */
	uint8_t hash[TS_TRACE_HASH_LEN];
};

/*
 * The first finished index that can be used; NULL if there is none.  For each that cannot be used the log
 * tells why.  @trace: NULL to use one that was made from any file.
 */
struct ts_index_file *ts_index_places_open(struct ts_index_places *p, const struct ts_index_key *key,
					   struct ts_index_trace *trace);

/*
 * If @src is the trace of a packed recording with an index, and there is no index at any of the places, copy
 * that one to the first that can be written.  Like any other it is used only if this user's tracestub signed
 * it.
 */
void ts_index_places_adopt(const struct ts_index_places *p, const struct ts_source *src);

/*
 * Begin an index, or continue one, at the first place that can be written; after ts_index_places_open().  If
 * its disk becomes full it goes on at the next.
 *
 * Returns NULL, and the last place's error, if there is none.
 */
struct ts_index_file *ts_index_places_create(const struct ts_index_places *p, const struct ts_index_key *key,
					     struct ts_error *err);

#endif
