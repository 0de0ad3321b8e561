/* SPDX-License-Identifier: MIT */
/*
 * A hash of the steps of each chunk, with which two recordings are compared without decoding their equal chunks.
 *
 * The hash covers executed addresses, threads, and the registers and memory that were written, with their values.  It
 * does not cover reads of memory and effects that are no values.  It is not a cryptographic hash: two different chunks
 * have the same hash with a probability of 2^-64, and chunks with the same hash can be made on purpose.
 */
#ifndef TS_DIGESTS_H
#define TS_DIGESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/trace/step.h"

struct ts_index_blocks;

/* All zero: empty. */
struct ts_digests {
	uint64_t *items; /* owned; by chunk: the first @n_read */
	size_t n_read, cap;
	size_t n; /* of all chunks */
	struct ts_digests_part {
		const uint64_t *items;        /* borrowed from the file of @blocks */
		size_t n;
		struct ts_index_blocks *blocks;
	} *unread; /* owned; those after them: only comparisons read them */
	size_t n_unread, cap_unread;
};

void ts_digests_fini(struct ts_digests *d);

/* Add the digests of the next @n chunks.  Returns false if memory is exhausted. */
bool ts_digests_add(struct ts_digests *d, const uint64_t *items, size_t n);

/*
 * Add @n digests of an index file, without reading them.  @items is NULL if the file has none.  Returns false if memory
 * is exhausted.
 */
bool ts_digests_add_unread(struct ts_digests *d, const uint64_t *items, size_t n, struct ts_index_blocks *blocks);

/*
 * Returns the digests of all chunks, borrowed until more are added.
 * Returns NULL if memory is exhausted or the index file is damaged.
 */
const uint64_t *ts_digests_read(struct ts_digests *d);

/* The digest of a chunk; 0 if one of its steps leaves a register unknown, because later steps may show its value. */
uint64_t ts_digest(const struct ts_steps *chunk);

#endif
