/* SPDX-License-Identifier: MIT */
/*
 * The summary of a finished index file: the parts of each record that are needed to open the file.
 *
 * These are its head, its tables of sections and arrays, and the arrays that do not grow with the recording.  They are
 * stored together, so that opening the file neither maps nor verifies the records: each is mapped at its first use, and
 * then compared with the summary.  A summary only repeats bytes of the records: a file with a damaged summary can be
 * used, but takes longer to open.  Layout: index_file.c.
 */
#ifndef TS_INDEX_SUMMARY_H
#define TS_INDEX_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/index/keys/index_key.h"
#include "index_record.h"
#include "src/base/collections/buf.h"

#define TS_INDEX_SUMMARY_HEAD_LEN 40

/* All zero: none. */
struct ts_index_summary {
	uint8_t *map; /* owned; the summary in the file */
	size_t len;
	uint8_t *memory; /* owned; the memory of its records */
	size_t memory_len;
};

/* The length of the summary of the @n records. */
uint64_t ts_index_summary_len(const struct ts_index_record *records, size_t n);

/*
 * Append the summary of the @n mapped records of the file of @key to @out.  The caller writes it after the last
 * record.  Nothing is appended if one of them is damaged.  A failure is kept in @out.
 */
void ts_index_summary_put(struct ts_buf *out, const struct ts_index_key *key,
			  const struct ts_index_record *records, size_t n);

/*
 * Open the @n records of the file @fd of @key from the summary, which begins at the end of the records, @from, and ends at
 * @to.  @records has space for them and must not move; @fd must stay open.
 *
 * Returns false if the file has no summary.
 * Returns false if it contradicts itself.
 * Returns false if memory is exhausted.
 */
bool ts_index_summary_open(struct ts_index_summary *s, int fd, const struct ts_index_key *key,
			   struct ts_index_pool *pool, size_t n, uint64_t from, uint64_t to,
			   struct ts_index_record *records);

/* Close the summary, whose records must be unmapped. */
void ts_index_summary_close(struct ts_index_summary *s);

/* Release the pages of the summary. */
void ts_index_summary_let_go(const struct ts_index_summary *s);

#endif
