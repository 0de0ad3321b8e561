/* SPDX-License-Identifier: MIT */
/*
 * A search for the steps that may have written a register or a flag, or may have been a branch, by the distinct runs of
 * instructions (scan.h).  A program has few of them, however long it runs.
 *
 * The instructions of all runs are decoded once for a query object, at its first search, and those of new runs when the
 * recording has grown.  The search itself decodes nothing.
 */
#ifndef TS_WRITE_RUNS_H
#define TS_WRITE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "does.h"
#include "insns.h"

/*
 * Decode the instructions of up to @n_runs more runs.  ts_query_has_write_runs() must be true.
 *
 * Returns TS_END if all runs have been decoded.
 * Returns TS_MORE if runs are left.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_query_need_write_runs(struct ts_query *q, unsigned n_runs, struct ts_error *err);

/*
 * Can runs be searched?  For the recording of a machine only if its mode never changes: otherwise other processes have other
 * code at the same addresses.
 */
bool ts_query_has_write_runs(const struct ts_query *q);

/* Have all runs been decoded?  Then ts_query_need_write_runs() returns TS_END at once. */
bool ts_query_knows_write_runs(const struct ts_query *q);

/* May a step have executed an instruction that is not known?  Of ARM, also one whose bytes mean nothing in the other mode. */
bool ts_query_lacks_code(const struct ts_query *q);

/* A run that matches the search, and the last position at which it began. */
struct ts_write_run {
	uint32_t run;
	bool is_exact;  /* it began at start, and not after that */
	uint64_t start; /* if not is_exact: an upper bound of the last position at which it began */
};

/* A search backwards, from one run to the one before. */
struct ts_run_search {
	struct ts_write_run *runs; /* owned */
	size_t n, at;
	uint64_t best;     /* the last start that was found so far; TS_NO_POS: none */
	uint32_t best_run; /* whose start it is */
};

/*
 * Begin a search for anything of @does.  A run that ts_query_need_write_runs() has not decoded matches.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 * Call ts_run_search_fini() in both cases.
 */
bool ts_run_search_init(struct ts_run_search *s, const struct ts_query *q, const struct ts_does *does,
			struct ts_error *err);
void ts_run_search_fini(struct ts_run_search *s);

/*
 * Find the last matching run that began at @pos or before.  Its steps are [*first, *end); steps after @pos
 * may not exist.  *first is TS_NO_POS if no run matches.  @pos must not be greater than in the call before.
 * At most @n_looks runs are looked up.
 *
 * Returns true when the search is done.  Returns false if @n_looks is used up: call again with the same @pos.
 */
bool ts_run_search_prev(struct ts_run_search *s, const struct ts_query *q, uint64_t pos, unsigned n_looks,
			uint64_t *first, uint64_t *end);

/* The decoded runs of a query object, which owns them. */
struct ts_write_runs;

void ts_write_runs_free(struct ts_write_runs *f);

/* The recording has grown.  A pass over the runs that has begun is continued: it would never end otherwise. */
void ts_write_runs_refresh(struct ts_query *q);

#endif
