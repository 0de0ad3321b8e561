/* SPDX-License-Identifier: MIT */
/*
 * The memory that unrecorded instructions have changed, until a GAP is written.
 */
#ifndef TS_RECORD_GAP_H
#define TS_RECORD_GAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "op_piece.h"

#define TS_GAP_N_RECENT 1024u

struct ts_gap_range {
	uint64_t start, end;
};

struct ts_gap {
	struct ts_op_piece ops;      /* owned; changes that were not stores, in their order */
	struct ts_gap_range *ranges; /* owned; what was stored to; they may overlap */
	size_t n, cap;
	uint64_t recent[TS_GAP_N_RECENT]; /* stores that are among the ranges */
	bool is_failed;              /* memory is exhausted: the range of a store is missing */
};

/* As ts_gap_store(), of a store that is not among the recent ones. */
void ts_gap_add(struct ts_gap *g, uint64_t addr, uint32_t len);

/* @len bytes (less than 1024) were stored at @addr (below 2^54): the shadow has them. */
static inline void ts_gap_store(struct ts_gap *g, uint64_t addr, uint32_t len)
{
	uint64_t key = addr << 10 | len, *recent = &g->recent[addr / 8 % TS_GAP_N_RECENT];

	if (*recent == key)
		return;
	*recent = key;
	ts_gap_add(g, addr, len);
}

/* Returns true if nothing was stored, and no op was appended. */
static inline bool ts_gap_is_empty(const struct ts_gap *g)
{
	return !g->n && !g->ops.n_ops;
}

/* Append a WRITE to g->ops for each range that was stored to, with its contents in the shadow. */
void ts_gap_settle(struct ts_gap *g);

/* Drop all changes. */
void ts_gap_reset(struct ts_gap *g);
void ts_gap_fini(struct ts_gap *g);

#endif
