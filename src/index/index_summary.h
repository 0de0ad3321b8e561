/* SPDX-License-Identifier: MIT */
/*
 * The summary of a finished index file: of each record what is read when the file is opened.
 *
 * That is its head, its sections and arrays, and the arrays that do not grow with the recording.  They lie
 * together here, so that opening neither maps nor verifies the records: each is mapped when it is used for
 * the first time, and then checked to be the one that was told of.  A summary says nothing that records do
 * not say: a file whose summary is damaged is as good as any other, but takes longer to open.  Layout:
 * index_file.c.
 */
#ifndef TS_INDEX_SUMMARY_H
#define TS_INDEX_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index_key.h"
#include "index_record.h"
#include "src/base/buf.h"

#define TS_INDEX_SUMMARY_HEAD_LEN 40

/* All zero: none. */
struct ts_index_summary {
	uint8_t *map; /* owned; the summary in the file */
	size_t len;
	uint8_t *memory; /* owned; where its records are placed */
	size_t memory_len;
};

/* Bytes of the summary of the @n records. */
uint64_t ts_index_summary_len(const struct ts_index_record *records, size_t n);

/*
 * Append the summary of the @n records, mapped, of the file of @key to @out, to be written after the last
 * one. Nothing is appended if one of them turns out to be damaged.  A failure stays in @out.
 */
void ts_index_summary_put(struct ts_buf *out, const struct ts_index_key *key,
			  const struct ts_index_record *records, size_t n);

/*
 * The @n records of the file @fd of @key, by the summary that begins at @from, where they end, and ends at @to.  They go to
 * @records, which has room for them and must not move; the file stays open.
 *
 * Returns false if the file has no summary, if it contradicts itself, or if memory is exhausted.
 */
bool ts_index_summary_open(struct ts_index_summary *s, int fd, const struct ts_index_key *key,
			   struct ts_index_pool *pool, size_t n, uint64_t from, uint64_t to,
			   struct ts_index_record *records);

/* Its records are unmapped. */
void ts_index_summary_close(struct ts_index_summary *s);

/* What was read of it need not stay in memory. */
void ts_index_summary_let_go(const struct ts_index_summary *s);

#endif
