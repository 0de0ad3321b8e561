/* SPDX-License-Identifier: MIT */
/*
 * Addresses of one recording in another one of the same program, which lay elsewhere.
 *
 * Modules of the same name and regions of the same file or description belong together, in the order in which
 * they appeared.  Without them the surroundings of the first pc are the program, those of the first sp are
 * the stack.  What nothing covers lies where it lay.
 */
#ifndef TS_ASK_REBASE_H
#define TS_ASK_REBASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/query/query.h"

/* A range of addresses of B, both ends inclusive, and what to add to come to those of A. */
struct ts_shift {
	uint64_t first, last, delta;
};

#define TS_REBASE_SLOTS 256u

/* A page that one range covers as a whole, and its delta. */
struct ts_shifted_page {
	uint64_t page; /* its number + 1; 0: none */
	uint64_t delta;
};

struct ts_rebase {
	struct ts_shift *shifts; /* owned; the first one that covers an address counts */
	size_t n, cap;
	struct ts_shifted_page of_a[TS_REBASE_SLOTS], of_b[TS_REBASE_SLOTS]; /* looked up last */
};

/*
 * Add the range [@first, @last] of B, both inclusive, to @r, which is zero at first: it lies @delta above that in A.
 *
 * Returns false if memory is exhausted; @r needs its fini either way.
 */
bool ts_rebase_add(struct ts_rebase *r, uint64_t first, uint64_t last, uint64_t delta, struct ts_error *err);

/*
 * Add to @r where what is in @b lies in @a.
 *
 * Returns false if a trace cannot be read or memory is exhausted; @r needs its fini either way.
 */
bool ts_rebase_init(struct ts_rebase *r, struct ts_query *a, struct ts_query *b, struct ts_error *err);
void ts_rebase_fini(struct ts_rebase *r);

/* Does anything lie elsewhere? */
bool ts_rebase_is_any(const struct ts_rebase *r);

/* An address of B as it is in A. */
uint64_t ts_rebase_to_a(struct ts_rebase *r, uint64_t addr);

/* An address of A as it is in B. */
uint64_t ts_rebase_to_b(struct ts_rebase *r, uint64_t addr);

#endif
