/* SPDX-License-Identifier: MIT */
/*
 * The directory at the end of a finished index file: the places of its records.
 *
 * A reader that fetches ranges of a file reads its tail, then the directory, then the needed heads and arrays.  The
 * directory only repeats facts from the heads.  This program uses only its tail, to find the summary: a file with a damaged
 * directory can be used.  Layout: FORMAT.
 */
#ifndef TS_INDEX_DIRECTORY_H
#define TS_INDEX_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/index/keys/index_key.h"
#include "index_record.h"
#include "src/base/collections/buf.h"

#define TS_INDEX_ENTRY_LEN 64
#define TS_INDEX_TAIL_LEN  64

/* The length of the directory of @n records. */
static inline uint64_t ts_index_directory_len(size_t n)
{
	return n * (uint64_t)TS_INDEX_ENTRY_LEN + TS_INDEX_TAIL_LEN;
}

/*
 * Append the directory of the @n (> 0) records of the file of @key to @out.  The caller writes it at @at, after the
 * last record and the summary.  A failure is kept in @out.
 */
void ts_index_directory_put(struct ts_buf *out, const struct ts_index_key *key,
			    const struct ts_index_record *records, size_t n, uint64_t at);

/*
 * Read the tail of the directory of the file @fd, which has @file_len bytes.  *n is set to the number of records (> 0),
 * *summary to the end of the last one, at which the summary may begin, and *at to the offset of the directory.  No signature
 * is checked.
 *
 * Returns false if the file has no directory, or one of these is not in the file.
 */
bool ts_index_directory_find(int fd, uint64_t file_len, size_t *n, uint64_t *summary, uint64_t *at);

#endif
