/* SPDX-License-Identifier: MIT */
/*
 * A number a chunk for what its steps did, so that two recordings are compared without decoding what is the
 * same in both.
 *
 * Executed addresses, threads, and the registers and memory that were written, with their values, make it;
 * what was read from memory, and what is not a value, do not.  It is no cryptographic hash: two chunks of
 * 2^64 that differ have the same one by accident, more of those that somebody made for it.
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

/* Add @n that are known.  Returns false if memory is exhausted. */
bool ts_digests_add(struct ts_digests *d, const uint64_t *items, size_t n);

/*
 * Add @n that are in an index file, which are not read yet; @items is NULL if there are none.  Returns false if
 * memory is exhausted.
 */
bool ts_digests_add_unread(struct ts_digests *d, const uint64_t *items, size_t n, struct ts_index_blocks *blocks);

/* All, by chunk.  Returns NULL if memory is exhausted or the index file is damaged. */
const uint64_t *ts_digests_read(struct ts_digests *d);

/* That of a chunk; 0 if one of its steps leaves a register unknown: later steps may tell what it was. */
uint64_t ts_digest(const struct ts_steps *chunk);

#endif
