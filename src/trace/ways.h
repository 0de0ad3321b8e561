/* SPDX-License-Identifier: MIT */
/*
 * Two ways to do the same work, of which one takes less time: which one depends on the machine, and may change.
 *
 * The work has many pieces of about the same length.  The first pieces of each round try both ways; the others
 * go the way whose shortest piece was shorter.
 */
#ifndef TS_WAYS_H
#define TS_WAYS_H

#include <stdbool.h>
#include <stdint.h>

/* Pieces that try a way, and pieces of a round.  A piece that was interrupted is long: of two one is not. */
#define TS_WAYS_TRIALS 2u
#define TS_WAYS_ROUND  128u

/* All zeros before the first piece. */
struct ts_ways {
	unsigned n;        /* pieces of this round */
	int64_t least[2];  /* the time that the shortest piece of its trials took, each way */
};

/* Does the next piece go the second way? */
static inline bool ts_ways_is_second(const struct ts_ways *w)
{
	if (w->n < 2 * TS_WAYS_TRIALS)
		return w->n >= TS_WAYS_TRIALS;
	return w->least[1] < w->least[0];
}

/* The piece took so long. */
static inline void ts_ways_note(struct ts_ways *w, int64_t ns)
{
	int64_t *least = &w->least[ts_ways_is_second(w)];

	if (w->n < 2 * TS_WAYS_TRIALS && (w->n % TS_WAYS_TRIALS == 0 || ns < *least))
		*least = ns;
	w->n = (w->n + 1) % TS_WAYS_ROUND;
}

#endif
