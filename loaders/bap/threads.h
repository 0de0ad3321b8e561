/* SPDX-License-Identifier: MIT */
/*
 * The threads of a trace.
 *
 * A trace may have thousands, and a decode point holds what is known of each.  So only the BAP_MAX_LIVE
 * threads that were met last are kept; of one that is met again after that many others nothing is known to
 * the reader (the model still has its registers), as of a new one.
 */
#ifndef LOADERS_BAP_THREADS_H
#define LOADERS_BAP_THREADS_H

#include "state.h"

/*
 * The thread with the recorder's @id, met at file offset @off; one that is met for the first time becomes a
 * thread of the recording.  @keep, which may be NULL, stays valid; others are so until the next call.
 *
 * Returns NULL if there are too many threads (TS_ELIMIT) or memory is exhausted (TS_ENOMEM).
 */
struct bap_thread *bap_threads_find(struct bap_known *k, uint64_t id, const struct bap_thread *keep,
				    uint64_t off, struct ts_error *err);

/*
 * A thread of a decode point, which lists threads from the one met last on.
 *
 * Returns NULL as above, or if there are too many, if it is there twice, or if the recording does not have it
 * (TS_ECORRUPT).
 */
struct bap_thread *bap_threads_add(struct bap_known *k, uint64_t id, struct ts_error *err);

#endif
