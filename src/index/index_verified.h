/* SPDX-License-Identifier: MIT */
/*
 * The check that an index belongs to the current bytes of its trace's file.
 *
 * It does if the file has the inode and the ctime of the file from which the index was made, or of the file with which
 * it was last compared (index_key.h).  Another file, or a file that was moved, is compared once with a hash of all
 * bytes, which the index stores beside its header; then its inode and ctime are stored there.
 */
#ifndef TS_INDEX_VERIFIED_H
#define TS_INDEX_VERIFIED_H

#include <stdbool.h>

#include "index_file.h"
#include "src/source/source.h"
#include "src/index/keys/trace_hash.h"

enum ts_index_fit {
	TS_INDEX_FITS,	   /* the file is unchanged */
	TS_INDEX_MAY_FIT,  /* the caller must compare the hash */
	TS_INDEX_IS_OTHER, /* the file is another one; the index was not completed and has no hash */
};

/*
 * Returns whether the finished index @f belongs to the file of @src.  For TS_INDEX_MAY_FIT *hash is set to the hash in the index.
 */
enum ts_index_fit ts_index_fit(const struct ts_index_file *f, const struct ts_source *src,
			       uint8_t hash[TS_TRACE_HASH_LEN]);

/*
 * Store the file of @src, which has the trace of the finished index @f, and its hash in the index, if the index can be
 * written, and if the file is unchanged since it was opened.  A failure only makes a later start slower.
 */
void ts_index_note_file(const struct ts_index_file *f, const struct ts_source *src,
			const uint8_t hash[TS_TRACE_HASH_LEN]);

#endif
