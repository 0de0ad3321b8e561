/* SPDX-License-Identifier: MIT */
/*
 * The last N rows of a cursor, which are kept until it has no more.
 *
 * The rows are stored in blocks, so that adding a row and freeing all rows never takes long.
 */
#ifndef TS_ASK_KEPT_H
#define TS_ASK_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/ask/row.h"

struct ts_kept {
	struct ts_row **blocks; /* owned; each of them, too */
	size_t n_blocks, cap_blocks;
	size_t n;               /* rows */
	uint64_t n_replaced;    /* older rows that were replaced */
	size_t n_taken;
};

/* One without rows is all zeros. */
void ts_kept_fini(struct ts_kept *k);

/*
 * Keep @row.  If there are @max rows already, it replaces the oldest one.  The caller must reset @row
 * afterwards.
 *
 * Returns false if memory is exhausted; @row is then unchanged.
 */
bool ts_kept_put(struct ts_kept *k, struct ts_row *row, uint64_t max);

/*
 * Remove the oldest row, or (@is_reverse) the newest one; NULL after the last.  It is valid until the next call.
 */
struct ts_row *ts_kept_take(struct ts_kept *k, bool is_reverse);

/* Discard the remaining rows. */
void ts_kept_forget(struct ts_kept *k);

/* Have all rows been taken? */
static inline bool ts_kept_is_empty(const struct ts_kept *k)
{
	return k->n_taken == k->n;
}

#endif
