/* SPDX-License-Identifier: MIT */
/*
 * A timeline with the index file that belongs to its trace: found and used, continued, or begun.
 */
#ifndef TS_INDEX_POLICY_H
#define TS_INDEX_POLICY_H

#include <pthread.h>
#include <stdbool.h>

#include "options.h"
#include "src/index/index_place.h"
#include "src/index/keys/trace_hash.h"
#include "src/source/source.h"
#include "src/timeline/timeline.h"

/* ---------------------------------------------------------------------------------- trace_check.c */

struct ts_trace_check {
	struct ts_source *src;	     /* borrowed */
	struct ts_source_listener listener; /* what loaders read of @src is not read again for the hash */
	pthread_mutex_t lock;	     /* of the following two, and of what @hash points to */
	uint64_t heard;		     /* where the last of the long pieces ends that were read of @src */
	struct ts_trace_hash *hash;  /* owned; NULL: nothing is left to do */
	bool is_compared;	     /* with @wanted */
	uint8_t wanted[TS_TRACE_HASH_LEN];
};

/* After the timeline @tl has got its file, as @trace says.  @src is read by loaders. */
void ts_trace_check_init(struct ts_trace_check *c, struct ts_timeline *tl, struct ts_source *src,
			 const struct ts_index_trace *trace);

/* No thread reads the source any more. */
void ts_trace_check_fini(struct ts_trace_check *c);

/*
 * Go on by up to @len bytes, where the trace was read already.  When all is read and hashed, the index gets the hash, or
 * the timeline is found to be that of another trace: no question is answered from then on.
 *
 * Returns false if nothing is left to do.
 */
bool ts_trace_check_grow(struct ts_trace_check *c, struct ts_timeline *tl, uint64_t len);

/* -------------------------------------------------------------------------------- index_policy.c */

/* May files be kept beside the trace? */
bool ts_index_policy_keeps(const struct ts_model_options *opt);

/*
 * The key of the index of @rec, and of its parts (src/index/index_parts.h).
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if the signer's key cannot be read or made (TS_EIO).
 */
bool ts_index_policy_part_key(const struct ts_recording *rec, const struct ts_source *src, const struct ts_model_options *opt,
			      struct ts_index_key *key, struct ts_error *err);

/*
 * A timeline over @rec, a recording of the trace @src.  Segments that an index file has are not read again; others are saved in
 * one if the trace is large or @opt says so.  Faults of index files are logged.  *check is set to the checks of the trace that
 * are still to be made.
 *
 * Returns the timeline, which the caller frees with ts_timeline_free().
 * Returns NULL with *is_bad_file set if an index file was damaged, and has been removed: the caller closes @rec and begins again.
 * Returns NULL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_timeline *ts_index_policy_timeline(struct ts_recording *rec, struct ts_image *image,
				     struct ts_source *src, const struct ts_model_options *opt,
				     struct ts_trace_check *check, bool *is_bad_file, struct ts_error *err);

#endif
