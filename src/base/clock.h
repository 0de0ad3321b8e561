/* SPDX-License-Identifier: MIT */
/* The clock by which work is divided into slices. */
#ifndef TS_CLOCK_H
#define TS_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The duration of a slice. */
#define TS_SLICE_NS INT64_C(2000000)

/* Returns the time of the monotonic clock in nanoseconds. */
static inline int64_t ts_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

#endif
