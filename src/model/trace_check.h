/* SPDX-License-Identifier: MIT */
/*
 * The hash of the whole trace: made while an index is built, for later starts; or compared with that of an index that
 * was found, while its first questions are asked.
 */
#ifndef TS_TRACE_CHECK_H
#define TS_TRACE_CHECK_H

#include <pthread.h>
#include <stdbool.h>

#include "src/index/index_place.h"
#include "src/index/trace_hash.h"
#include "src/source/source.h"
#include "src/timeline/timeline.h"

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

#endif
