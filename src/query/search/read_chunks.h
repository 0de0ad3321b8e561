/* SPDX-License-Identifier: MIT */
/*
 * Which chunks have reads that the recording lacks (insn_reads.h), and of which memory.
 *
 * A chunk is decoded to find them.  The bytes that they touched are kept with the query object, as bits: chunks are found in
 * vain now and then, but none is passed over.  Nothing is kept while the recording is being read.
 */
#ifndef TS_READ_CHUNKS_H
#define TS_READ_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/query/query.h"

/* The memory of a search for reads, and its progress. */
struct ts_read_search {
	uint32_t process;
	uint64_t first, last; /* addresses as effects have them, both inclusive */
	bool is_reverse;
	bool finds_open;      /* chunks count in which a step may have read anything, as its code or an address is not known */
};

/*
 * Find the reads of @chunk that the recording lacks, and keep what they touched.  Does nothing if that is known, or if there is
 * no memory for it: then the chunk counts as one that may have any.  Nor if the recording has no reads at all and the question
 * has examined few chunks, @n_before, so far: most end there, and all of a chunk takes longer than its steps up to a read.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_query_learn_reads(struct ts_query *q, uint64_t chunk, uint64_t n_before, struct ts_error *err);

/* May a step of @chunk have a read of the memory that the recording lacks? */
bool ts_query_may_read(const struct ts_query *q, const struct ts_read_search *s, uint64_t chunk);

/*
 * The nearest chunk from @chunk on, in the direction of the search, of which ts_query_may_read() holds.  The search ends
 * after @until (TS_NO_CHUNK: after the last chunk).
 *
 * Returns the chunk.
 * Returns TS_NO_CHUNK if no chunk is found.
 */
uint64_t ts_query_find_read(const struct ts_query *q, const struct ts_read_search *s, uint64_t chunk, uint64_t until);

/* The kept bits, owned by the query object. */
struct ts_read_chunks;

void ts_read_chunks_free(struct ts_read_chunks *c);

#endif
