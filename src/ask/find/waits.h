/* SPDX-License-Identifier: MIT */
/*
 * A priority queue of numbers that wait for a chunk, ordered by the chunk.
 */
#ifndef TS_ASK_WAITS_H
#define TS_ASK_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_wait {
	uint64_t chunk;
	uint32_t item; /* chosen by the caller */
};

struct ts_waits {
	struct ts_wait *items; /* owned; a binary heap, lowest chunk first */
	size_t n, cap;
};

void ts_waits_fini(struct ts_waits *w);

/* Returns false if memory is exhausted. */
bool ts_waits_add(struct ts_waits *w, uint64_t chunk, uint32_t item);

/* Remove and return the item with the lowest chunk.  The queue must not be empty. */
struct ts_wait ts_waits_take(struct ts_waits *w);

#endif
