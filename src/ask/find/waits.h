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
	uint32_t item; /* what the user likes */
};

struct ts_waits {
	struct ts_wait *items; /* owned; a heap: none waits longer than those at 2i + 1 and 2i + 2 */
	size_t n, cap;
};

void ts_waits_fini(struct ts_waits *w);

/* Returns false if memory is exhausted. */
bool ts_waits_add(struct ts_waits *w, uint64_t chunk, uint32_t item);

/* Take the first one, of at least one, off. */
struct ts_wait ts_waits_take(struct ts_waits *w);

#endif
