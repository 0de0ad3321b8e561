/* SPDX-License-Identifier: MIT */
/* The clock by which work is cut into slices. */
#ifndef RSP_CLOCK_H
#define RSP_CLOCK_H

#include <stdint.h>
#include <time.h>

/* How long a slice lasts. */
#define RSP_SLICE_NS INT64_C(2000000)

static inline int64_t rsp_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

#endif
