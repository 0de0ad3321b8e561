/* SPDX-License-Identifier: MIT */
/*
 * The directory that a finished index file ends with: where its records are.
 *
 * Whoever reads a file by ranges fetches its tail, then the directory, then the heads and arrays that are
 * needed; without one each head leads only to the next.  It says nothing that the heads do not say, so that a
 * file whose directory is damaged is as good as any other.  Layout: FORMAT.
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

/* A record, as the directory has it. */
struct ts_index_entry {
	uint64_t pos, n_steps; /* of its segment */
	uint64_t off, len;     /* in the file */
	uint8_t signature[TS_SIGNATURE_LEN]; /* its head's */
};

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
 * Read the directory of the file @fd of @key, which has @file_len bytes.  *at is set to its offset.
 *
 * Returns its *n entries, to be freed by the caller: records follow each other in the file and their segments
 * in the recording; the last one may end before the directory begins.  Returns NULL if the file has no
 * directory, if it is damaged or contradicts itself, or if memory is exhausted.
 */
struct ts_index_entry *ts_index_directory_read(int fd, uint64_t file_len, const struct ts_index_key *key,
					       size_t *n, uint64_t *at);

/* Is @r the record that @entry is about? */
bool ts_index_entry_fits(const struct ts_index_entry *entry, const struct ts_index_record *r);

#endif
