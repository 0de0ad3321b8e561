/* SPDX-License-Identifier: MIT */
/*
 * Which steps may have written a register or a flag, or been a branch: by the distinct runs of instructions
 * (scan.h), of which a program has few, however long it executes.
 *
 * What the instructions of each run do is found out once for a query object, when it is first asked for, and
 * again when the recording has grown.  Nothing is decoded for a search after that.
 */
#ifndef TS_WRITE_RUNS_H
#define TS_WRITE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insns.h"

/*
 * What instructions write, roughly: registers by their number in the register set modulo 64, bits of the flags
 * register, and the address of the next instruction as data decide it.
 */
struct ts_does {
	uint64_t regs;
	uint32_t flags;
	bool is_branch;
};

/* What an instruction writes; nothing if it is not known. */
struct ts_does ts_does_of(const struct ts_query *q, const struct ts_decoded *d);

/* What writes one of the registers' bytes (bit i of @mask: byte @base + i), flags (@mask), or (0) leads a branch. */
struct ts_does ts_does_of_location(const struct ts_query *q, bool is_regs, uint64_t base, uint64_t mask);

/*
 * Find out what @n_runs more runs do.  Only a recording of which
 * ts_query_has_write_runs() holds has an answer.
 */
enum ts_next ts_query_need_write_runs(struct ts_query *q, unsigned n_runs, struct ts_error *err);

/*
 * Can there be one?  Of a machine only if its mode never changes: else the same addresses have other code
 * again and again.
 */
bool ts_query_has_write_runs(const struct ts_query *q);

/* Is it found out already?  ts_query_need_write_runs() returns TS_END at once. */
bool ts_query_knows_write_runs(const struct ts_query *q);

/* A run that may do it, and where it began last. */
struct ts_write_run {
	uint32_t run;
	bool is_exact;  /* it began at start, and not after that */
	uint64_t start; /* else it did not begin after start, as far as has been looked */
};

/* A search backwards, from one run to the one before. */
struct ts_run_search {
	struct ts_write_run *runs; /* owned */
	size_t n, at;
	uint64_t best;     /* the last start that was found so far; TS_NO_POS: none */
	uint32_t best_run; /* whose start it is */
};

/*
 * Begin a search for anything of @does.  What ts_query_need_write_runs() has not found out of a run counts as anything.
 *
 * Returns false if memory is exhausted.  Call ts_run_search_fini() in both cases.
 */
bool ts_run_search_init(struct ts_run_search *s, const struct ts_query *q, const struct ts_does *does,
			struct ts_error *err);
void ts_run_search_fini(struct ts_run_search *s);

/*
 * Find the last matching run that began at @pos or before.  Its steps are [*first, *end); steps after @pos
 * may not exist.  *first is TS_NO_POS if there is none.  @pos must not be greater than in the call before.
 * At most @n_looks runs are looked up.
 *
 * Returns true when the search is done.  Returns false if @n_looks is used up: call again with the same @pos.
 */
bool ts_run_search_prev(struct ts_run_search *s, const struct ts_query *q, uint64_t pos, unsigned n_looks,
			uint64_t *first, uint64_t *end);

/* What a query object keeps; it frees it. */
struct ts_write_runs;

void ts_write_runs_free(struct ts_write_runs *f);

/* The recording has grown.  What is being found out now is gone on with: else it would never be done. */
void ts_write_runs_refresh(struct ts_query *q);

#endif
