/* SPDX-License-Identifier: MIT */
/*
 * What each step of a short range did: the address that it executed, the memory that it accessed.
 */
#ifndef TS_PLOT_MOMENTS_H
#define TS_PLOT_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/query/query.h"

enum ts_moment_kind {
	TS_MOMENT_STEP, /* first: its pc */
	TS_MOMENT_WRITE,
	TS_MOMENT_READ,
};

struct ts_moment {
	uint64_t pos;
	uint64_t first, last; /* addresses, both inclusive */
	uint32_t process;
	enum ts_moment_kind kind;
};

/* All zero: empty. */
struct ts_moments {
	struct ts_moment *items; /* owned; by position */
	size_t n, cap;
};

/*
 * Decode the steps [@from, @to).  A step whose pc is unknown has no moment of its own.
 *
 * Returns false if the trace cannot be read, or memory is exhausted; call ts_moments_fini() in both cases.
 */
bool ts_moments_take(struct ts_moments *m, struct ts_query *q, uint64_t from, uint64_t to,
		     struct ts_error *err);
void ts_moments_fini(struct ts_moments *m);

#endif
