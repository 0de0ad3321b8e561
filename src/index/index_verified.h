/* SPDX-License-Identifier: MIT */
/*
 * Does an index belong to the bytes that the file of its trace has now?
 *
 * It does if the file is the one that the index was made from, or that was compared with it last, unchanged since: the
 * inode and the ctime tell (index_key.h).  Another file, and one that was moved, is compared by a hash of all bytes,
 * which the index keeps beside its header; then the file is noted there, so that this is done once.
 */
#ifndef TS_INDEX_VERIFIED_H
#define TS_INDEX_VERIFIED_H

#include <stdbool.h>

#include "index_file.h"
#include "src/source/source.h"
#include "trace_hash.h"

enum ts_index_fit {
	TS_INDEX_FITS,	   /* the file is unchanged */
	TS_INDEX_MAY_FIT,  /* the hash decides */
	TS_INDEX_IS_OTHER, /* the file is another one, and there is no hash: the index was not completed */
};

/*
 * Does the finished index @f belong to the file of @src?  *hash gets that of the trace if it may.
 */
enum ts_index_fit ts_index_fit(const struct ts_index_file *f, const struct ts_source *src,
			       uint8_t hash[TS_TRACE_HASH_LEN]);

/*
 * The trace of the finished index @f is in the file of @src and has this hash: keep both in the index, if it can be
 * written, and if the file is unchanged since it was opened.  Nothing depends on it but the time of a later start.
 */
void ts_index_note_file(const struct ts_index_file *f, const struct ts_source *src,
			const uint8_t hash[TS_TRACE_HASH_LEN]);

#endif
