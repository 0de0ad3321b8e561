/* SPDX-License-Identifier: MIT */
/*
 * The directory that a finished index file ends with: where its records are.
 *
 * Whoever reads a file by ranges fetches its tail, then the directory, then the heads and arrays that are
 * needed; without one each head leads only to the next.  It says nothing that the heads do not say, and the program itself
 * only looks at its end, to find the summary: a file whose directory is damaged is as good as any other.  Layout: FORMAT.
 */
#ifndef TS_INDEX_DIRECTORY_H
#define TS_INDEX_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index_key.h"
#include "index_record.h"
#include "src/base/buf.h"

#define TS_INDEX_ENTRY_LEN 64
#define TS_INDEX_TAIL_LEN  64

/* Bytes of the directory of @n records. */
static inline uint64_t ts_index_directory_len(size_t n)
{
	return n * (uint64_t)TS_INDEX_ENTRY_LEN + TS_INDEX_TAIL_LEN;
}

/*
 * Append to @out the directory of the @n records of the file of @key, one or more, to be written at @at, after the
 * last one and the summary.  A failure stays in @out.
 */
void ts_index_directory_put(struct ts_buf *out, const struct ts_index_key *key,
			    const struct ts_index_record *records, size_t n, uint64_t at);

/*
 * By the end of the directory of the file @fd, which has @file_len bytes: of how many records it tells, one or more; where the
 * last one ends, and the summary may begin; and where the directory begins.  No signature is checked.
 *
 * Returns false if the file has no directory, or these are not in the file.
 */
bool ts_index_directory_find(int fd, uint64_t file_len, size_t *n, uint64_t *summary, uint64_t *at);

#endif
