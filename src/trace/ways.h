/* SPDX-License-Identifier: MIT */
/*
 * The choice between two implementations of the same work; the faster one depends on the machine, and may change.
 *
 * The work has many pieces of about the same length.  The first pieces of each round try both implementations; the
 * others use the one whose shortest piece took less time.
 */
#ifndef TS_WAYS_H
#define TS_WAYS_H

#include <stdbool.h>
#include <stdint.h>

/* The number of trials of each implementation, and of pieces in a round.  One of two trials is not interrupted. */
#define TS_WAYS_TRIALS 2u
#define TS_WAYS_ROUND  128u

/* All zeros before the first piece. */
struct ts_ways {
	unsigned n;        /* pieces of this round */
	int64_t least[2];  /* the time of the shortest trial of each implementation */
};

/* Does the next piece use the second implementation? */
static inline bool ts_ways_is_second(const struct ts_ways *w)
{
	if (w->n < 2 * TS_WAYS_TRIALS)
		return w->n >= TS_WAYS_TRIALS;
	return w->least[1] < w->least[0];
}

/* Record the time of a piece. */
static inline void ts_ways_note(struct ts_ways *w, int64_t ns)
{
	int64_t *least = &w->least[ts_ways_is_second(w)];

	if (w->n < 2 * TS_WAYS_TRIALS && (w->n % TS_WAYS_TRIALS == 0 || ns < *least))
		*least = ns;
	w->n = (w->n + 1) % TS_WAYS_ROUND;
}

#endif
