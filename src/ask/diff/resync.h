/* SPDX-License-Identifier: MIT */
/*
 * Resynchronize after a divergence: find where two threads execute the same addresses again.
 */
#ifndef TS_ASK_RESYNC_H
#define TS_ASK_RESYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of equal steps that end a difference. */
#define TS_RESYNC_SAME 12u

/* Addresses of the next steps of a thread. */
struct ts_window {
	uint64_t *pcs, *steps; /* owned; n of them */
	size_t n;
	bool is_end;           /* the thread has no more */
};

enum ts_resync {
	TS_RESYNC_FOUND,
	TS_RESYNC_NOT,    /* not within these windows */
	TS_RESYNC_FAILED, /* memory is exhausted */
};

/*
 * Find the shortest way (steps of A and B together) to TS_RESYNC_SAME equal steps, which begin at step *i of
 * A's window and *j of B's.  If both windows reach the threads' ends, fewer equal steps at the ends are
 * accepted, or the ends themselves.
 */
enum ts_resync ts_resync_find(const struct ts_window *a, const struct ts_window *b, size_t *i, size_t *j);

#endif
