/* SPDX-License-Identifier: MIT */
/*
 * How far long work is, in words for people: percent, amount, rate and time left.
 */
#ifndef TS_PROGRESS_H
#define TS_PROGRESS_H

#include <stdint.h>

#include "buf.h"

/* The share of the work that is done, if nobody knows it. */
#define TS_NO_SHARE (-1.0)

/* Work as it began: a part of it may have been done by an earlier run. */
struct ts_progress {
	int64_t start_ns;
	double share; /* 0 to 1, or TS_NO_SHARE */
	uint64_t n;   /* of its units: instructions, frames, ... */
};

/*
 * Append to @out how far the work is at the time @now_ns: "34%, 57.0 M instructions, 6.1 M/s, 12 s left".
 * What cannot be said yet is left out: percent and time left if @share is TS_NO_SHARE, rate and time left
 * before anything was done.
 */
void ts_progress_put(const struct ts_progress *begun, double share, uint64_t n, const char *unit,
		     int64_t now_ns, struct ts_buf *out);

#endif
