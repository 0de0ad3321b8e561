/* SPDX-License-Identifier: MIT */
/*
 * The directory at the end of a finished index file: the places of its records.
 *
 * A reader that fetches ranges of a file reads its tail, then the directory, then the needed heads and arrays.  The
 * directory only repeats facts from the heads, so that a file with a damaged directory can still be used: its heads are
 * read one after the other.  Layout: FORMAT.
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

/* An entry of the directory. */
struct ts_index_entry {
	uint64_t pos, n_steps; /* of the record's segment */
	uint64_t off, len;     /* in the file */
	uint8_t signature[TS_SIGNATURE_LEN]; /* of the record's head */
};

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
 * Read the directory of the file @fd of @key, which has @file_len bytes.  *at is set to its offset.
 *
 * Returns its *n entries, which the caller frees: records are consecutive in the file, and their segments in the
 * recording; there may be a gap before the directory.  Returns NULL if the file has no
 * directory, if it is damaged or contradicts itself, or if memory is exhausted.
 */
struct ts_index_entry *ts_index_directory_read(int fd, uint64_t file_len, const struct ts_index_key *key,
					       size_t *n, uint64_t *at);

/* Is @r the record of @entry? */
bool ts_index_entry_fits(const struct ts_index_entry *entry, const struct ts_index_record *r);

#endif
