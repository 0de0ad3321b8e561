/* SPDX-License-Identifier: MIT */
/*
 * The parts of a scan over the whole index: how often each instruction was executed and when, which memory was
 * touched when, and which is known.
 */
#ifndef TS_SCAN_H
#define TS_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/query/query.h"

/* An instruction, and how often it was executed. */
struct ts_executed {
	uint32_t process;
	uint64_t pc;
	uint8_t len; /* bytes, 0 if unknown */
	uint64_t n;
};

/* How far ts_query_each_executed() has come; zeros at first. */
struct ts_executed_at {
	size_t segment, key;
};

/*
 * Call @use with the instructions that steps [@from, @to) executed, for about as long as decoding a chunk
 * takes.  An address may be reported several times, in no order: the caller adds the counts.
 *
 * Returns true if more remain, from *at on.  While the recording is being read, one call reports all.
 */
bool ts_query_each_executed(const struct ts_query *q, uint64_t from, uint64_t to, struct ts_executed_at *at,
			    void (*use)(void *user, const struct ts_executed *x), void *user);

/* The maximum number of instructions of a run. */
#define TS_MAX_RUN_LEN 128u

/*
 * A distinct run: @n instructions that follow each other in memory, wherever and however often they were
 * executed.
 */
struct ts_run_facts {
	uint32_t process;
	uint32_t n;
	uint64_t first, last; /* addresses of the first and of the last instruction */
	const uint8_t *lens;  /* borrowed; how long each is, in bytes; 0, of the last: unknown */
};

/*
 * The run with ordinal @i; ordinals count from 0 and are valid until the recording grows.
 *
 * Returns false after the last.
 */
bool ts_query_run(const struct ts_query *q, uint32_t i, struct ts_run_facts *run);

/* Returns the number of runs. */
uint32_t ts_query_n_runs(const struct ts_query *q);

/*
 * Call @use with each position at which run @i began, in order, of those whose steps [pos, pos + n) can meet
 * [@from, @to); some before @from may not.
 */
void ts_query_each_start(const struct ts_query *q, uint32_t i, uint64_t from, uint64_t to,
			 void (*use)(void *user, uint64_t pos), void *user);

/* Ranges of this number of positions that begin at a multiple of it are filled without examining anything twice. */
#define TS_FILLED_AT_ONCE ((uint64_t)TS_SEGMENT_CHUNKS * TS_CHUNK_STEPS)

/*
 * For each position P in [@from, @to) at which a run began, set starts[P - from] to 1 + the ordinal of that run.  Other items
 * are not changed.
 */
void ts_query_fill_starts(const struct ts_query *q, uint64_t from, uint64_t to, uint32_t *starts);

/*
 * The last position <= @pos at which run @i began.  One that is <= @from need not be found: with a later answer
 * at hand, not all of the recording is searched for a rare run.
 *
 * Returns TS_NO_POS if the run did not begin at @pos or before.
 */
uint64_t ts_query_prev_start(const struct ts_query *q, uint32_t i, uint64_t pos, uint64_t from);

#define TS_TOUCHED_LEN 16u

/*
 * Call @use with each line (TS_TOUCHED_LEN bytes, aligned, at @addr) of @process that the steps of a chunk
 * wrote, or (@is_read) read, for each chunk that has a step in [@from, @to).  Bytes that the kernel or the recorder
 * changed count as written.  One line and chunk may come twice, in no order.
 */
void ts_query_each_touch(const struct ts_query *q, bool is_read, uint32_t process, uint64_t from, uint64_t to,
			 void (*use)(void *user, uint64_t addr, uint64_t chunk), void *user);

/*
 * A number for each chunk of what its steps did: two chunks with the same number executed the same addresses
 * in the same threads, and wrote the same values to the same registers (bytes of the 'g' layout) and memory.
 * 0: cannot be said.  *n gets how many chunks.  Inferred writes (ts_query_next_inferred()) are not part of them.
 *
 * Returns the numbers, borrowed.
 * Returns NULL if the recording is incomplete, or its index was built without them.
 */
const uint64_t *ts_query_digests(const struct ts_query *q, uint64_t *n);

/*
 * The first chunk from @chunk on in which a step has an inferred write: memory of any process may have changed
 * there unseen, and later steps show the value.
 *
 * Returns TS_NO_CHUNK if no chunk from @chunk on has one.
 */
uint64_t ts_query_next_inferred(const struct ts_query *q, uint64_t chunk);

/*
 * Did the memory [@first, @last] of @process start afresh at @pos or before, and nothing of it is known since
 * then?
 */
bool ts_query_is_blank(const struct ts_query *q, uint32_t process, uint64_t first, uint64_t last,
		       uint64_t pos);

#define TS_SCAN_PAGE_BITS 12

/*
 * The numbers (address >> TS_SCAN_PAGE_BITS) of the pages of [@first, @last] of @process of which a byte may
 * be known at some position, or (@is_nonzero) known not to be 0, ascending, to *pages, which the caller frees;
 * *n gets how many.
 *
 * Returns false if memory is exhausted.
 */
bool ts_query_pages(const struct ts_query *q, bool is_nonzero, uint32_t process, uint64_t first, uint64_t last,
		    uint64_t **pages, size_t *n);

#endif
