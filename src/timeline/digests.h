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

/* All zero: empty. */
struct ts_digests {
	uint64_t *items; /* owned; by chunk */
	size_t n, cap;
};

void ts_digests_fini(struct ts_digests *d);

/* Add @n that are known.  Returns false if memory is exhausted. */
bool ts_digests_add(struct ts_digests *d, const uint64_t *items, size_t n);

/* That of a chunk; 0 if one of its steps leaves a register unknown: later steps may tell what it was. */
uint64_t ts_digest(const struct ts_steps *chunk);

#endif
