/* SPDX-License-Identifier: MIT */
/*
 * The progress of long work as text: percentage, amount, rate and time left.
 */
#ifndef TS_PROGRESS_H
#define TS_PROGRESS_H

#include <stdint.h>

#include "src/base/collections/buf.h"

/* The share of the work that is done is unknown. */
#define TS_NO_SHARE (-1.0)

/* The state at the beginning of the work: an earlier run may have done a part of it. */
struct ts_progress {
	int64_t start_ns;
	double share; /* 0 to 1, or TS_NO_SHARE */
	uint64_t n;   /* of its units: instructions, frames, ... */
};

/*
 * Append the progress at the time @now_ns to @out: "34%, 57.0 M instructions, 6.1 M/s, 12 s left".
 * Unknown parts are omitted: percentage and time left if @share is TS_NO_SHARE, rate and time left before any unit was
 * done.
 */
void ts_progress_put(const struct ts_progress *begun, double share, uint64_t n, const char *unit,
		     int64_t now_ns, struct ts_buf *out);

#endif
